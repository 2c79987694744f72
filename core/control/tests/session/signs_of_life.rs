//! Signs of life: what shows that a switch is heard and hears.

use std::time::Duration;

use braid_openflow::{
    Bytes, ControllerRole, Echo, FlowRemovedReason, Hello, Message, MultipartFlags, Xid, frames,
};
use braid_types::{Term, Time};

use crate::channel::{Channel, features, ports, removed, role};

const ECHO: Message<'static> = Message::EchoReply(Echo { data: Bytes(&[]) });

/// The switch says something at this time. Returns when it last answered.
fn hear(channel: &mut Channel, millis: u64, message: &Message<'_>) -> Option<Time> {
    let mut bytes = Vec::new();
    message.encode(Xid(0), &mut bytes).expect("short message");
    channel.session.handle_message(Time::from_millis(millis), &bytes, &mut channel.sent).expect("fine");
    channel.session.answered_at()
}

#[test]
fn only_answers_show_that_a_switch_hears() {
    let mut channel = Channel::joined();
    let before = channel.session.answered_at();
    assert_eq!(hear(&mut channel, 1_000, &removed(FlowRemovedReason::IdleTimeout)), before);
    assert_eq!(hear(&mut channel, 1_100, &Message::EchoRequest(Echo { data: Bytes(&[]) })), before);
    let answers = [ECHO, Message::BarrierReply, role(ControllerRole::Master)];
    for (message, millis) in answers.iter().zip([1_200, 1_300, 1_400]) {
        assert_eq!(hear(&mut channel, millis, message), Some(Time::from_millis(millis)), "{message:?}");
    }
}

#[test]
fn the_time_in_which_nobody_listened_is_no_silence() {
    let mut channel = Channel::joined();
    hear(&mut channel, 1_000, &ECHO);
    channel.session.note_stall(Time::from_millis(5_000), Duration::from_secs(3));
    assert_eq!(channel.session.answered_at(), Some(Time::from_millis(4_000)));
    channel.session.note_stall(Time::from_millis(5_000), Duration::from_secs(3));
    assert_eq!(channel.session.answered_at(), Some(Time::from_millis(5_000)));
}

#[test]
fn a_master_and_a_standby_ask_for_a_sign_of_life_and_nobody_does_before_the_handshake() {
    let ask = |channel: &mut Channel| {
        channel.sent.clear();
        channel.session.probe(&mut channel.sent).expect("room");
        frames(&channel.sent).count()
    };
    assert_eq!(ask(&mut Channel::open()), 0);
    assert_eq!(ask(&mut Channel::joined()), 1);
    let mut standby = Channel::open_as(None);
    let asked = [Message::Hello(Hello::V1_3), features(254, 0), ports(&[], MultipartFlags::NONE)];
    asked.iter().chain([&role(ControllerRole::Slave)]).for_each(|it| _ = standby.tell(it).expect("fine"));
    assert_eq!((ask(&mut standby), standby.session.term()), (1, None));
    assert_eq!(hear(&mut standby, 1_000, &ECHO), Some(Time::from_millis(1_000)));
    standby.session.claim(Time::from_millis(2_000), Term(7), &mut Vec::new()).expect("a newer term");
    assert_eq!(hear(&mut standby, 2_100, &ECHO), Some(Time::from_millis(2_100)), "while it reads anew");
}
