//! Repair after links and switches fail: streams, default paths and broadcast move; flapping links are damped.

use std::time::Duration;

use braid_packet::TcpFlags;

use super::mptcp::{THREE_WAYS, add, open, ways};
use super::network::{Network, ip, port, tuple};
use crate::notice::Notice;

#[test]
fn a_stream_leaves_a_path_that_breaks() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut network, stream);
    network.unplug(1, 9);
    assert_eq!(ways(&mut network, stream), [vec![1, 2, 9], vec![1, 2, 9]]);
}

#[test]
fn default_paths_bypass_a_break_and_come_back() {
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
fn a_break_has_only_the_default_paths_over_it_compared() {
    let mut network = Network::start(&THREE_WAYS, &[1, 2, 9]);
    for (from, to) in [(1, 9), (1, 2), (2, 9)] {
        network.send_tcp(from, to, tuple(ip(from), 1000, ip(to)), TcpFlags::SYN, &[]);
    }
    let (routes, before) = (network.brain.sizes().routes, network.brain.counters().routes_compared);
    network.unplug(1, 9);
    let compared = network.brain.counters().routes_compared - before;
    assert!(routes >= 3 && compared <= 1, "{compared} of {routes}");
    network.plug(1, 9);
    network.advance(Duration::from_secs(2));
    assert!(network.brain.counters().routes_compared - before >= routes, "a new link may shorten all");
}

#[test]
fn a_break_leaves_no_rule_of_the_old_path() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let before = network.rules(4);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    for (a, b) in THREE_WAYS {
        network.unplug(a, b);
    }
    network.advance(Duration::from_secs(1));
    assert_eq!(network.rules(4), before);
    network.advance(network.brain.settings().stream_idle);
    assert!(network.brain.transfers().is_empty());
}

#[test]
fn broadcast_follows_the_links_that_are_left() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let mut frame = vec![0xff; 6];
    frame.extend([0, 0xaa, 0, 0, 0, 1, 0x88, 0xb5, 0, 0]);
    for link in [(1, 9), (1, 2)] {
        network.unplug(link.0, link.1);
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

#[test]
fn a_stream_without_any_path_gets_one_when_there_is_one_again() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let (stream, before) = (tuple(ip(1), 1000, ip(9)), network.rules(1));
    open(&mut network, stream);
    for (a, b) in THREE_WAYS {
        network.unplug(a, b);
    }
    assert_eq!(network.rules(1), before, "no switch has a rule for it");
    network.plug(1, 2);
    network.plug(2, 9);
    network.advance(Duration::from_secs(2));
    assert_eq!(network.rules(1), before + 2);
    assert_eq!(ways(&mut network, stream), [vec![1, 2, 9], vec![1, 2, 9]]);
}

#[test]
fn streams_spread_again_when_a_link_is_back() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let streams = [1000, 1001].map(|port| tuple(ip(1), port, ip(9)));
    open(&mut network, streams[0]);
    add(&mut network, streams[1]);
    for link in [(1, 2), (1, 3)] {
        network.unplug(link.0, link.1);
    }
    assert_eq!(streams.map(|stream| ways(&mut network, stream)[0].clone()), [[1, 9], [1, 9]]);
    network.plug(1, 3);
    network.advance(Duration::from_secs(3));
    let taken = streams.map(|stream| ways(&mut network, stream)[0].clone());
    assert_eq!(taken, [vec![1, 9], vec![1, 3, 4, 9]]);
}

fn flap(network: &mut Network) -> Option<Duration> {
    network.notices.clear();
    for _ in 0..network.brain.settings().flap_limit {
        network.unplug(1, 9);
        network.plug(1, 9);
        network.advance(Duration::from_secs(1));
    }
    network.notices.iter().find_map(|notice| match notice {
        Notice::LinkDamped { hold, .. } => Some(*hold),
        _ => None,
    })
}

fn is_used(network: &Network) -> bool {
    network.brain.links().iter().any(|link| link.src == port(1, 9))
}

#[test]
fn a_link_that_flaps_is_left_alone_for_longer_each_time() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let hold = network.brain.settings().flap_hold;
    for factor in [1, 2, 4] {
        assert_eq!(flap(&mut network), Some(hold * factor));
        assert!(!is_used(&network), "it is up, but not used");
        network.advance(hold * factor - Duration::from_secs(3));
        assert!(!is_used(&network));
        network.advance(Duration::from_secs(5));
        assert!(is_used(&network));
    }
    network.advance(network.brain.settings().flap_hold_max * 2);
    assert_eq!(flap(&mut network), Some(hold), "a long quiet time makes up for all");
}

#[test]
fn a_link_that_flaps_is_used_while_no_other_way_leads_across() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    assert!(flap(&mut network).is_some());
    assert!(!is_used(&network));
    network.unplug(1, 2);
    network.advance(Duration::from_secs(2));
    assert!(!is_used(&network), "one way is left");
    network.unplug(1, 3);
    network.advance(Duration::from_secs(2));
    assert!(is_used(&network));
}

#[test]
fn links_do_not_flap_because_a_switch_gets_another_connection() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    for moves in [true, false] {
        network.notices.clear();
        for _ in 0..network.brain.settings().flap_limit {
            if moves {
                network.move_channel(9);
            } else {
                network.break_channel(9);
            }
            network.connect(9);
            network.advance(Duration::from_secs(1));
        }
        let is_damped = network.notices.iter().any(|it| matches!(it, Notice::LinkDamped { .. }));
        assert_eq!(is_damped, !moves);
    }
}

#[test]
fn the_only_way_is_back_as_soon_as_a_switch_has_another_connection() {
    let mut network = Network::start(&[(1, 2), (2, 9)], &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    for away in [2, 9] {
        network.advance(Duration::from_secs(5));
        assert_eq!(ways(&mut network, stream)[0], [1, 2, 9]);
        network.move_channel(away);
        network.connect(away);
        network.advance(network.brain.settings().tick);
        assert_eq!(ways(&mut network, stream)[0], [1, 2, 9], "switch {away}");
    }
}

#[test]
fn a_link_that_goes_down_now_and_then_is_used_at_once() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    for _ in 0..10 {
        network.unplug(1, 9);
        network.plug(1, 9);
        network.advance(Duration::from_secs(31));
        assert!(is_used(&network));
    }
}

#[test]
fn a_silent_link_is_given_up_only_when_many_discovery_frames_were_missed() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.cut_silently(1, 9);
    network.advance(Duration::from_millis(1_300));
    assert!(is_used(&network), "a single one may get lost");
    network.advance(Duration::from_millis(1_400));
    assert!(!is_used(&network));
}
