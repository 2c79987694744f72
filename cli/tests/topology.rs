//! `braid topology`: networks from files, generators and controllers.

mod support;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};
use serde_json::{Value, json};
use support::controller::{Controller, answer_by_path};
use support::{braid, lines, run, text};

const ZOO: &str = "../core/topology/testdata/zoo.graphml";
const NODE_LINK: &str = "../core/topology/testdata/node_link.json";

fn topology(args: &[&str]) -> Command {
    let mut command = braid();
    command.arg("topology").args(args);
    command
}

fn printed(args: &[&str]) -> String {
    let output = run(&[&["topology"], args].concat());
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

#[test]
fn generated_network_is_shown_in_figures() {
    let expected = "\
network     fattree:4
switches    20
hosts       16 with 16 interfaces
links       32, with 64 directed links
degree      2 to 4, 3.2 on average
diameter    4 hops
components  1
capacity    10Gbit
delay       250us
";
    assert_eq!(printed(&["show", "fattree:4", "--rate", "10Gbit", "--delay", "250us"]), expected);
    let answer = &lines(&run(&["topology", "show", "ring:6", "--json"]))[0];
    assert_eq!(answer["schema"], json!("braid/v1"));
    assert_eq!(answer["summary"]["diameter"], json!({ "hops": 3 }));
}

#[test]
fn tables_list_switches_and_links() {
    let shown = printed(&["show", "two-path", "--links", "--switches"]);
    assert!(shown.starts_with(
        "SWITCH  DPID  GROUP  POSITION  LINKS  INTERFACES\nwest    1     -      -         2      1\n"
    ));
    assert!(
        shown.contains("\n\nFROM     TO       CAPACITY  DELAY\nwest:1   north:1  1Gbit     -\n"),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 5 + 1 + 9);
}

#[test]
fn warnings_go_to_standard_error_and_the_network_to_standard_output() {
    let assert = topology(&["show", ZOO, "--rate", "2Mbit"]).assert().success();
    let warned = format!(
        "braid: warning: {ZOO}:50:5: edge from \"3\" to \"3\": it leads from \"Geneva\" back to itself; "
    );
    assert
        .stdout(starts_with("network     Alpine & Lowland\nswitches    4\n").and(contains("2Mbit to 10Gbit")))
        .stderr(starts_with(warned).and(contains("2Mbit is assumed")));
}

#[test]
fn formats_are_converted_into_each_other() {
    let own = printed(&["convert", NODE_LINK]);
    assert_eq!(own, fs::read_to_string("../core/topology/testdata/node_link.braid.json").unwrap());
    let node_link = printed(&["convert", NODE_LINK, "--to", "node-link"]);
    let again = topology(&["convert", "-"]).write_stdin(node_link).output().unwrap();
    let [own, again]: [Value; 2] =
        [own.as_bytes(), &again.stdout].map(|it| serde_json::from_slice(it).unwrap());
    assert_eq!(own["topology"]["links"], again["topology"]["links"]);
    assert!(printed(&["convert", ZOO, "--to", "dot"]).starts_with("digraph \"Alpine & Lowland\" {\n"));
}

#[test]
fn scenarios_are_networks() {
    let own: Value = serde_json::from_str(&printed(&["convert", "../scenarios/ams-gva.yaml"])).unwrap();
    let names = own["topology"]["switches"].as_array().unwrap().iter().map(|switch| &switch["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["ams1", "ams2", "gva1", "gva2"]);
    assert_eq!(own["topology"]["hosts"][1]["interfaces"].as_array().map(Vec::len), Some(2));
}

#[test]
fn generated_network_is_written_to_a_file_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("network.json");
    let path = file.to_str().unwrap();
    assert_eq!(printed(&["generate", "dh-jellyfish:20,8,40,7", "--delay", "1ms", "-o", path]), "");
    assert_eq!(printed(&["convert", path]), fs::read_to_string(&file).unwrap());
    let nowhere = folder.path().join("none/network.json");
    topology(&["generate", "line:2", "-o", nowhere.to_str().unwrap()]).assert().code(1);
}

#[test]
fn type_of_a_file_without_a_telling_name_is_seen_in_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = Path::new("../scenarios/two-paths.yaml");
    for (source, name) in
        [(Path::new(ZOO), "Alpine"), (Path::new(NODE_LINK), "Two and"), (scenario, "two-paths")]
    {
        let copy = folder.path().join("network");
        fs::write(&copy, fs::read(source).unwrap()).unwrap();
        assert!(printed(&["show", copy.to_str().unwrap()]).starts_with(&format!("network     {name}")));
    }
}

#[test]
fn wrong_sources_end_with_their_exit_code_and_a_remedy() {
    for (args, code, reason) in [
        (&["show", "nowhere.json"][..], 3, "nowhere.json: No such file"),
        (&["show", "ring:2"], 2, "ring: the number of switches is 2; it takes 3 or more"),
        (&["show", "ring:two"], 2, "\"two\" is not a whole number"),
        (&["generate", "star:3"], 2, "there is no generator \"star\": give one of fattree:K"),
        (&["generate", "east-asia", "--rate", "1Gbit"], 2, "east-asia says itself what its links carry"),
        (&["generate", "line:2", "--delay", "soon"], 2, "\"soon\" is not a time: write a number with a unit"),
        (&["show", ZOO, "--delay", "1ms"], 2, "--delay is for networks that are generated"),
        (&["show", "."], 1, "braid: .: "),
        (&["show", "Cargo.toml"], 2, "Cargo.toml:"),
    ] {
        topology(args).assert().code(code).stdout("").stderr(contains(reason));
    }
    let cut = topology(&["show", "-"]).write_stdin("{\"nodes\": [").assert().code(2);
    cut.stderr("braid: standard input:1:11: EOF while parsing a list; the document is cut off: get the whole of it\n");
    topology(&["show", "-"]).write_stdin([b'<', 0xff]).assert().code(2).stderr(contains("UTF-8"));
}

#[test]
fn network_of_a_controller_is_drawn_with_what_is_attached() {
    let at = |dpid: &str, port: u32| json!({ "dpid": dpid, "port": port });
    let counters = json!({ "bytes": 0, "packets": 0, "dropped": 0, "errors": 0 });
    let link = |src: &Value, dst: &Value| json!({ "src": src, "dst": dst, "capacity_bps": 10_000_000, "counters": counters });
    let (a, b, gone) = (at("1", 1), at("2", 1), at("9", 1));
    let host = |mac: &str, at: &Value, addresses: &[&str]| json!({ "mac": mac, "at": at, "addresses": addresses, "last_seen": 0 });
    let hosts = [
        host("02:00:00:00:00:01", &at("1", 2), &["10.0.0.1", "fe80::1"]),
        host("02:00:00:00:00:02", &at("1", 2), &[]),
        host("02:00:00:00:00:03", &gone, &[]),
    ];
    let switch = |dpid: &str| json!({ "dpid": dpid, "role": "master", "address": null, "ports": [] });
    let list = |name: &str, items: Value| {
        (format!("/api/v1/{name}"), json!({ "schema": "braid/v1", "now": 0, name: items }).to_string())
    };
    let url = answer_by_path(vec![
        list("switches", json!([switch("1"), switch("2")])),
        list("links", json!([link(&a, &b), link(&b, &a), link(&gone, &b)])),
        list("hosts", json!(hosts)),
    ]);
    let output = run(&["topology", "convert", "--controller", &url, "--rate", "5Mbit"]);
    let own: Value = serde_json::from_slice(&output.stdout).unwrap();
    let links = own["topology"]["links"].as_array().unwrap();
    assert_eq!(links.len(), 1);
    assert_eq!(links[0]["ends"][1], json!({ "dpid": "0000000000000002", "port": 1 }));
    let drawn = &own["topology"]["hosts"];
    assert_eq!([&drawn[0]["name"], &drawn[1]["name"]], ["10.0.0.1", "02:00:00:00:00:02"]);
    assert_eq!(drawn[0]["interfaces"][0]["at"]["port"], json!(2));
    assert_eq!(drawn[0]["interfaces"][0]["states"][0]["capacity_bps"], json!(5_000_000));
    let warnings = [
        "braid: warning: link 9:1 is left out: one of its switches is not connected",
        "braid: warning: host 02:00:00:00:00:02 shares port 1:2: it is drawn at a port of its own",
        "braid: warning: host 02:00:00:00:00:03 is left out: its switch is not connected",
    ];
    assert_eq!(text(&output.stderr).lines().collect::<Vec<_>>(), warnings);
}

#[test]
fn controller_without_switches_is_an_empty_network() {
    let controller = Controller::start();
    let shown = printed(&["show", "--controller", &controller.http]);
    assert!(shown.contains("switches    0\n") && shown.contains("degree      -\n"), "{shown}");
    topology(&["show", "--controller", "127.0.0.1:1"])
        .assert()
        .code(3)
        .stderr(contains("no controller answers"));
}

#[test]
fn hosts_are_listed_by_interface() {
    let shown = printed(&["show", "two-path", "--hosts"]);
    let [heading, rows @ ..] = &*shown.lines().collect::<Vec<_>>() else { panic!("{shown}") };
    assert_eq!(heading.split_whitespace().collect::<Vec<_>>(), ["HOST", "AT", "UP", "DOWN", "DELAY"]);
    assert_eq!(rows.len(), 2, "{shown}");
}

#[test]
fn what_is_no_network_is_refused_by_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    let refused = |content: &[u8], reason: &str| {
        fs::write(&file, content).unwrap();
        topology(&["show", file.to_str().unwrap()]).assert().code(2).stderr(contains(reason));
    };
    refused(b" \n", "a.json: it is empty");
    refused(&[0xff, 0xfe, 0], "a.json: it is not text");
    refused(b"<graphml/>", "it has no graph");
}
