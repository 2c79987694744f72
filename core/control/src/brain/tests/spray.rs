//! Spraying of plain connections between edges over several paths.

use std::collections::BTreeSet;
use std::time::Duration;

use braid_packet::TcpFlags;
use braid_steering::TransferKind;
use braid_topology::LinkState;
use braid_types::{BitsPerSec, FiveTuple};

use super::mptcp::{THREE_WAYS, open};
use super::network::{Network, ip, ip6, mac, port, tuple};
use crate::event::Event;
use crate::notice::Notice;
use crate::settings::Settings;

const DIRECT: [u64; 2] = [1, 9];
const BY_2: [u64; 3] = [1, 2, 9];
const BY_3: [u64; 4] = [1, 3, 4, 9];

fn edges() -> Network {
    Network::start_with_edges(Settings::default(), &THREE_WAYS, &[1, 9])
}

fn stream() -> FiveTuple {
    tuple(ip(1), 1_000, ip(9))
}

fn syn(network: &mut Network, tuple: FiveTuple) {
    network.send_tcp(1, 9, tuple, TcpFlags::SYN, &[]);
    assert_eq!(network.received(9).len(), 1, "the SYN arrives");
}

/// The paths that some packets take from 1 to 9, and in reverse.
fn ways(network: &mut Network, tuple: FiveTuple) -> [BTreeSet<Vec<u64>>; 2] {
    let mut ways = [BTreeSet::new(), BTreeSet::new()];
    for _ in 0..12 {
        network.send_tcp(1, 9, tuple, TcpFlags::ACK, &[]);
        assert_eq!(network.received(9)[0].0[..6], mac(9).octets(), "the host's own address");
        ways[0].insert(network.way_to(9));
        network.send_tcp(9, 1, tuple.reversed(), TcpFlags::ACK, &[]);
        let mut back = network.way_to(1);
        back.reverse();
        ways[1].insert(back);
    }
    ways
}

fn all_of(ways: &[&[u64]]) -> [BTreeSet<Vec<u64>>; 2] {
    let ways: BTreeSet<_> = ways.iter().map(|way| way.to_vec()).collect();
    [ways.clone(), ways]
}

fn with_policy(text: &str) -> Network {
    let mut network = edges();
    network.tell(&Event::Policy { text: format!("[[rule]]\nname = \"a\"\n{text}\n") });
    network
}

#[test]
fn a_plain_connection_takes_all_paths_that_go_together_both_ways() {
    for stream in [stream(), tuple(ip6(1), 1_000, ip6(9))] {
        let mut network = edges();
        if stream.dst.is_ipv6() {
            for (host, address) in [(1, ip6(1)), (9, ip6(9))] {
                network.send_tcp(host, 10 - host, tuple(address, 1, ip6(77)), TcpFlags::ACK, &[]);
            }
        }
        syn(&mut network, stream);
        assert_eq!(ways(&mut network, stream), all_of(&[&DIRECT, &BY_2, &BY_3]));
        let transfers = network.brain.transfers();
        assert_eq!((transfers.len(), transfers[0].kind), (1, TransferKind::Spray));
        assert_eq!(transfers[0].streams[0].spray_paths.len(), 3);
        assert!(
            network
                .notices
                .iter()
                .any(|it| matches!(it, Notice::StreamSprayed { paths, .. } if paths.len() == 3))
        );
    }
}

#[test]
fn what_comes_by_several_paths_is_put_in_order_at_the_other_edge() {
    let mut network = edges();
    syn(&mut network, stream());
    ways(&mut network, stream());
    for (edge, packets) in [(1, 12), (9, 13)] {
        let [Some(order)] = network.switch(edge).resequencers()[..] else { panic!("not resequenced") };
        assert_eq!((order.paths, network.switch(edge).ordered()), (3, packets));
    }
}

#[test]
fn streams_between_two_edges_share_their_groups() {
    let mut network = edges();
    for number in 0..5 {
        syn(&mut network, tuple(ip(1), 1_000 + number, ip(9)));
    }
    assert_eq!(network.brain.transfers().len(), 5);
    for edge in [1, 9] {
        assert_eq!((network.switch(edge).shares().len(), network.switch(edge).resequencers().len()), (1, 1));
    }
}

#[test]
fn switches_that_cannot_spray_carry_a_plain_connection_by_the_default_path() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    syn(&mut network, stream());
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT]));
    assert!(network.brain.transfers().is_empty());
}

#[test]
fn mptcp_is_placed_as_mptcp() {
    let mut network = with_policy("kind = \"spray\"");
    open(&mut network, stream());
    assert_eq!(network.brain.transfers()[0].kind, TransferKind::Mptcp);
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT]));
}

#[test]
fn a_policy_says_what_is_sprayed_over_how_many_paths_and_whether_in_order() {
    let mut network = with_policy("kind = \"single\"");
    syn(&mut network, stream());
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT]));

    let mut network = with_policy("kind = \"spray\"\nk = 2\nresequence = \"never\"");
    syn(&mut network, stream());
    assert_eq!(ways(&mut network, stream())[0].len(), 2);
    assert_eq!(network.switch(9).resequencers(), []);
}

#[test]
fn a_connection_whose_policy_becomes_single_is_not_sprayed_again() {
    let mut network = edges();
    syn(&mut network, stream());
    assert_eq!(ways(&mut network, stream())[0].len(), 3);
    network.tell(&Event::Policy { text: "[[rule]]\nname = \"a\"\nkind = \"single\"\n".to_owned() });
    for (a, b) in [(1, 2), (1, 3), (1, 9)] {
        network.unplug(a, b);
    }
    network.advance(Duration::from_secs(1));
    for (a, b) in [(1, 2), (1, 3), (1, 9)] {
        network.plug(a, b);
    }
    network.advance(Duration::from_secs(10));
    assert_eq!(ways(&mut network, stream()).map(|ways| ways.len()), [1, 1]);
}

/// Sets the delay in milliseconds and the capacity in Mbit/s of each link of a path.
fn set_links(network: &mut Network, way: &[u64], millis: u64, mbits: u64) {
    for ends in way.windows(2) {
        for (a, b) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            let capacity = BitsPerSec(mbits * 1_000_000);
            let state =
                LinkState { delay: Some(Duration::from_millis(millis)), ..LinkState::of_capacity(capacity) };
            network.brain.topology.set_link_state(port(a, b), state);
        }
    }
    // This network's own measurements, which show no delay, are not published for a while.
    network.brain.settings.measurement.publish_interval = Duration::from_secs(3_600);
    network.brain.settings.capacities.extend(
        way.windows(2)
            .flat_map(|ends| [(ends[0], ends[1]), (ends[1], ends[0])])
            .map(|(a, b)| (port(a, b), BitsPerSec(mbits * 1_000_000))),
    );
    network.advance(Duration::from_millis(200));
}

#[test]
fn paths_whose_delays_are_too_unequal_do_not_go_together() {
    let mut network = edges();
    set_links(&mut network, &DIRECT, 2, 100);
    set_links(&mut network, &BY_2, 40, 100);
    set_links(&mut network, &BY_3, 30, 100);
    syn(&mut network, stream());
    let taken = ways(&mut network, stream());
    assert_eq!(taken, all_of(&[&BY_2, &BY_3]), "80 and 90 ms carry more together than 2 ms alone");
}

#[test]
fn shares_are_in_proportion_to_what_paths_have_to_spare() {
    let mut network = edges();
    set_links(&mut network, &DIRECT, 10, 100);
    set_links(&mut network, &BY_2, 5, 50);
    set_links(&mut network, &BY_3, 4, 10);
    syn(&mut network, stream());
    let mut shares = network.switch(1).shares().remove(0);
    shares.sort_unstable();
    assert_eq!(shares, [1_000, 5_000, 10_000]);
}

#[test]
fn a_path_that_breaks_is_left_at_once_and_taken_again() {
    let mut network = edges();
    syn(&mut network, stream());
    network.unplug(1, 2);
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT, &BY_3]));
    network.cut_silently(3, 4);
    network.advance(Duration::from_secs(4));
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT]));
    network.plug(1, 2);
    network.plug(3, 4);
    network.advance(Duration::from_secs(10));
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT, &BY_2, &BY_3]));
}

#[test]
fn a_connection_that_loses_all_paths_is_sprayed_again_when_they_are_back() {
    let mut network = edges();
    syn(&mut network, stream());
    for (a, b) in [(1, 2), (1, 3), (1, 9)] {
        network.unplug(a, b);
    }
    network.advance(Duration::from_secs(1));
    for (a, b) in [(1, 2), (1, 3), (1, 9)] {
        network.plug(a, b);
    }
    network.advance(Duration::from_secs(10));
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT, &BY_2, &BY_3]));
}

#[test]
fn nothing_is_left_of_a_connection_that_is_over() {
    let mut network = edges();
    network.send_tcp(1, 9, stream(), TcpFlags::ACK, &[]);
    network.send_tcp(9, 1, stream().reversed(), TcpFlags::ACK, &[]);
    let before = [1, 5].map(|table| network.rules(table));
    syn(&mut network, stream());
    let id = network.brain.transfers()[0].streams[0].id;
    let cookie = crate::Cookie::new(crate::Purpose::Stream { id, reverse: false });
    network.tell(&Event::FlowRemoved { dpid: braid_types::DatapathId(1), cookie, bytes: 1 });
    assert!(network.brain.transfers().is_empty());
    assert_eq!([1, 5].map(|table| network.rules(table)), before);
    network.advance(network.brain.settings().label_linger * 2);
    for edge in [1, 9] {
        assert_eq!((network.switch(edge).shares().len(), network.switch(edge).resequencers().len()), (0, 0));
    }
}

#[test]
fn another_controller_goes_on_spraying_and_removes_the_groups_that_it_found() {
    let mut network = edges();
    syn(&mut network, stream());
    network.kill();
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT, &BY_2, &BY_3]));
    network.start_again();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT, &BY_2, &BY_3]), "nothing has changed yet");
    network.advance(Duration::from_secs(30));
    assert_eq!(ways(&mut network, stream()), all_of(&[&DIRECT, &BY_2, &BY_3]));
    assert_eq!(network.brain.transfers()[0].kind, TransferKind::Spray);
    for edge in [1, 9] {
        assert_eq!((network.switch(edge).shares().len(), network.switch(edge).resequencers().len()), (1, 1));
    }
}
