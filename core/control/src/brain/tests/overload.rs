//! A busy controller: what it reads late is not taken for lost, nor for an attack.

use std::time::Duration;

use braid_packet::TcpFlags;
use braid_types::Time;

use super::mptcp::{THREE_WAYS, add, open, ways};
use super::network::{Network, dpid, ip, mac, port, tuple};
use crate::event::{Event, Recorded};
use crate::notice::{LinkLoss, Notice};
use crate::settings::Settings;

const RING: [(u64, u64); 4] = [(1, 2), (2, 3), (3, 4), (4, 1)];
const LONG: Duration = Duration::from_secs(30);

fn losses(network: &Network) -> usize {
    network.notices.iter().filter(|notice| matches!(notice, Notice::LinkDown { .. })).count()
}

#[test]
fn frames_that_the_controller_reads_late_lose_no_link_and_raise_no_alarm() {
    let mut network = Network::start(&RING, &[1, 3]);
    for _ in 0..3 {
        network.stall(LONG, true);
        network.advance(Duration::from_secs(1));
    }
    assert_eq!((network.brain.links().len(), losses(&network)), (8, 0));
    let counters = network.brain.counters();
    assert_eq!((counters.alarms, counters.lldp_refused, counters.links_lost), (0, 0, 0));
    assert_eq!(counters.stalled, LONG * 3);
}

#[test]
fn frames_that_are_sent_far_too_seldom_find_every_link_and_lose_none() {
    let mesh: Vec<_> = (1..=12).flat_map(|a| (1..a).map(move |b| (a, b))).collect();
    let settings = Settings { probe_burst: 1, ..Settings::default() };
    let mut network = Network::start_with(settings, &mesh, &[]);
    network.advance(Duration::from_secs(60));
    assert_eq!((network.brain.links().len(), losses(&network)), (132, 0));
    assert_eq!(network.brain.counters().alarms, 0);
}

#[test]
fn links_come_up_although_their_frames_are_read_late() {
    let mut network = Network::start(&RING, &[1, 3]);
    network.disconnect(2);
    network.connect(2);
    network.stall(LONG, true);
    network.advance(Duration::from_secs(1));
    assert_eq!((network.brain.links().len(), network.brain.counters().alarms), (8, 0));
}

#[test]
fn the_silence_of_a_network_loses_links_and_frames_that_are_late_are_no_alarm() {
    let mut network = Network::start(&RING, &[]);
    network.stall(LONG, false);
    assert_eq!(losses(&network), 8);
    assert_eq!(network.brain.counters().alarms, 0);
    network.advance(Duration::from_secs(2));
    assert_eq!(network.brain.links().len(), 8, "new frames prove the links");
}

#[test]
fn a_link_that_is_cut_while_the_controller_is_busy_is_lost_afterwards() {
    let mut network = Network::start(&RING, &[]);
    network.cut_silently(1, 2);
    network.stall(LONG, true);
    assert_eq!(network.brain.links().len(), 8);
    network.advance(Duration::from_secs(6));
    assert_eq!(network.brain.links().len(), 6);
    let (src, dst) = (port(1, 2), port(2, 1));
    assert!(network.notices.contains(&Notice::LinkDown { src, dst, why: LinkLoss::Silent }));
}

#[test]
fn confirmations_that_the_controller_reads_late_take_no_path_away() {
    let mut network = Network::start_with(Settings::default(), &THREE_WAYS, &[1, 9]);
    let streams = [tuple(ip(1), 1000, ip(9)), tuple(ip(1), 1001, ip(9))];
    open(&mut network, streams[0]);
    add(&mut network, streams[1]);
    let before = streams.map(|stream| ways(&mut network, stream));
    network.stall(LONG, true);
    network.advance(Duration::from_secs(1));
    assert_eq!(streams.map(|stream| ways(&mut network, stream)), before);
}

#[test]
fn new_streams_take_the_default_path_while_the_controller_is_overloaded_and_not_afterwards() {
    let mut network = Network::start_with(Settings::default(), &THREE_WAYS, &[1, 9]);
    network.stall(Duration::from_secs(5), true);
    network.send_tcp(1, 9, tuple(ip(1), 999, ip(9)), TcpFlags::SYN, &[30, 4, 0x01, 0x01]);
    assert_eq!(network.received(9).len(), 1, "it arrives");
    let counters = network.brain.counters();
    assert_eq!((network.brain.sizes().streams, counters.streams_over_limit), (0, 1));
    network.advance(Duration::from_secs(4));
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    assert_eq!(network.brain.sizes().streams, 1);
}

#[test]
fn a_holder_whose_answer_is_read_late_keeps_its_address() {
    let mut network = Network::start(&RING, &[1, 3]);
    // The host at 3 claims the address of the host at 1.
    let claim = |network: &mut Network| {
        let std::net::IpAddr::V4(address) = ip(1) else { unreachable!() };
        network.send(3, &braid_packet::arp::Arp::request(mac(3), address, address).frame());
    };
    claim(&mut network);
    network.stall(LONG, true);
    let host = network.brain.place_of_address(ip(1)).map(|at| at.dpid);
    assert_eq!(host, Some(dpid(1)), "nobody was silent");
}

#[test]
fn a_stall_reads_back_from_a_recording() {
    let (time, idle) = (Duration::from_millis(1_750), Duration::from_millis(250));
    let event = Event::Stalled { time, idle };
    let recorded = Recorded { at: Time::from_millis(7), event };
    let text = serde_json::to_string(&recorded).expect("JSON");
    assert_eq!(serde_json::from_str::<Recorded<'_>>(&text).expect("the same"), recorded);
}
