//! Resource exhaustion: a connection that exceeds the limits harms only itself.
//!
//! `cargo test --release -p braid-controller --test it exhaustion -- --nocapture --test-threads=1` prints how long an honest
//! switch waits for echoes meanwhile, and how much more memory the controller takes. Both are judged, the waits by those before.

mod attack;
mod hostile;

use braid_openflow::{
    BadRequestCode, Bytes, ErrorCode, ErrorMsg, List, Message, Port, PortState, ReplyBody, RequestBody, Xid,
};

use crate::support::port;
use attack::{attack, attack_until_closed};
use hostile::{
    Hostile, PORT_STATS, PORTS_A_MESSAGE, bytes, part, port_change, port_changes, port_part, rule,
};

fn asks_for_ports(body: &RequestBody<'_>) -> bool {
    *body == RequestBody::PortDesc
}

#[test]
fn two_hundred_thousand_ports_that_go_on_changing_disturb_nobody() {
    let changes = port_changes(1..=800);
    let words = ["ports or more; the limit is 4096"];
    attack_until_closed("200,000 ports that change", &words, |controller, until| {
        let mut hostile = Hostile::greet(controller, until);
        let xid = hostile.asked(asks_for_ports);
        let parts = (0..200_000).step_by(PORTS_A_MESSAGE).map(|first| port_part(xid, first + 1));
        hostile.say_all(parts);
        hostile.repeat(&changes);
        hostile
    });
}

#[test]
fn descriptions_of_ports_that_never_end_disturb_nobody() {
    let words = ["ports or more; the limit is 4096"];
    attack_until_closed("endless PORT_DESC", &words, |controller, until| {
        let mut hostile = Hostile::greet(controller, until);
        let xid = hostile.asked(asks_for_ports);
        hostile.say_all((1..).step_by(PORTS_A_MESSAGE).map(|first| port_part(xid, first)));
        hostile
    });
}

#[test]
fn one_port_described_without_end_disturbs_nobody() {
    let words = ["the PortDesc answer goes on after"];
    attack_until_closed("endless PORT_DESC of one port", &words, |controller, until| {
        let mut hostile = Hostile::greet(controller, until);
        let xid = hostile.asked(asks_for_ports);
        hostile.repeat(&bytes(xid, &part(ReplyBody::PortDesc(List::new(&[port(1); PORTS_A_MESSAGE])))));
        hostile
    });
}

#[test]
fn rules_that_never_end_disturb_nobody() {
    let rules: Vec<_> = (0..1_000).map(rule).collect();
    // Of bytes, or of the time that a handshake may take where a busy machine is too slow for so many.
    let words = ["the limit is"];
    attack_until_closed("endless FLOW", &words, |controller, until| {
        let mut hostile = Hostile::announce(controller, until);
        let xid = hostile.asked(|body| matches!(body, RequestBody::Flow(_)));
        hostile.repeat(&bytes(xid, &part(ReplyBody::Flow(List::new(&rules)))));
        hostile
    });
}

#[test]
fn ports_that_are_added_without_end_after_the_handshake_disturb_nobody() {
    let words = ["dpid=000000000000029a", "ports or more; the limit is 4096"];
    attack_until_closed("endless PORT_STATUS", &words, |controller, until| {
        let mut hostile = Hostile::join(controller, until);
        hostile.drain();
        let changes = (1..).step_by(PORTS_A_MESSAGE);
        hostile.say_all(changes.map(|first| port_changes(first..first + PORTS_A_MESSAGE as u32)));
        hostile
    });
}

#[test]
fn counters_of_ports_that_never_end_disturb_nobody() {
    let words = ["dpid=000000000000029a", "the Port answer goes on after"];
    attack_until_closed("endless PORT_STATS", &words, |controller, until| {
        let mut hostile = Hostile::join(controller, until);
        let xid = hostile.asked(|body| matches!(body, RequestBody::Port(_)));
        hostile.drain();
        hostile.repeat(&bytes(xid, &part(ReplyBody::Port(List::new(&[PORT_STATS; 500])))));
        hostile
    });
}

#[test]
fn thousands_of_ports_that_flap_disturb_nobody() {
    let down = |number| Port { state: PortState::LINK_DOWN, ..port(number) };
    let flap = |number| [port_change(down(number)), port_change(port(number))].concat();
    let flaps: Vec<_> = (1..=4_000).flat_map(flap).collect();
    attack("4,000 ports that flap", |controller, until| {
        let mut hostile = Hostile::join(controller, until);
        hostile.drain();
        hostile.say_all([port_changes(1..=4_000)].into_iter());
        hostile.repeat(&flaps);
        hostile
    });
}

#[test]
fn errors_without_end_disturb_nobody() {
    let error = ErrorCode::BadRequest(BadRequestCode::BadMultipart);
    let error = Message::Error(ErrorMsg { error, data: Bytes(&[]) });
    let errors: Vec<_> = (0..3_000).flat_map(|number| bytes(Xid(number), &error)).collect();
    attack("endless ERROR", |controller, until| {
        let mut hostile = Hostile::join(controller, until);
        hostile.drain();
        hostile.repeat(&errors);
        hostile
    });
}
