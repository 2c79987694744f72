//! Several controllers on one switch: whoever loses the role of master stands down and says so.

use braid_openflow::{
    BadRequestCode, Bytes, ControllerRole, ErrorCode, ErrorMsg, Hello, Message, Role, RoleRequestFailedCode,
    Xid,
};

use crate::support::{Running, Switch, features, wait_for};

/// The next role that the controller asks for.
fn asked_role(switch: &mut Switch) -> (Xid, Role) {
    loop {
        let bytes = switch.receive().expect("open channel");
        if let Ok((xid, Message::RoleRequest(role))) = Message::decode(&bytes) {
            return (xid, role);
        }
    }
}

/// The next claim of the role of master; questions for the role are answered by this.
fn next_claim(switch: &mut Switch, current: Role) -> (Xid, u64) {
    loop {
        match asked_role(switch) {
            (xid, Role { role: ControllerRole::Master, generation_id }) => return (xid, generation_id),
            (xid, _) => switch.reply(xid, &Message::RoleReply(current)),
        }
    }
}

fn refuse(switch: &mut Switch, xid: Xid, error: ErrorCode) {
    switch.reply(xid, &Message::Error(ErrorMsg { error, data: Bytes(&[]) }));
}

fn role_of(controller: &Running, dpid: u64) -> Option<String> {
    let dpid = format!("{dpid:016x}");
    let switches = controller.list("switches");
    let switch = switches.iter().find(|switch| switch["dpid"] == dpid.as_str())?;
    switch["role"].as_str().map(str::to_owned)
}

fn wait_for_role(controller: &Running, dpid: u64, role: &str) {
    wait_for(
        || role_of(controller, dpid).as_deref() == Some(role),
        || format!("{:?}", controller.list("switches")),
    );
}

fn role_alarms(controller: &Running) -> usize {
    controller.list("alarms").iter().filter(|alarm| alarm["kind"] == "role_lost").count()
}

const IS_SLAVE: ErrorCode = ErrorCode::BadRequest(BadRequestCode::IsSlave);
const STALE: ErrorCode = ErrorCode::RoleRequestFailed(RoleRequestFailedCode::Stale);

#[test]
fn a_controller_that_loses_the_role_stands_down_until_it_takes_over_on_purpose() {
    let controller = Running::start(None);
    let mut switch = Switch::join(controller.openflow, 1);
    wait_for_role(&controller, 1, "master");
    refuse(&mut switch, Xid(0), IS_SLAVE);
    let (xid, question) = loop {
        let (xid, role) = asked_role(&mut switch);
        if role.role == ControllerRole::Nochange {
            break (xid, role);
        }
    };
    assert_eq!(question.role, ControllerRole::Nochange);
    let newest = u64::MAX / 4;
    let current = Role { role: ControllerRole::Slave, generation_id: newest };
    switch.reply(xid, &Message::RoleReply(current));
    wait_for_role(&controller, 1, "slave");
    assert_eq!(role_alarms(&controller), 1);
    let (status, body) = controller.request("POST", "/api/v1/switches/take-over");
    assert_eq!(status, 202, "{body}");
    let (_, term) = next_claim(&mut switch, current);
    assert_eq!(term, newest + 1);
}

#[test]
fn a_controller_that_is_alone_has_no_cluster_to_show_or_to_hand_over() {
    let controller = Running::start(None);
    let (status, body) = controller.get("/api/v1/cluster");
    let cluster: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    assert!(
        status == 200 && cluster["name"].is_null() && cluster["members"] == serde_json::json!([]),
        "{body}"
    );
    let (status, body) = controller.request("POST", "/api/v1/cluster/hand-over");
    assert!(status == 404 && body.contains("no member of a cluster"), "{status} {body}");
}

#[test]
fn a_stale_controller_that_connects_anew_stays_down() {
    let controller = Running::start(None);
    let mut first = Switch::join(controller.openflow, 1);
    wait_for_role(&controller, 1, "master");
    let mut second = Switch::connect(controller.openflow);
    second.send(&Message::Hello(Hello::V1_3));
    second.send(&Message::FeaturesReply(features(2)));
    let newest = Role { role: ControllerRole::Equal, generation_id: u64::MAX / 4 };
    let (xid, _) = next_claim(&mut second, newest);
    refuse(&mut second, xid, STALE);
    let (xid, query) = asked_role(&mut second);
    assert_eq!(query.role, ControllerRole::Nochange);
    second.reply(xid, &Message::RoleReply(newest));
    let (_, slave) = asked_role(&mut second);
    assert_eq!((slave.role, slave.generation_id), (ControllerRole::Slave, newest.generation_id));
    wait_for_role(&controller, 2, "slave");
    assert_eq!(role_of(&controller, 1).as_deref(), Some("master"), "the others are served");
    assert!(first.is_served());
}

#[test]
fn a_controller_that_starts_raises_its_term_above_what_switches_report() {
    let controller = Running::start(None);
    let mut switch = Switch::connect(controller.openflow);
    switch.send(&Message::Hello(Hello::V1_3));
    switch.send(&Message::FeaturesReply(features(1)));
    let newest = Role { role: ControllerRole::Equal, generation_id: u64::MAX / 4 };
    let (xid, _) = next_claim(&mut switch, newest);
    refuse(&mut switch, xid, STALE);
    let (_, term) = next_claim(&mut switch, newest);
    assert_eq!(term, newest.generation_id + 1);
}

#[test]
fn all_switches_get_the_same_term() {
    let controller = Running::start(None);
    let mut terms = Vec::new();
    for _ in 0..2 {
        let mut switch = Switch::connect(controller.openflow);
        switch.send(&Message::Hello(Hello::V1_3));
        terms.push(asked_role(&mut switch).1.generation_id);
    }
    assert_eq!(terms[0], terms[1]);
}
