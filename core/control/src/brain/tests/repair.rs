use std::time::Duration;

use braid_packet::TcpFlags;

use super::mptcp::{THREE_WAYS, open, ways};
use super::network::{Network, ip, tuple};

#[test]
fn a_stream_leaves_a_path_that_breaks() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut network, stream);
    network.unplug(1, 9);
    assert_eq!(ways(&mut network, stream), [vec![1, 2, 9], vec![1, 2, 9]]);
}

#[test]
fn default_routes_go_round_a_break_and_come_back() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    assert_eq!(ways(&mut network, stream)[0].last(), Some(&9));
    network.unplug(1, 9);
    assert_eq!(ways(&mut network, stream)[0], [1, 2, 9]);
    network.plug(1, 9);
    network.advance(Duration::from_secs(2));
    assert_eq!(ways(&mut network, stream)[0], [1, 9]);
}

#[test]
fn a_break_leaves_no_rule_of_the_old_path() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let before = network.rules(3);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    for (a, b) in THREE_WAYS {
        network.unplug(a, b);
    }
    network.advance(Duration::from_secs(1));
    assert_eq!(network.rules(3), before);
    assert!(network.brain.transfers().is_empty());
}

#[test]
fn broadcast_follows_the_links_that_are_left() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let mut frame = vec![0xff; 6];
    frame.extend([0, 0xaa, 0, 0, 0, 1, 0x88, 0xb5, 0, 0]);
    for cable in [(1, 9), (1, 2)] {
        network.unplug(cable.0, cable.1);
        network.advance(Duration::from_secs(1));
        network.send(1, &frame);
        assert_eq!(network.received(9).len(), 1);
    }
}

#[test]
fn a_switch_that_comes_back_is_set_up_anew() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.disconnect(9);
    network.connect(9);
    network.advance(Duration::from_secs(3));
    network.announce(9);
    network.send_tcp(1, 9, tuple(ip(1), 1000, ip(9)), TcpFlags::ACK, &[]);
    assert_eq!(network.received(9).len(), 1);
}
