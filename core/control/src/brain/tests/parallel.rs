//! Recognised transfers: several unannounced plain TCP connections of two hosts.

use braid_packet::TcpFlags;

use super::mptcp::{THREE_WAYS, ways};
use super::network::{Network, ip, tuple};
use crate::settings::Settings;

fn spreading() -> Network {
    let settings = Settings { parallel_paths: 3, ..Settings::default() };
    Network::start_with(settings, &THREE_WAYS, &[1, 3, 9])
}

#[test]
fn connections_to_one_port_are_spread_from_their_first_packets() {
    let mut network = spreading();
    let expected = [vec![1, 9], vec![1, 2, 9], vec![1, 3, 4, 9], vec![1, 9]];
    for (src_port, path) in (1000..).zip(expected) {
        let stream = tuple(ip(1), src_port, ip(9));
        network.send_tcp(1, 9, stream, TcpFlags::SYN, &[]);
        assert_eq!(network.way_to(9), path, "the first packet");
        assert_eq!(ways(&mut network, stream), [path.clone(), path]);
    }
    let transfers = network.brain.transfers();
    assert_eq!((transfers.len(), transfers[0].streams.len()), (1, 4));
}

#[test]
fn another_port_is_another_transfer() {
    let mut network = spreading();
    let first = tuple(ip(1), 1000, ip(9));
    let other = braid_types::FiveTuple { dst_port: 80, ..tuple(ip(1), 1001, ip(9)) };
    for stream in [first, other] {
        network.send_tcp(1, 9, stream, TcpFlags::SYN, &[]);
        assert_eq!(network.way_to(9), [1, 9]);
    }
    assert_eq!(network.brain.transfers().len(), 2);
}

#[test]
fn a_repeated_syn_changes_nothing_and_arrives() {
    let mut network = spreading();
    let stream = tuple(ip(1), 1000, ip(9));
    network.send_tcp(1, 9, stream, TcpFlags::SYN, &[]);
    let before = network.brain.transfers();
    network.send_tcp(1, 9, stream, TcpFlags::SYN, &[]);
    assert_eq!(network.received(9).len(), 1);
    assert_eq!(network.brain.transfers(), before);
}

#[test]
fn what_was_recognised_is_forgotten_when_no_connection_is_left() {
    let mut network = spreading();
    network.send_tcp(1, 9, tuple(ip(1), 1000, ip(9)), TcpFlags::SYN, &[]);
    assert_eq!(network.brain.assignments().len(), 1);
    network.advance(network.brain.settings().stream_idle * 3);
    assert!(network.brain.assignments().is_empty());
    assert!(network.brain.reservations.has_no_inferred());
}

#[test]
fn a_connection_that_both_hosts_have_finished_or_one_has_reset_is_forgotten() {
    let mut network = spreading();
    let rules = [1, 9].map(|switch| network.rules(switch));
    let streams = [1000, 1001, 1002].map(|src_port| tuple(ip(1), src_port, ip(9)));
    for stream in streams {
        network.send_tcp(1, 9, stream, TcpFlags::SYN, &[]);
        network.way_to(9);
    }
    let open = |network: &Network| network.brain.sizes().streams;
    let finish = TcpFlags(TcpFlags::FIN.0 | TcpFlags::ACK.0);
    network.send_tcp(1, 9, streams[1], finish, &[]);
    assert_eq!((network.way_to(9), open(&network)), (vec![1, 2, 9], 3), "it may still receive");
    network.send_tcp(9, 1, streams[1].reversed(), finish, &[]);
    assert_eq!((network.way_to(1), open(&network)), (vec![9, 2, 1], 2));
    network.send_tcp(9, 1, streams[2].reversed(), TcpFlags::RST, &[]);
    assert_eq!((network.way_to(1), open(&network)), (vec![9, 4, 3, 1], 1));
    network.send_tcp(1, 9, tuple(ip(1), 1003, ip(9)), TcpFlags::SYN, &[]);
    assert_eq!(network.way_to(9), [1, 2, 9], "a place that is free is given again");
    for src_port in [1000, 1003] {
        network.send_tcp(1, 9, tuple(ip(1), src_port, ip(9)), TcpFlags::RST, &[]);
    }
    assert_eq!(open(&network), 0);
    network.advance(network.brain.settings().stream_idle * 3);
    assert_eq!([1, 9].map(|switch| network.rules(switch)), rules, "nothing is left");
}

#[test]
fn one_port_does_not_take_more_than_its_share_of_streams() {
    let settings = Settings { parallel_paths: 3, new_streams: 1, ..Settings::default() };
    let mut network = Network::start_with(settings, &THREE_WAYS, &[1, 9]);
    for src_port in 1000..1030 {
        network.send_tcp(1, 9, tuple(ip(1), src_port, ip(9)), TcpFlags::SYN, &[]);
        assert_eq!(network.received(9).len(), 1, "all connections open");
    }
    assert_eq!(network.brain.sizes().streams, 10, "as many as may be saved up");
}

#[test]
fn hosts_with_one_path_and_networks_without_the_policy_are_as_before() {
    let settings = Settings { parallel_paths: 3, ..Settings::default() };
    let lone = Network::start_with(settings, &[(1, 9)], &[1, 9]);
    for mut network in [lone, Network::start(&THREE_WAYS, &[1, 9])] {
        network.send_tcp(1, 9, tuple(ip(1), 1000, ip(9)), TcpFlags::SYN, &[]);
        assert_eq!(network.way_to(9), [1, 9]);
        assert!(network.brain.transfers().is_empty());
    }
}
