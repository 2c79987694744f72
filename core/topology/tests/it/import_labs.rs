//! Importers of other lab tools' files: Mininet's editor and containerlab.

use std::time::Duration;

use braid_topology::blueprint::Blueprint;
use braid_topology::export;
use braid_topology::import::{self, ImportProblem, Imported};
use braid_types::BitsPerSec;
use proptest::prelude::*;

use crate::import::{damaged, same_again, warnings};

const OFFICE: &str = include_str!("../../testdata/office.mn");
const FABRIC: &str = include_str!("../../testdata/fabric.clab.yml");
const GBIT: BitsPerSec = BitsPerSec(1_000_000_000);

/// Also a file of Mininet's editor: its kind is told by its content.
fn miniedit(text: &str) -> Result<Imported, ImportProblem> {
    import::json(text, "f", GBIT)
}

fn containerlab(text: &str) -> Result<Imported, ImportProblem> {
    import::containerlab(text, "f", GBIT)
}

/// Names and datapath ids of the switches.
fn switches(network: &Blueprint) -> Vec<(&str, u64)> {
    network.switches().iter().map(|it| (it.name.as_str(), it.dpid.0)).collect()
}

/// The rate in Mbit/s and the delay in microseconds of each link.
fn links(network: &Blueprint) -> Vec<(u64, Option<u128>)> {
    let state = |states: [Option<braid_topology::LinkState>; 2]| states[0].unwrap();
    let links = network.links().iter().map(|link| state(link.states));
    links.map(|it| (it.capacity.0 / 1_000_000, it.delay.as_ref().map(Duration::as_micros))).collect()
}

#[test]
fn a_network_of_mininets_editor_has_its_datapath_ids_rates_and_delays() {
    let imported = miniedit(OFFICE).unwrap_or_else(|problem| panic!("{problem}"));
    let network = &imported.blueprint;
    assert_eq!(switches(network), [("s1", 1), ("s12", 12), ("edge", 255)]);
    assert_eq!(links(network), [(100, Some(2_000)), (50, Some(1_500)), (1_000, None)]);
    let hosts: Vec<_> = network.hosts().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(hosts, ["h1", "h2"]);
    let expected = [
        "f: 2 of 5 edges say nothing of their capacity; 1Gbit is assumed",
        "f: 1 of 3 edges between switches have no delay and an end without a position; give positions, such as that of \"s1\"; \
         until then the delay is unknown",
        "f: hosts[2]: the host \"h3\" is attached to nothing; it is left out",
    ];
    assert_eq!(warnings(&imported), expected);
}

#[test]
fn a_topology_of_containerlab_has_its_hosts_positions_and_variables() {
    let imported = containerlab(FABRIC).unwrap_or_else(|problem| panic!("{problem}"));
    let network = &imported.blueprint;
    let names: Vec<_> = network.switches().iter().map(|it| (it.name.as_str(), it.group.as_deref())).collect();
    assert_eq!(names, [("br-1", None), ("br-2", None), ("core", Some("spine")), ("frr", None)]);
    assert_eq!(network.switches()[0].dpid.0, 10);
    assert_eq!(links(network), [(10_000, Some(5_000)), (2_500, Some(3_462)), (1_000, None)]);
    assert_eq!(network.hosts().iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["disk"]);
    assert_eq!(network.name(), "fabric");
    assert_eq!(warnings(&imported)[0], "f: 2 of 6 links lead out of the lab; they are left out");
}

#[test]
fn wrong_files_of_the_editor_are_refused_with_their_place_and_a_remedy() {
    let of = |switches: &str, links: &str| {
        miniedit(&format!(r#"{{"hosts": [], "switches": [{switches}], "links": [{links}]}}"#))
    };
    let s1 = r#"{"opts": {"hostname": "s1"}}"#;
    let s2 = r#"{"opts": {"hostname": "s2"}}"#;
    let both = format!("{s1}, {s2}");
    let link = |opts: &str| format!(r#"{{"src": "s1", "dest": "s2", "opts": {{{opts}}}}}"#);
    for (switches, links, expected) in [
        (r#"{"opts": {}}"#, "", "f:1:38: missing field `hostname`; "),
        (r#"{"opts": {"hostname": " "}}"#, "", "f: switches[0]: it has no hostname; "),
        (&*format!("{s1}, {s1}"), "", "f: switches[1]: there is another \"s1\"; "),
        (
            r#"{"opts": {"hostname": "a", "dpid": "xyz"}}"#,
            "",
            "f: switches[0]: \"xyz\" is not a datapath id ",
        ),
        (s1, r#"{"src": "s1", "dest": "s9"}"#, "f: links[0]: there is no \"s9\"; add it, or mend the name"),
        (&both, &link(r#""bw": "fast""#), "f: links[0]: bw: fast is not a number of Mbit/s; "),
        (&both, &link(r#""bw": -1"#), "f: links[0]: bw: -1000000 bit/s is not a rate: "),
        (&both, &link(r#""delay": "5 parsec""#), "f: links[0]: delay: \"5 parsec\" is not a time: "),
    ] {
        let problem = of(switches, links).unwrap_err().to_string();
        assert!(problem.starts_with(expected), "{switches} {links}\n {problem}\n {expected}");
    }
}

#[test]
fn wrong_topologies_of_containerlab_are_refused_with_their_place_and_a_remedy() {
    let of = |nodes: &str, links: &str| {
        containerlab(&format!("topology:\n  nodes:\n{nodes}\n  links:\n{links}\n"))
    };
    let two = "    a: {kind: bridge}\n    b: {kind: bridge}";
    for (nodes, links, expected) in [
        (
            two,
            "    - endpoints: [\"a:eth1\", \"c:eth1\"]",
            "f:6:7: topology.links[0]: there is no node \"c\"; ",
        ),
        (
            two,
            "    - endpoints: [\"a:eth1\"]",
            "f:6:7: topology.links[0]: it has 1 endpoints, and a link has two; ",
        ),
        (two, "    - endpoints: [\"a\", \"b:eth1\"]", "f:6:"),
        (
            two,
            "    - endpoints: [\"a:eth1\", \"b:eth1\"]\n      vars: {capacity: fast}",
            "f:6:7: topology.links[0]: capacity: \"fast\" is not a rate: ",
        ),
        ("    a: {kind: bridge, labels: {dpid: xyz}}", "", "f:3:8: topology.nodes.a: the label dpid: "),
        (
            "    a: {kind: linux}\n    b: {kind: linux}",
            "    - endpoints: [\"a:e\", \"b:e\"]",
            "f:6:7: topology.links[0]: it joins two hosts; ",
        ),
        ("    - a", "", "f:3:"),
    ] {
        let problem = of(nodes, links).unwrap_err().to_string();
        assert!(problem.starts_with(expected), "{nodes}\n{links}\n {problem}\n {expected}");
    }
    assert!(containerlab("name: x").unwrap_err().to_string().contains("missing field `topology`"));
}

#[test]
fn repeated_anchors_do_not_make_a_file_huge() {
    let mut text = "topology:\n  nodes:\n    a: {labels: &l0 {x: y}}\n".to_owned();
    (1..40).for_each(|it| text += &format!("x{it}: &l{it} [*l{}, *l{}, *l{}]\n", it - 1, it - 1, it - 1));
    assert!(containerlab(&text).is_err());
}

#[test]
fn what_is_read_is_written_and_read_again() {
    for network in [miniedit(OFFICE), containerlab(FABRIC)].map(|it| it.unwrap().blueprint) {
        assert_eq!(import::braid(&export::json(&network), "again"), Ok(network));
    }
}

#[test]
fn the_example_of_the_documentation_is_read_without_a_warning() {
    let page = include_str!("../../../../docs/topologies.md");
    let example =
        page.split("```yaml\nname: fabric").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let imported = containerlab(&format!("name: fabric{example}")).unwrap();
    assert_eq!(imported.warnings, []);
    assert_eq!((imported.blueprint.switches().len(), imported.blueprint.hosts().len()), (2, 1));
}

proptest! {
    #[test]
    fn damaged_files_of_the_editor_are_read_or_refused(text in damaged(OFFICE)) {
        same_again(miniedit(&text))?;
    }

    #[test]
    fn damaged_topologies_of_containerlab_are_read_or_refused(text in damaged(FABRIC)) {
        same_again(containerlab(&text))?;
    }
}
