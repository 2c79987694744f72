//! A switch that only a standby reaches is served by the leader, through the standby.

mod hostile;
mod identity;
mod switch;

use std::net::{Shutdown, TcpStream};

use serde_json::Value;

use crate::cluster::{Etcd, member, standby};
use crate::support::{Running, wait_for};
use switch::FakeSwitch;

fn term(member: &Running) -> Option<u64> {
    let status: Value = serde_json::from_str(&member.get("/api/v1/cluster").1).expect("JSON");
    status["term"].as_u64()
}

/// Whether a member serves the switch, and through which other one.
fn served(member: &Running, switch: &FakeSwitch) -> Option<Value> {
    let (switches, dpid) = (member.list("switches"), format!("{:016x}", switch.dpid));
    let switch = switches.iter().find(|it| it["dpid"] == dpid.as_str() && it["role"] == "master")?;
    Some(switch["via"].clone())
}

/// Waits until a member serves the switch through this one, or directly, and has written its rules.
fn wait_until_served(member: &Running, switch: &FakeSwitch, via: Option<&str>) {
    let is_served = || served(member, switch) == Some(via.map_or(Value::Null, Value::from));
    let is_written = || switch.last().is_some_and(|(at, _)| Some(at) == term(member));
    wait_for(
        || is_served() && is_written(),
        || format!("{:?} {:?} {:?}", switch.last(), member.list("switches"), member.get("/api/v1/cluster").1),
    );
}

/// Has the leader hand over, once the standby can lead.
fn hand_over(leader: &Running) {
    let follows = || leader.get("/metrics").1.contains("braid_cluster_followers 1");
    wait_for(follows, || leader.get("/api/v1/cluster").1);
    let (status, body) = leader.send("POST", "/api/v1/cluster/hand-over", b"{}");
    assert_eq!(status, 202, "{body}");
}

/// How many switches a member says are relayed, in all.
fn relayed(member: &Running) -> u64 {
    let status: Value = serde_json::from_str(&member.get("/api/v1/cluster").1).expect("JSON");
    let members = status["members"].as_array().cloned().unwrap_or_default();
    members.iter().filter_map(|it| it["switches_relayed"].as_u64()).sum()
}

/// Two members and two switches, each of which reaches one of the members.
struct Scene {
    /// Both members with their names: the one that leads first, and the other one.
    members: [(Running, &'static str); 2],
    switches: [FakeSwitch; 2],
    etcd: Etcd,
}

impl Scene {
    fn start() -> Option<Self> {
        let etcd = Etcd::start()?;
        let [a, b] = ["a", "b"].map(|name| member(&etcd.url, name));
        let is_of_a = std::ptr::eq(standby([("a", &a), ("b", &b)]), &raw const b);
        let members = if is_of_a { [(a, "a"), (b, "b")] } else { [(b, "b"), (a, "a")] };
        let switches = [7, 8].map(FakeSwitch::new);
        members.iter().zip(&switches).for_each(|((member, _), switch)| switch.obey(member.openflow, 1));
        Some(Self { members, switches, etcd })
    }

    /// Waits until a member serves its own switch, and the other one through the other member.
    fn wait_until_all_served(&self, leader: usize) {
        let (own, other) = (&self.members[leader], &self.members[1 - leader]);
        wait_until_served(&own.0, &self.switches[leader], None);
        wait_until_served(&own.0, &self.switches[1 - leader], Some(other.1));
        wait_for(|| relayed(&own.0) == 1 && relayed(&other.0) == 1, || other.0.get("/api/v1/cluster").1);
    }
}

#[test]
fn switches_that_only_one_member_reaches_each_are_served_by_every_leader() {
    let Some(scene) = Scene::start() else { return };
    scene.wait_until_all_served(0);
    hand_over(&scene.members[0].0);
    scene.wait_until_all_served(1);
    hand_over(&scene.members[1].0);
    scene.wait_until_all_served(0);
    let ended = scene.switches.each_ref().map(|switch| switch.seen().ended.clone());
    assert_eq!(ended.concat(), Vec::<usize>::new(), "all of it over one connection of each switch");
}

#[test]
fn a_switch_whose_front_stops_is_served_through_another_standby() {
    let Some(Scene { members, switches, etcd }) = Scene::start() else { return };
    let [(leader, _), (front, name)] = members;
    let switch = &switches[1];
    wait_until_served(&leader, switch, Some(name));
    let other = member(&etcd.url, "c");
    switch.obey(other.openflow, 2);
    drop(front);
    wait_until_served(&leader, switch, Some("c"));
    assert_eq!(switch.seen().master, Some(2));
}

#[test]
fn a_switch_that_connects_to_the_leader_is_served_without_the_standby_and_through_it_when_it_leaves() {
    let Some(scene) = Scene::start() else { return };
    scene.wait_until_all_served(0);
    let [(leader, _), (_, front)] = &scene.members;
    let switch = &scene.switches[1];
    let direct = TcpStream::connect(leader.openflow).expect("OpenFlow port");
    let closed = direct.try_clone().expect("a socket");
    switch.obey_over(direct, 2);
    wait_until_served(leader, switch, None);
    wait_for(|| relayed(leader) == 0, || leader.get("/api/v1/cluster").1);
    closed.shutdown(Shutdown::Both).expect("an open socket");
    wait_until_served(leader, switch, Some(front));
    assert_eq!(switch.seen().ended, [2]);
}
