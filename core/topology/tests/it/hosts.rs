//! Hosts: where they are, what addresses they use, and how many are remembered.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use braid_topology::{Change, HostLimits, Topology, TopologyError};
use braid_types::{DatapathId, MacAddr, Time};

use crate::network::{end, link, mac, port, state, unconnected};

const ONE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const TWO: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1_000)
}

fn limited(limits: HostLimits) -> Topology {
    let mut topology = Topology::with_limits(limits);
    topology.add_switch(DatapathId(1), [port(1, true), port(2, true)]);
    topology
}

#[test]
fn a_host_is_found_by_either_address_and_by_its_port() {
    let mut topology = unconnected(1, 2);
    let changes = topology.learn_host(mac(1), end(1, 1), Some(ONE), at(1)).unwrap();
    let expected = [
        Change::HostAdded { mac: mac(1), at: end(1, 1) },
        Change::AddressAdded { address: ONE, mac: mac(1) },
    ];
    assert_eq!(changes, expected);
    let host = topology.host(mac(1)).unwrap();
    assert_eq!(topology.host_with_address(ONE), Some(host));
    let found = topology.hosts_with_addresses(&[TWO, ONE, ONE]);
    assert_eq!(found.collect::<Vec<_>>(), [None, Some(host), Some(host)]);
    assert_eq!(topology.hosts_at(end(1, 1)).collect::<Vec<_>>(), [host]);
    assert_eq!(topology.hosts_at(end(1, 2)).count(), 0);
}

#[test]
fn hearing_a_host_again_changes_nothing_but_when_it_was_seen() {
    let mut topology = unconnected(1, 1);
    topology.learn_host(mac(1), end(1, 1), Some(ONE), at(1)).unwrap();
    assert_eq!(topology.learn_host(mac(1), end(1, 1), Some(ONE), at(5)), Ok(vec![]));
    assert_eq!(topology.learn_host(mac(1), end(1, 1), None, at(3)), Ok(vec![]));
    assert_eq!(topology.host(mac(1)).unwrap().last_seen, at(5));
}

#[test]
fn a_host_is_heard_where_it_is_by_any_of_its_addresses() {
    let mut topology = unconnected(1, 2);
    assert!(!topology.hear_host(mac(1), end(1, 1), ONE, at(1)), "it is not known");
    topology.learn_host(mac(1), end(1, 1), Some(ONE), at(1)).unwrap();
    assert!(!topology.hear_host(mac(1), end(1, 1), TWO, at(2)), "the address is new");
    topology.learn_host(mac(1), end(1, 1), Some(TWO), at(1)).unwrap();
    assert!(!topology.hear_host(mac(1), end(1, 2), TWO, at(2)), "it has moved");
    assert!(!topology.hear_host(mac(2), end(1, 1), TWO, at(2)), "it is another's");
    assert_eq!(topology.host(mac(1)).unwrap().last_seen, at(1));
    assert!(topology.hear_host(mac(1), end(1, 1), ONE, at(3)));
    assert!(topology.hear_host(mac(1), end(1, 1), ONE, at(2)));
    assert_eq!(topology.host(mac(1)).unwrap().last_seen, at(3));
    assert_eq!(topology.host(mac(1)).unwrap().addresses, [TWO, ONE], "the one seen last at the end");
}

#[test]
fn a_host_that_speaks_elsewhere_has_moved_with_its_addresses() {
    let mut topology = unconnected(1, 2);
    topology.learn_host(mac(1), end(1, 1), Some(ONE), at(1)).unwrap();
    let moved = Change::HostMoved { mac: mac(1), from: end(1, 1), to: end(1, 2) };
    assert_eq!(topology.learn_host(mac(1), end(1, 2), None, at(2)), Ok(vec![moved]));
    assert_eq!(topology.host_with_address(ONE).unwrap().at, end(1, 2));
    assert_eq!(topology.hosts_at(end(1, 1)).count(), 0);
}

#[test]
fn an_address_belongs_to_the_host_that_used_it_last() {
    let mut topology = unconnected(1, 2);
    topology.learn_host(mac(1), end(1, 1), Some(ONE), at(1)).unwrap();
    topology.learn_host(mac(2), end(1, 2), Some(TWO), at(1)).unwrap();
    let moved = Change::AddressMoved { address: ONE, from: mac(1), to: mac(2) };
    assert_eq!(topology.learn_host(mac(2), end(1, 2), Some(ONE), at(2)), Ok(vec![moved]));
    assert!(topology.host(mac(1)).unwrap().addresses.is_empty());
    assert_eq!(topology.host(mac(2)).unwrap().addresses, [TWO, ONE]);
}

#[test]
fn interfaces_of_one_machine_are_hosts_of_their_own() {
    let mut topology = unconnected(1, 2);
    topology.learn_host(mac(1), end(1, 1), Some(ONE), at(1)).unwrap();
    topology.learn_host(mac(2), end(1, 2), Some(TWO), at(1)).unwrap();
    assert_eq!(topology.host_count(), 2);
}

#[test]
fn the_address_not_seen_for_longest_is_forgotten_first() {
    let mut topology = limited(HostLimits { addresses_per_host: 2, ..HostLimits::default() });
    let third = IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 3));
    for address in [ONE, TWO, ONE] {
        topology.learn_host(mac(1), end(1, 1), Some(address), at(1)).unwrap();
    }
    let changes = topology.learn_host(mac(1), end(1, 1), Some(third), at(2)).unwrap();
    assert_eq!(changes.last(), Some(&Change::AddressRemoved { address: TWO, mac: mac(1) }));
    assert_eq!(topology.host(mac(1)).unwrap().addresses, [ONE, third]);
    assert_eq!(topology.host_with_address(TWO), None);
}

#[test]
fn hosts_beyond_the_limit_are_refused_and_known_ones_stay() {
    let mut topology = limited(HostLimits { hosts: 2, hosts_per_port: 1, ..HostLimits::default() });
    topology.learn_host(mac(1), end(1, 1), Some(ONE), at(1)).unwrap();
    let full = TopologyError::TooManyHostsAtPort { mac: mac(2), at: end(1, 1), limit: 1 };
    assert_eq!(topology.learn_host(mac(2), end(1, 1), None, at(1)), Err(full));

    topology.learn_host(mac(2), end(1, 2), None, at(1)).unwrap();
    let full = TopologyError::TooManyHosts { mac: mac(3), limit: 2 };
    assert_eq!(topology.learn_host(mac(3), end(1, 2), None, at(1)), Err(full));

    let full = TopologyError::TooManyHostsAtPort { mac: mac(1), at: end(1, 2), limit: 1 };
    assert_eq!(topology.learn_host(mac(1), end(1, 2), Some(TWO), at(2)), Err(full));
    assert_eq!(topology.host(mac(1)).unwrap().at, end(1, 1));
    assert_eq!(topology.host_with_address(TWO), None);
}

#[test]
fn addresses_that_name_no_interface_are_not_learned() {
    let mut topology = unconnected(1, 1);
    for mac in [MacAddr::ZERO, MacAddr::BROADCAST, MacAddr::new([0x33, 0x33, 0, 0, 0, 1])] {
        assert_eq!(topology.learn_host(mac, end(1, 1), None, at(1)), Err(TopologyError::NotUnicast(mac)));
    }
    for text in ["0.0.0.0", "::", "127.0.0.1", "::1", "224.0.0.1", "ff02::1", "255.255.255.255"] {
        topology.learn_host(mac(1), end(1, 1), Some(text.parse().unwrap()), at(1)).unwrap();
    }
    assert!(topology.host(mac(1)).unwrap().addresses.is_empty());
}

#[test]
fn no_host_is_attached_where_a_link_begins_or_ends() {
    let mut topology = unconnected(2, 1);
    topology.learn_host(mac(1), end(1, 1), None, at(1)).unwrap();
    topology.learn_host(mac(2), end(2, 1), None, at(1)).unwrap();
    let changes = topology.add_link(link(end(1, 1), end(2, 1)), state()).unwrap();
    assert_eq!((changes.len(), topology.host_count()), (3, 0));
    for at_link in [end(1, 1), end(2, 1)] {
        let refused = TopologyError::NotAnEdge(at_link, mac(1));
        assert_eq!(topology.learn_host(mac(1), at_link, None, at(2)), Err(refused));
    }
}
