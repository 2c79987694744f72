//! Members that are no honest fronts: what they say costs themselves.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use braid_controller::SwitchIdentities;
use braid_openflow::{Bytes, Echo, Hello, Message, MessageType};
use serde_json::{Value, json};

use super::switch::FakeSwitch;
use super::{Scene, served, term, wait_until_served};
use crate::cluster::{Etcd, member, member_with};
use crate::openflow_tls::{Pki, alarm};
use crate::support::{Running, Switch, TIMEOUT, features, wait_for};

/// A connection with a member as the front of this switch, and what the greeting says against it.
fn front(of: &Running, dpid: &str) -> (TcpStream, Value) {
    front_for(of, &json!({ "dpid": dpid, "address": "127.0.0.1:1" }))
}

/// The same for what is said of the switch.
fn front_for(of: &Running, relays: &Value) -> (TcpStream, Value) {
    let status: Value = serde_json::from_str(&of.get("/api/v1/cluster").1).expect("JSON");
    let members = status["members"].as_array().cloned().unwrap_or_default();
    let own = members.iter().find(|it| it["name"] == status["member"]).expect("itself");
    let mut stream = TcpStream::connect(own["address"].as_str().expect("an address")).expect("it listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("time-out");
    let hello = json!({
        "cluster": "default", "member": "z", "run": 1, "version": 1, "oldest": 1, "relays": relays,
    });
    writeln!(stream, "{hello}").expect("room");
    let mut greeting = String::new();
    // The leader says no more before it is sure.
    BufReader::with_capacity(1, stream.try_clone().expect("a socket"))
        .read_line(&mut greeting)
        .expect("a greeting");
    let greeting: Value = serde_json::from_str(&greeting).expect("JSON");
    (stream, greeting["refused"].clone())
}

/// A member that leads, and serves a switch.
fn leader() -> Option<(Etcd, Running, FakeSwitch)> {
    let etcd = Etcd::start()?;
    let (leader, switch) = (member(&etcd.url, "a"), FakeSwitch::new(7));
    switch.obey(leader.openflow, 1);
    wait_until_served(&leader, &switch, None);
    Some((etcd, leader, switch))
}

#[test]
fn a_front_is_no_other_switch_than_it_says_and_the_leader_raises_an_alarm() {
    let Some((_etcd, leader, own)) = leader() else { return };
    let (stream, refused) = front(&leader, "0000000000000009");
    assert_eq!(refused, Value::Null);
    let mut switch = Switch::over(stream);
    switch.send(&Message::Hello(Hello::V1_3));
    switch.send(&Message::FeaturesReply(features(8)));
    while switch.receive().is_some() {}
    let is_told = || {
        leader
            .list("alarms")
            .iter()
            .any(|it| it["text"].as_str().is_some_and(|it| it.contains("claims to be")))
    };
    wait_for(is_told, || format!("{:?}", leader.list("alarms")));
    assert!(served(&leader, &own).is_some());
}

/// Whether a leader goes on with a switch of which its front says this. One that is refused hears no answer.
fn goes_on(leader: &Running, certificate: &Value) -> bool {
    let relays = json!({ "dpid": "0000000000000009", "address": "127.0.0.1:1", "certificate": certificate });
    let (stream, refused) = front_for(leader, &relays);
    assert_eq!(refused, Value::Null);
    let mut switch = Switch::over(stream);
    switch.send(&Message::Hello(Hello::V1_3));
    switch.send(&Message::FeaturesReply(features(9)));
    switch.send(&Message::EchoRequest(Echo { data: Bytes(&[]) }));
    while let Some(bytes) = switch.receive() {
        if MessageType::from(bytes[1]) == MessageType::EchoReply {
            return true;
        }
    }
    false
}

#[test]
fn a_leader_checks_itself_what_a_front_says_of_the_certificate_of_a_switch() {
    let Some(etcd) = Etcd::start() else { return };
    let pki = Pki::new();
    let pins = pki.file("pins.toml", "[[switch]]\ncertificate = \"sw9\"\ndatapath_ids = [\"9\"]\n");
    let identities = SwitchIdentities::read(None, Some(pins)).expect("valid");
    let leader = member_with(&etcd.url, "a", Some(pki.openflow_tls(false, identities)));
    wait_for(|| term(&leader).is_some(), || leader.get("/api/v1/cluster").1);
    assert!(!goes_on(&leader, &json!(["thief"])));
    assert!(alarm(&leader, "foreign_datapath_id").contains("\"thief\""));
    assert!(!goes_on(&leader, &Value::Null), "nor of one that has none");
    assert!(goes_on(&leader, &json!(["sw9"])));
}

#[test]
fn a_leader_speaks_no_openflow_with_a_front_of_a_switch_that_it_reaches() {
    let Some((_etcd, leader, own)) = leader() else { return };
    let (stream, _) = front(&leader, "0000000000000007");
    assert!(Switch::over(stream).receive().is_none(), "it closes");
    assert_eq!(served(&leader, &own), Some(Value::Null));
}

#[test]
fn what_is_no_openflow_ends_the_connection_of_its_front() {
    let Some((_etcd, leader, own)) = leader() else { return };
    let (mut stream, _) = front(&leader, "0000000000000009");
    stream.write_all(&[0xff; 4_096]).expect("room");
    let mut switch = Switch::over(stream);
    while switch.receive().is_some() {}
    assert_eq!(served(&leader, &own), Some(Value::Null));
}

#[test]
fn a_standby_serves_nobody_through_others() {
    let Some(scene) = Scene::start() else { return };
    let [_, (standby, _)] = &scene.members;
    let (_, refused) = front(standby, "0000000000000009");
    assert_eq!(refused, "it does not lead");
}
