//! Importers: golden files, round trips, and errors with place and remedy.

use std::time::Duration;

use braid_topology::blueprint::{Blueprint, BlueprintError};
use braid_topology::export;
use braid_topology::generate::{Links, Spec};
use braid_topology::import::{self, ImportProblem, Imported, MAX_INPUT, MAX_WARNINGS};
use braid_types::BitsPerSec;
use proptest::prelude::*;

const ZOO: &str = include_str!("../../testdata/zoo.graphml");
const ZOO_JSON: &str = include_str!("../../testdata/zoo.json");
const NODE_LINK: &str = include_str!("../../testdata/node_link.json");
const NODE_LINK_JSON: &str = include_str!("../../testdata/node_link.braid.json");
const GBIT: BitsPerSec = BitsPerSec(1_000_000_000);

fn graphml(text: &str) -> Result<Imported, ImportProblem> {
    import::graphml(text, "f", GBIT)
}

fn json(text: &str) -> Result<Imported, ImportProblem> {
    import::json(text, "f", GBIT)
}

pub(crate) fn warnings(imported: &Imported) -> Vec<String> {
    imported.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_of_the_topology_zoo_is_read_as_reviewed() {
    let imported = graphml(ZOO).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(export::json(&imported.blueprint), ZOO_JSON);
    let expected = [
        "f:50:5: edge from \"3\" to \"3\": it leads from \"Geneva\" back to itself; it is left out",
        "f: 1 of 6 edges say nothing of their capacity; 1Gbit is assumed",
        "f: 2 of 6 edges between switches have no delay and an end without a position; give positions, such as that of \"Geneva\"; \
         until then the delay is unknown",
        "f:29:5: node \"3\": the label \"Geneva\" is given again; it is called \"Geneva-2\"",
    ];
    assert_eq!(warnings(&imported), expected);
}

#[test]
fn node_link_json_is_read_as_reviewed() {
    let imported = json(NODE_LINK).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(export::json(&imported.blueprint), NODE_LINK_JSON);
    let expected = [
        "f: 1 of 8 edges say nothing of their capacity; 1Gbit is assumed",
        "f: 1 of 5 edges between switches have no delay and an end without a position; give positions, such as that of \"half\"; \
         until then the delay is unknown",
    ];
    assert_eq!(warnings(&imported), expected);
}

fn generated() -> impl Iterator<Item = Blueprint> {
    let specs = ["fattree:4", "dh-jellyfish:6,5,12,1", "east-asia", "huang-b", "line:1", "two-path"];
    let links = Links { delay: Some(Duration::from_nanos(1_234_567)), ..Links::default() };
    specs.into_iter().map(move |spec| spec.parse::<Spec>().unwrap().generate(links).unwrap())
}

#[test]
fn own_json_gives_the_same_network_again() {
    let others = [graphml(ZOO), json(NODE_LINK)].map(|imported| imported.unwrap().blueprint);
    for network in generated().chain(others) {
        let again = json(&export::json(&network)).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(again, Imported { blueprint: network, warnings: Vec::new() });
    }
}

#[test]
fn node_link_json_gives_the_same_network_again() {
    for network in generated() {
        let again = json(&export::node_link(&network)).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(again, Imported { blueprint: network, warnings: Vec::new() });
    }
}

#[test]
fn node_link_json_keeps_parallel_links_and_single_directions() {
    let network = json(NODE_LINK).unwrap().blueprint;
    let again = json(&export::node_link(&network)).unwrap().blueprint;
    assert_eq!(again.links(), network.links());
    assert_eq!(again.hosts(), network.hosts());
}

/// A graph of these edges between the nodes a, b and c.
fn of_edges(head: &str, edges: &str) -> Result<Imported, ImportProblem> {
    let nodes = r#"[{"id": "a"}, {"id": "b"}, {"id": "c"}]"#;
    json(&format!(r#"{{{head} "nodes": {nodes}, "edges": [{edges}]}}"#))
}

#[test]
fn directions_are_matched_by_their_order_where_there_are_no_keys() {
    let edge =
        |a: &str, b: &str, rate: u64| format!(r#"{{"source": "{a}", "target": "{b}", "capacity": {rate}}}"#);
    let edges = [edge("a", "b", 1), edge("a", "b", 2), edge("b", "a", 3)].join(",");
    let network = of_edges(r#""directed": true,"#, &edges).unwrap().blueprint;
    let rates = |states: [Option<braid_topology::LinkState>; 2]| states.map(|it| it.map(|it| it.capacity.0));
    let rates: Vec<_> = network.links().iter().map(|link| rates(link.states)).collect();
    assert_eq!(rates, [[Some(1), Some(3)], [Some(2), None]]);
}

#[test]
fn undirected_links_are_the_same_in_both_directions() {
    let network = of_edges("", r#"{"source": "a", "target": "c", "delay": "1ms"}"#).unwrap().blueprint;
    let [link] = network.links() else { panic!("{:?}", network.links()) };
    assert_eq!(link.states[0], link.states[1]);
    assert_eq!(link.states[0].unwrap().delay, Some(Duration::from_millis(1)));
}

#[test]
fn hosts_without_a_link_and_self_loops_are_left_out_with_a_warning() {
    let text = r#"{"nodes": [{"id": 1}, {"id": 2, "type": "host"}], "links": [{"source": 1, "target": 1}]}"#;
    let imported = json(text).unwrap();
    let expected = [
        "f: links[0]: it leads from \"1\" back to itself; it is left out",
        "f: 1 of 1 edges say nothing of their capacity; 1Gbit is assumed",
        "f: nodes[1]: the host \"2\" is attached to nothing; it is left out",
    ];
    assert_eq!(warnings(&imported), expected);
    assert_eq!((imported.blueprint.hosts().len(), imported.blueprint.links().len()), (0, 0));
}

#[test]
fn warnings_beyond_the_bound_are_counted() {
    let loops =
        vec![r#"{"source": "a", "target": "a", "capacity": 1, "delay": 0}"#; MAX_WARNINGS + 7].join(",");
    let imported = of_edges("", &loops).unwrap();
    assert_eq!(imported.warnings.len(), MAX_WARNINGS + 1);
    assert_eq!(warnings(&imported).pop().unwrap(), "f: there are 7 warnings more; mend these first");
}

/// Wrong documents, and how their problem begins.
const WRONG_JSON: [(&str, &str); 33] = [
    ("", "f:1:0: EOF while parsing a value; the document is cut off"),
    ("[]", "f:1:0: invalid type: sequence, expected"),
    ("{\"nodes\": [{\"id\": 1}", "f:1:20: EOF while parsing a list; the document is cut off"),
    ("{\"nodes\": [], \"links\": []} x", "f:1:28: trailing characters; it must be JSON"),
    ("{\"links\": []}", "f:1:13: nodes: there is no list of nodes; write the graph with"),
    ("{\"nodes\": []}", "f:1:13: links: there is no list of edges; write the graph with"),
    ("{\"nodes\": [], \"links\": [], \"edges\": []}", "f:1:34: edges: there is a list of edges already; "),
    ("{\"nodes\": [], \"nodes\": []}", "f:1:21: nodes: it is there twice; "),
    ("{\"nodes\": {}}", "f:1:10: invalid type: map, expected a list of nodes; "),
    ("{\"nodes\": [7]}", "f:1:12: invalid type: integer `7`, expected an object as nodes[0]; "),
    ("{\"nodes\": [{}]}", "f:1:13: nodes[0].id: it is missing; "),
    ("{\"nodes\": [{\"id\": [1, 2]}]}", "f:1:25: nodes[0].id: a list is no id: relabel "),
    ("{\"nodes\": [{\"id\": NaN}]}", "f:1:19: expected value; it must be JSON"),
    (
        "{\"nodes\": [{\"id\": 1}, {\"id\": 1.0}], \"links\": []}",
        "f: nodes[1]: the id 1 is that of nodes[0] already; ",
    ),
    (
        "{\"nodes\": [{\"id\": 1, \"lat\": 91}]}",
        "f:1:31: nodes[0].lat: 91 is not a number of degrees from -90 to 90; ",
    ),
    ("{\"nodes\": [{\"id\": 1, \"lon\": \"east\"}]}", "f:1:35: nodes[0].lon: \"east\" is not a number of "),
    ("{\"nodes\": [{\"id\": 1, \"dpid\": \"x\"}]}", "f:1:33: nodes[0].dpid: \"x\" is not a datapath id "),
    (
        "{\"nodes\": [{\"id\": 1, \"dpid\": 5}, {\"id\": 2, \"dpid\": 5}], \"links\": []}",
        "f: nodes[1]: switches \"1\" and \"2\" both have the datapath id 0000000000000005; give each its own",
    ),
    ("{\"directed\": 1}", "f:1:14: invalid type: integer `1`, expected a boolean; "),
    ("{\"schema\": \"braid/v7\"}", "f: schema: \"braid/v7\" is not a schema that is known; "),
    ("{\"schema\": \"braid/v1\", \"links\": []}", "f:1:35: missing field `topology`; "),
    (
        "{\"schema\": \"braid/v1\", \"topology\": {\"name\": \"\", \"switches\": [{\"name\": \"a\", \"dpid\": \"g\"}]}}",
        "f:1:87: \"g\" is not a datapath id of 1 to 16 hexadecimal digits; ",
    ),
    ("{\"links\": [{\"target\": 1}]}", "f:1:24: links[0].source: it is missing; "),
    ("{\"links\": [{\"source\": 1}]}", "f:1:24: links[0].target: it is missing; "),
    ("{\"links\": [{\"capacity\": -1}]}", "f:1:27: links[0].capacity: -1 bit/s is not a rate: "),
    (
        "{\"links\": [{\"capacity\": 1e30}]}",
        "f:1:29: links[0].capacity: 1000000000000000000000000000000 bit/s is ",
    ),
    ("{\"links\": [{\"capacity\": \"NaN\"}]}", "f:1:30: links[0].capacity: NaN bit/s is not a rate: "),
    (
        "{\"links\": [{\"capacity\": \"10GB/s\"}]}",
        "f:1:33: links[0].capacity: \"10GB/s\" is not a rate: B means bytes",
    ),
    ("{\"links\": [{\"capacity\": {}}]}", "f:1:27: links[0].capacity: an object is not a rate: "),
    ("{\"links\": [{\"capacity\": true}]}", "f:1:29: links[0].capacity: true is not a rate: "),
    ("{\"edges\": [{\"delay\": -0.5}]}", "f:1:26: edges[0].delay: -0.5 s is not a delay: "),
    (
        "{\"edges\": [{\"delay\": \"10 parsec\"}]}",
        "f:1:33: edges[0].delay: \"10 parsec\" is not a time: there is no unit \"parsec\"",
    ),
    (
        "{\"edges\": [{\"delay\": 5000}]}",
        "f:1:26: edges[0].delay: 5000 s is not a delay: that is 0 to 3600 s; ",
    ),
];

#[test]
fn wrong_json_is_refused_with_its_place_and_a_remedy() {
    for (text, expected) in WRONG_JSON {
        let problem = json(text).unwrap_err().to_string();
        assert!(problem.starts_with(expected), "{text}\n {problem}\n {expected}");
    }
}

#[test]
fn wrong_links_are_refused_with_their_place_and_a_remedy() {
    let edge = |a: &str, b: &str, key: &str| format!(r#"{{"source": "{a}", "target": "{b}"{key}}}"#);
    let twice = |a: [&str; 2], b: [&str; 2], key| [edge(a[0], a[1], key), edge(b[0], b[1], key)].join(",");
    let problem = |head, edges: &str| of_edges(head, edges).unwrap_err().to_string();
    assert_eq!(
        problem("", &edge("a", "x", "")),
        "f: edges[0]: there is no node \"x\"; add it to nodes, or mend the id"
    );
    let same_key = twice(["a", "b"], ["a", "b"], r#", "key": 7"#);
    assert_eq!(
        problem(r#""directed": true,"#, &same_key),
        "f: edges[1]: there is an edge with the key 7 already; give each parallel edge its own"
    );
    let simple = r#""multigraph": false,"#;
    let joined = problem(simple, &twice(["a", "b"], ["b", "a"], ""));
    assert!(
        joined.starts_with("f: edges[1]: \"b\" and \"a\" are joined already, and this is no multigraph; ")
    );
    assert!(
        of_edges(r#""multigraph": false, "directed": true,"#, &twice(["a", "b"], ["b", "a"], "")).is_ok()
    );
    let hosts = r#"{"nodes": [{"id": 1, "type": "host"}, {"id": 2, "type": "host"}],
                    "links": [{"source": 1, "target": 2}]}"#;
    let hosts = json(hosts).unwrap_err().to_string();
    assert_eq!(hosts, "f: links[0]: it joins two hosts; put a switch between them");
}

/// A document of this content of the graph, with keys for a speed, a latitude and a delay.
fn graph(content: &str) -> String {
    let keys = "<key id='s' for='edge' attr.name='LinkSpeedRaw'/><key id='y' for='node' attr.name='Latitude'/>\
                <key id='d' for='edge' attr.name='delay'><default>2ms</default></key>";
    format!("<graphml>{keys}\n<graph edgedefault='undirected'>{content}</graph></graphml>")
}

const TWO: &str = "<node id='a'/><node id='b'/>";

#[test]
fn wrong_graphml_is_refused_with_its_place_and_a_remedy() {
    let edge = |data: &str| graph(&format!("{TWO}<edge source='a' target='b'>{data}</edge>"));
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><graphml>&b;</graphml>";
    for (text, expected) in [
        (String::new(), "f:1:1: the document does not have a root node; it must be XML"),
        ("<graphml>\n<key id='".to_owned(), "f:2:10: unexpected end of stream; the document is cut off"),
        (
            "<graphml><graph>".to_owned(),
            "f:1:17: the root node was opened but never closed; the document is cut off",
        ),
        (bomb.to_owned(), "f: XML with DTD detected; leave out the document type definition"),
        ("<html/>".to_owned(), "f:1:1: html: it is not a graphml element; "),
        ("<graphml/>".to_owned(), "f:1:1: graphml: it has no graph; "),
        (
            "<graphml><graph/><graph id='g'/></graphml>".to_owned(),
            "f:1:18: graph \"g\": there is a graph before it; ",
        ),
        (graph("<hyperedge/>"), "f:2:33: hyperedge: hyperedges are not read; "),
        (graph("<node id='a'><graph/></node>"), "f:2:46: graph: nested graphs are not read; "),
        (graph("<node/>"), "f:2:33: node: it has no id; add the attribute"),
        (graph("<node id='a'/><node id='a'/>"), "f:2:47: node \"a\": there is a node with this id already; "),
        (
            graph("<node id='a'><data key='y'>x</data></node>"),
            "f:2:46: Latitude: \"x\" is not a number of degrees",
        ),
        (graph("<edge source='a'/>"), "f:2:33: edge: there is no node \"a\"; add it, or mend the id"),
        (graph(&format!("{TWO}<edge source='a'/>")), "f:2:61: edge: it has no target; "),
        (
            graph(&format!("{TWO}<edge id='e' source='a' target='c'/>")),
            "f:2:61: edge \"e\": there is no node \"c\"; ",
        ),
        (
            graph(&format!("{TWO}<edge source='a' target='b' directed='maybe'/>")),
            "f:2:61: edge from \"a\" to \"b\": \"maybe\" is no direction; ",
        ),
        (edge("<data key='s'>-1</data>"), "f:2:89: LinkSpeedRaw: -1 bit/s is not a rate: "),
        (edge("<data key='s'>NaN</data>"), "f:2:89: LinkSpeedRaw: NaN bit/s is not a rate: "),
        (edge("<data key='d'>-1ms</data>"), "f:2:89: delay: \"-1ms\" is not a time: "),
        (edge("<data key='s'/>"), "f:2:89: LinkSpeedRaw: \"\" is not a rate: "),
    ] {
        let problem = graphml(&text).unwrap_err().to_string();
        assert!(problem.starts_with(expected), "{text}\n {problem}\n {expected}");
    }
}

#[test]
fn graphml_defaults_comments_and_directions_count() {
    let text = graph(&format!(
        "{TWO}<edge source='a' target='b' directed='true'><data key='s'>5<!-- million -->000000</data></edge>\
         <edge source='b' target='a' directed='true'><data key='d'>0.5</data></edge>"
    ));
    let network = graphml(&text).unwrap().blueprint;
    let [link] = network.links() else { panic!("{:?}", network.links()) };
    let [there, back] = link.states.map(Option::unwrap);
    assert_eq!((there.capacity, there.delay), (BitsPerSec(5_000_000), Some(Duration::from_millis(2))));
    assert_eq!((back.capacity, back.delay), (GBIT, Some(Duration::from_millis(500))));
}

#[test]
fn deep_nesting_is_an_error_or_passed_over() {
    let deep = "[".repeat(1_000_000);
    assert!(json(&deep).is_err());
    assert!(json(&format!("{{\"nodes\": [{{\"id\": 1, \"x\": {deep}")).is_err());
    let elements = "<x>".repeat(500_000) + &"</x>".repeat(500_000);
    assert_eq!(graphml(&graph(&elements)).unwrap().blueprint.switches().len(), 0);
}

#[test]
fn documents_and_networks_beyond_the_bounds_are_refused() {
    let long = " ".repeat(MAX_INPUT + 1);
    for problem in [graphml(&long).unwrap_err(), json(&long).unwrap_err()] {
        assert_eq!(problem.to_string(), "f: 67108865 bytes are too many; a document has at most 67108864");
    }
    let too_many =
        |nodes: String| json(&format!("{{\"nodes\":[{nodes}],\"links\":[]}}")).unwrap_err().to_string();
    let numbered = (0..262_145).map(|id| format!("{{\"id\":{id}}}")).collect::<Vec<_>>().join(",");
    let all_the_same = vec!["{\"id\":0}"; 1_310_721].join(",");
    let limit = BlueprintError::TooMany { what: "switches", limit: 262_144 }.to_string();
    assert_eq!(too_many(numbered), format!("f: nodes[262144]: {limit}; cut the network into smaller ones"));
    assert!(too_many(all_the_same).contains(": nodes: there are more than 1310720, which is the limit; "));
}

#[test]
fn a_hundred_thousand_nodes_are_read_in_every_format() {
    let spec: Spec = "jellyfish:100000,2,0,1".parse().unwrap();
    let network = spec.generate(Links::default()).unwrap();
    let own = json(&export::json(&network)).unwrap().blueprint;
    assert_eq!(own, network);
    assert_eq!(json(&export::node_link(&network)).unwrap().blueprint, network);
    let mut xml = String::new();
    (0..100_000).for_each(|id| xml += &format!("<node id='{id}'><data key='y'>1</data></node>\n"));
    for link in network.links() {
        let [a, b] = link.ends.map(|end| end.switch);
        xml += &format!("<edge source='{a}' target='{b}'><data key='s'>1e9</data></edge>\n");
    }
    let read = graphml(&graph(&xml)).unwrap().blueprint;
    assert_eq!(read.graph().edges().len(), network.graph().edges().len());
}

#[test]
fn examples_of_the_documentation_are_read_without_a_warning() {
    let page = include_str!("../../../../docs/topologies.md");
    let examples: Vec<_> =
        page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let sizes = examples.iter().map(|text| {
        let Imported { blueprint, warnings } = json(text).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(warnings, []);
        (blueprint.switches().len(), blueprint.directed_links().count(), blueprint.hosts().len())
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [(2, 4, 1), (2, 1, 1)]);
}

/// A document with some of its bytes changed, removed or doubled.
pub(crate) fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let damage = (0..text.len(), 0..40_usize, any::<u8>(), 0..3_u8);
    prop::collection::vec(damage, 1..6).prop_map(move |damages| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, length, byte, kind) in damages {
            let at = at.min(bytes.len());
            let end = (at + length).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            match kind {
                0 => drop(bytes.splice(at..end, [byte])),
                1 => drop(bytes.splice(at..end, [])),
                _ => drop(bytes.splice(at..at, piece)),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// What could be read is written and read again as the same.
pub(crate) fn same_again(read: Result<Imported, ImportProblem>) -> Result<(), TestCaseError> {
    let Ok(Imported { blueprint, .. }) = read else { return Ok(()) };
    prop_assert_eq!(import::braid(&export::json(&blueprint), "again"), Ok(blueprint));
    Ok(())
}

proptest! {
    #[test]
    fn damaged_graphml_is_read_or_refused(text in damaged(ZOO)) {
        same_again(graphml(&text))?;
    }

    #[test]
    fn damaged_node_link_json_is_read_or_refused(text in damaged(NODE_LINK)) {
        same_again(json(&text))?;
    }

    #[test]
    fn damaged_own_json_is_read_or_refused(text in damaged(NODE_LINK_JSON)) {
        same_again(json(&text))?;
    }
}
