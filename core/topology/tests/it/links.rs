//! Switches, ports and links.

use braid_topology::{Change, LinkState, Topology, TopologyError};
use braid_types::{BitsPerSec, DatapathId};

use crate::network::{end, link, mac, port, state, unconnected};

fn joined() -> Topology {
    let mut topology = unconnected(2, 2);
    topology.add_link(link(end(1, 1), end(2, 1)), state()).unwrap();
    topology.add_link(link(end(2, 1), end(1, 1)), state()).unwrap();
    topology
}

#[test]
fn removing_a_switch_removes_its_links_in_both_directions_first() {
    let mut topology = joined();
    let expected = [
        Change::LinkRemoved { link: link(end(2, 1), end(1, 1)) },
        Change::LinkRemoved { link: link(end(1, 1), end(2, 1)) },
        Change::PortRemoved { at: end(1, 1) },
        Change::PortRemoved { at: end(1, 2) },
        Change::SwitchRemoved { dpid: DatapathId(1) },
    ];
    assert_eq!(topology.remove_switch(DatapathId(1)), expected);
    assert_eq!(topology.links().len(), 0);
    assert_eq!(topology.remove_switch(DatapathId(1)), []);
}

#[test]
fn a_port_that_goes_down_loses_its_links_and_keeps_its_hosts() {
    let mut topology = joined();
    topology.learn_host(mac(1), end(1, 2), None, Default::default()).unwrap();
    let changes = topology.set_port(DatapathId(1), port(1, false)).unwrap();
    assert_eq!(changes.last(), Some(&Change::PortChanged { at: end(1, 1) }));
    assert_eq!((changes.len(), topology.links().len()), (3, 0));
    topology.set_port(DatapathId(1), port(2, false)).unwrap();
    assert_eq!(topology.hosts_at(end(1, 2)).count(), 1);
}

#[test]
fn a_switch_that_returns_keeps_the_links_of_ports_that_are_as_they_were() {
    let mut topology = joined();
    let changes = topology.add_switch(DatapathId(1), [port(1, true), port(3, true)]);
    assert_eq!(changes, [Change::PortRemoved { at: end(1, 2) }, Change::PortAdded { at: end(1, 3) }]);
    assert_eq!(topology.links().len(), 2);
}

#[test]
fn a_link_replaces_the_one_that_left_the_same_port() {
    let mut topology = joined();
    let (old, new) = (link(end(1, 1), end(2, 1)), link(end(1, 1), end(2, 2)));
    let expected = vec![Change::LinkRemoved { link: old }, Change::LinkAdded { link: new, state: state() }];
    assert_eq!(topology.add_link(new, state()), Ok(expected));
    assert_eq!(topology.link_at(end(1, 1)), Some(new));
}

#[test]
fn parallel_links_stay_apart() {
    let mut topology = joined();
    topology.add_link(link(end(1, 2), end(2, 2)), state()).unwrap();
    assert_eq!(topology.links().filter(|(link, _)| link.src.dpid == DatapathId(1)).count(), 2);
}

#[test]
fn only_what_changes_the_graph_raises_the_version() {
    let mut topology = joined();
    let before = topology.version();
    topology.add_link(link(end(1, 1), end(2, 1)), state()).unwrap();
    topology.learn_host(mac(1), end(1, 2), None, Default::default()).unwrap();
    topology.set_port(DatapathId(1), port(2, false)).unwrap();
    assert_eq!(topology.version(), before);

    let (link, narrow) = (link(end(1, 1), end(2, 1)), LinkState::of_capacity(BitsPerSec(1)));
    let expected = Ok(vec![Change::LinkChanged { link, state: narrow }]);
    assert_eq!(topology.add_link(link, narrow), expected);
    assert_eq!(topology.state_at(end(1, 1)), Some(narrow));
    assert!(topology.version() > before);
}

#[test]
fn what_is_known_of_a_link_is_no_part_of_the_structure() {
    let mut topology = joined();
    let (structure, version) = (topology.structure(), topology.version());
    let wide = LinkState::of_capacity(BitsPerSec(7));
    let change = Change::LinkChanged { link: link(end(1, 1), end(2, 1)), state: wide };
    assert_eq!(topology.set_link_state(end(1, 1), wide), Some(change));
    assert_eq!(topology.set_link_state(end(1, 1), wide), None, "it is known already");
    assert_eq!(topology.set_link_state(end(1, 2), wide), None, "there is no such link");
    assert_eq!((topology.structure(), topology.version()), (structure, version + 1));
    topology.remove_link(end(1, 1));
    assert!(topology.structure() > structure);
}

#[test]
fn the_revision_follows_switches_ports_and_links_and_not_what_is_known_of_links_and_hosts() {
    let mut topology = joined();
    let before = topology.revision();
    topology.set_link_state(end(1, 1), LinkState::of_capacity(BitsPerSec(7))).unwrap();
    topology.learn_host(mac(1), end(1, 2), None, Default::default()).unwrap();
    assert_eq!(topology.revision(), before);
    let changes: [fn(&mut Topology); 5] = [
        |topology| _ = topology.set_port(DatapathId(1), port(2, false)),
        |topology| _ = topology.remove_port(end(1, 2)),
        |topology| _ = topology.remove_link(end(1, 1)),
        |topology| _ = topology.add_switch(DatapathId(9), []),
        |topology| _ = topology.remove_switch(DatapathId(9)),
    ];
    for change in changes {
        let before = topology.revision();
        change(&mut topology);
        assert!(topology.revision() > before);
    }
}

#[test]
fn links_need_two_different_known_ports_that_are_up() {
    let mut topology = unconnected(2, 1);
    topology.set_port(DatapathId(2), port(2, false)).unwrap();
    let refused = |src, dst| topology.clone().add_link(link(src, dst), state()).unwrap_err();
    assert_eq!(refused(end(1, 1), end(2, 9)), TopologyError::UnknownPort(end(2, 9)));
    assert_eq!(refused(end(9, 1), end(2, 1)), TopologyError::UnknownPort(end(9, 1)));
    assert_eq!(refused(end(1, 1), end(2, 2)), TopologyError::PortDown(end(2, 2)));
    assert_eq!(refused(end(1, 1), end(1, 1)), TopologyError::SelfLink(end(1, 1)));
    assert_eq!(
        topology.set_port(DatapathId(9), port(1, true)),
        Err(TopologyError::UnknownSwitch(DatapathId(9)))
    );
}

#[test]
fn users_see_lists_of_switches_links_and_hosts() {
    let mut topology = joined();
    topology.learn_host(mac(1), end(1, 2), Some([10, 0, 0, 1].into()), Default::default()).unwrap();
    let shown = serde_json::to_value(&topology).unwrap();
    assert_eq!(shown["version"], topology.version());
    assert_eq!(shown["switches"][1]["dpid"], "0000000000000002");
    assert_eq!(shown["switches"][1]["ports"][0]["name"], "eth1");
    assert_eq!(shown["links"][0]["dst"]["dpid"], "0000000000000002");
    assert_eq!(shown["hosts"][0]["addresses"][0], "10.0.0.1");
}
