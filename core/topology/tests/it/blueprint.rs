//! Blueprints: port and datapath numbering, lookup by name, and refusals.

use braid_topology::blueprint::{
    Blueprint, BlueprintError, Builder, NewInterface, NewSwitch, Plug, UnknownPlace,
};
use braid_topology::{Link, LinkState};
use braid_types::{DatapathId, PortNo};

use crate::network::{end, state};

/// Switches of these names, whose indices are 0, 1, ….
fn switches(names: &[&str]) -> Builder {
    let mut builder = Blueprint::builder("test");
    for name in names {
        builder.switch(NewSwitch::named(*name)).unwrap_or_else(|error| panic!("{error}"));
    }
    builder
}

fn plug(switch: usize, port: u32) -> Plug {
    Plug { switch, port: Some(PortNo(port)) }
}

#[test]
fn ports_are_numbered_by_links_then_hosts_around_those_that_are_given() {
    let mut builder = switches(&["a", "b"]);
    builder.host("h", [0, 0], state()).unwrap();
    builder.link(0, 1, state()).unwrap();
    builder.link(plug(0, 2), plug(1, 7), state()).unwrap();
    builder.link(0, 1, state()).unwrap();
    let network = builder.build();
    let ports: Vec<_> = network.links().iter().map(|link| link.ends.map(|end| end.port.0)).collect();
    assert_eq!(ports, [[1, 1], [2, 7], [3, 2]]);
    assert_eq!(network.hosts()[0].interfaces.iter().map(|it| it.end.port.0).collect::<Vec<_>>(), [4, 5]);
}

#[test]
fn datapath_ids_are_places_unless_given_or_taken() {
    let mut builder = Blueprint::builder("test");
    for (name, dpid) in [("a", None), ("b", Some(4)), ("c", Some(3)), ("d", None), ("e", None)] {
        let dpid = dpid.map(DatapathId);
        builder.switch(NewSwitch { dpid, ..NewSwitch::named(name) }).unwrap();
    }
    let network = builder.build();
    let dpids: Vec<_> = network.switches().iter().map(|switch| switch.dpid.0).collect();
    assert_eq!(dpids, [1, 4, 3, 5, 6]);
    assert_eq!(network.switch(DatapathId(5)), Some(3));
    assert_eq!(network.name_of(DatapathId(4)), Some("b"));
    assert_eq!(network.name_of(DatapathId(2)), None);
}

#[test]
fn each_direction_is_a_link_and_absent_ones_are_none() {
    let mut builder = switches(&["a", "b"]);
    let narrow = LinkState { load: braid_types::BitsPerSec(5), ..state() };
    builder.directed_link([plug(0, 1), plug(1, 1)], [Some(state()), Some(narrow)]).unwrap();
    builder.directed_link([plug(0, 2), plug(1, 2)], [None, Some(narrow)]).unwrap();
    let network = builder.build();
    let [a1, b1, a2, b2] = [end(1, 1), end(2, 1), end(1, 2), end(2, 2)];
    let expected = [
        (Link { src: a1, dst: b1 }, state()),
        (Link { src: b1, dst: a1 }, narrow),
        (Link { src: b2, dst: a2 }, narrow),
    ];
    assert_eq!(network.directed_links().collect::<Vec<_>>(), expected);
    let graph = network.graph();
    assert_eq!(graph.nodes().len(), 2);
    assert_eq!(graph.edges().map(|edge| *graph.state(edge)).collect::<Vec<_>>(), [state(), narrow, narrow]);
}

#[test]
fn places_are_found_by_name_or_datapath_id_and_names_go_first() {
    let mut builder = switches(&["a", "1", "c"]);
    builder.host("h", [2, 0, 2], state()).unwrap();
    let network = builder.build();
    assert_eq!(network.locate("c"), Ok(vec![2]));
    assert_eq!(network.locate("1"), Ok(vec![1]));
    assert_eq!(network.locate("0x1"), Ok(vec![0]));
    assert_eq!(network.locate("0000000000000003"), Ok(vec![2]));
    assert_eq!(network.locate("h"), Ok(vec![2, 0]));
}

#[test]
fn unknown_places_are_answered_with_the_nearest_name() {
    let network = switches(&["Amsterdam", "Geneva", "Zürich"]).build();
    let near = |name: &str| network.locate(name).unwrap_err().near;
    assert_eq!(near("amsterdm").as_deref(), Some("Amsterdam"));
    assert_eq!(near("GENEVE").as_deref(), Some("Geneva"));
    assert_eq!(near("zurich").as_deref(), Some("Zürich"));
    assert_eq!(near("Paris"), None);
    assert_eq!(near(&"x".repeat(100_000)), None);
    let unknown = UnknownPlace { name: "x".to_owned(), near: Some("y".to_owned()) };
    assert_eq!(unknown.to_string(), "there is no switch or host \"x\"; did you mean \"y\"?");
}

#[test]
fn what_no_network_can_be_is_refused_and_named() {
    let mut builder = switches(&["a", "b"]);
    builder.switch(NewSwitch { dpid: Some(DatapathId(9)), ..NewSwitch::named("c") }).unwrap();
    builder.link(plug(0, 1), 1, state()).unwrap();
    builder.host("h", [0], state()).unwrap();
    let mut refusals = vec![
        builder.switch(NewSwitch::named("h")).map(drop),
        builder.switch(NewSwitch::named("bell\u{7}")).map(drop),
        builder.switch(NewSwitch { dpid: Some(DatapathId(9)), ..NewSwitch::named("d") }).map(drop),
        builder.link(1, 1, state()),
        builder.link(0, 3, state()),
        builder.link(0, plug(1, 0), state()),
        builder.link(plug(0, 1), 1, state()),
        builder.directed_link([0.into(), 1.into()], [None; 2]),
        builder.host("a", [0], state()),
        builder.host("", [0], state()),
        builder.host("i", [], state()),
        builder.host("i", [7], state()),
    ];
    let twice = NewInterface { plug: plug(1, 3), states: [state(); 2] };
    refusals.push(builder.host_with("i", vec![twice, twice]));
    let texts: Vec<_> = refusals.into_iter().map(|it| it.unwrap_err().to_string()).collect();
    let expected = [
        "the name \"h\" is given twice",
        "\"bell\\u{7}\" is not a name: give 1 to 255 bytes without control characters",
        "switches \"c\" and \"d\" both have the datapath id 0000000000000009",
        "a link leads from switch \"b\" back to itself",
        "there is no switch 3: 3 are known",
        "port 0 of switch \"b\" cannot have a link: ports are 1 to 4294967040",
        "port 1 of switch \"a\" has a link already",
        "the link between \"a\" and \"b\" has no direction",
        "the name \"a\" is given twice",
        "\"\" is not a name: give 1 to 255 bytes without control characters",
        "host \"i\" has no interface",
        "there is no switch 7: 3 are known",
        "port 3 of switch \"b\" has a link already",
    ];
    assert_eq!(texts, expected);
    let network = builder.build();
    assert_eq!((network.switches().len(), network.links().len(), network.hosts().len()), (3, 1, 1));
}

#[test]
fn interfaces_are_counted_over_all_hosts() {
    use braid_topology::blueprint::MAX_HOSTS;
    let mut builder = switches(&["a"]);
    builder.host("h", vec![0; MAX_HOSTS], state()).unwrap();
    let limit = BlueprintError::TooMany { what: "interfaces of hosts", limit: MAX_HOSTS };
    assert_eq!(builder.host("i", [0], state()), Err(limit));
}
