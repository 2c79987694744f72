//! Joint placement by `least-loaded`: streams make room for others.

use std::time::Duration;

use braid_packet::TcpFlags;
use braid_packet::mptcp::{Key, Keys, MpCapable, MpCapableFlags, Version};
use braid_steering::Policy;
use braid_types::{BitsPerSec, FiveTuple};

use super::network::{Network, ip, port, tuple};
use crate::settings::Settings;

/// Two paths from 1 to 9, and one each from 2 and from 5, over the same two links.
const TWO_WAYS: [(u64, u64); 6] = [(1, 3), (3, 9), (1, 4), (4, 9), (2, 3), (5, 4)];

fn network() -> Network {
    let ports = TWO_WAYS.iter().flat_map(|(a, b)| [port(*a, *b), port(*b, *a)]);
    let capacities = ports.map(|port| (port, BitsPerSec(100_000_000))).collect();
    let settings = Settings { capacities, placement: Policy::LeastLoaded, ..Settings::default() };
    Network::start_with(settings, &TWO_WAYS, &[1, 2, 5, 9])
}

fn open(network: &mut Network, from: u64, stream: FiveTuple) {
    let mut option = Vec::new();
    let flags = MpCapableFlags(1);
    MpCapable { version: Version::V1, flags, keys: Keys::None }.encode(&mut option);
    network.send_tcp(from, 9, stream, TcpFlags::SYN, &option);
    assert_eq!(network.received(9).len(), 1, "the SYN arrives");
    option.clear();
    let keys = Keys::Sender(Key(from));
    MpCapable { version: Version::V1, flags, keys }.encode(&mut option);
    network.send_tcp(9, from, stream.reversed(), TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0), &option);
    assert_eq!(network.received(from).len(), 1, "the SYN/ACK arrives");
}

fn way(network: &mut Network, from: u64, stream: FiveTuple) -> Vec<u64> {
    network.send_tcp(from, 9, stream, TcpFlags::ACK, &[]);
    network.way_to(9)
}

#[test]
fn a_stream_moves_to_its_other_path_for_one_that_has_no_other() {
    let mut network = network();
    let first = tuple(ip(1), 1000, ip(9));
    open(&mut network, 1, first);
    let before = way(&mut network, 1, first)[1];
    let (other, from) = if before == 3 { (4, 2) } else { (3, 5) };
    let second = tuple(ip(from), 1000, ip(9));
    open(&mut network, from, second);
    network.advance(Duration::from_secs(1));
    assert_eq!(way(&mut network, from, second), [from, before, 9]);
    assert_eq!(way(&mut network, 1, first), [1, other, 9]);
    let streams = network.brain.transfers().into_iter().flat_map(|transfer| transfer.streams);
    assert!(streams.map(|stream| stream.path.len()).all(|switches| switches == 3));
}

#[test]
fn a_stream_stays_when_it_was_placed_long_ago() {
    let mut network = network();
    let first = tuple(ip(1), 1000, ip(9));
    open(&mut network, 1, first);
    let before = way(&mut network, 1, first);
    network.advance(Duration::from_secs(6));
    let from = if before[1] == 3 { 2 } else { 5 };
    open(&mut network, from, tuple(ip(from), 1000, ip(9)));
    network.advance(Duration::from_secs(1));
    assert_eq!(way(&mut network, 1, first), before);
}
