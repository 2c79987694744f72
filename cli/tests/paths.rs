//! `braid paths`: path sets in stored, generated and running networks.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use braid_paths::{Kind, Properties};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};
use serde_json::{Value, json};
use support::controller::{Controller, answer_with, connect_switch};
use support::{braid, lines, run, text};

const TRAP: &str = "../scenarios/topologies/trap.json";
const ZOO: &str = "../core/topology/testdata/zoo.graphml";

fn arguments<'a>(src: &'a str, dst: &'a str, topology: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&["paths", src, dst, "--topology", topology], rest].concat()
}

/// What is printed for people.
fn table(src: &str, dst: &str, topology: &str, rest: &[&str]) -> String {
    let output = run(&arguments(src, dst, topology, rest));
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The JSON output.
fn document(src: &str, dst: &str, topology: &str, rest: &[&str]) -> Value {
    let output = run(&arguments(src, dst, topology, &[rest, &["--json"]].concat()));
    let [document] = lines(&output).try_into().expect("one document");
    document
}

fn paths(document: &Value) -> &[Value] {
    document["paths"].as_array().expect("a list")
}

fn links(path: &Value) -> BTreeSet<String> {
    let links = path["links"].as_array().expect("a list").iter();
    links.map(|link| format!("{}:{}", link["src"]["dpid"], link["src"]["port"])).collect()
}

#[test]
fn between_pods_of_a_fat_tree_are_16_shortest_paths_and_4_that_share_nothing() {
    let shortest = document("h1", "h128", "fattree:8", &[]);
    assert_eq!(paths(&shortest).len(), 16);
    let different: BTreeSet<_> = paths(&shortest).iter().map(links).collect();
    assert_eq!(different.len(), 16);
    assert!(paths(&shortest).iter().all(|path| path["hops"] == 4 && path["cost"] == 4));

    let disjoint = document("h1", "h128", "fattree:8", &["--mode", "disjoint"]);
    assert_eq!(paths(&disjoint).len(), 4);
    assert_eq!(paths(&disjoint).iter().flat_map(links).collect::<BTreeSet<_>>().len(), 16);
    assert!(paths(&disjoint).iter().all(|path| path["shared_links"] == 0));
}

#[test]
fn a_document_tells_all_of_a_path() {
    let found = document("h1", "pod1-edge2", "fattree:4", &["-k", "1", "--delay", "1ms"]);
    let [schema, mode, weight] = [&found["schema"], &found["mode"], &found["weight"]];
    assert_eq!([schema, mode, weight], [&json!("braid/v1"), &json!("shortest"), &json!("hops")]);
    let end = |name: &str, node: &str, dpid: &str| json!({ "name": name, "node": node, "dpid": dpid, "also_at": [] });
    assert_eq!(found["src"], end("h1", "pod1-edge1", "0000000000000007"));
    assert_eq!(found["dst"], end("pod1-edge2", "pod1-edge2", "0000000000000008"));
    let port = |node: &str, dpid: &str, port: u32| json!({ "node": node, "dpid": dpid, "port": port });
    let (first, middle, last) = ("0000000000000007", "0000000000000005", "0000000000000008");
    let links = json!([
        { "src": port("pod1-edge1", first, 1), "dst": port("pod1-agg1", middle, 1), "parallel": false },
        { "src": port("pod1-agg1", middle, 2), "dst": port("pod1-edge2", last, 1), "parallel": false },
    ]);
    let path = json!({
        "nodes": ["pod1-edge1", "pod1-agg1", "pod1-edge2"], "links": links, "hops": 2, "cost": 2,
        "delay_us": 2_000.0, "rate_bps": 1_000_000_000, "shared_links": 0,
    });
    assert_eq!(found["paths"], json!([path]));
    let nothing = ["max_flow_bps", "spraying", "reason"].map(|key| &found[key]);
    assert_eq!(nothing, [&Value::Null; 3]);
}

#[test]
fn where_the_shortest_path_is_a_trap_two_disjoint_paths_are_found() {
    assert_eq!(
        table("S", "T", TRAP, &["-k", "1"]),
        "#  HOPS  DELAY  RATE    PATH\n1  3     3ms    10Gbit  S > A > B > T\n"
    );
    let expected = "\
#  HOPS  DELAY  RATE    PATH
1  4     16ms   10Gbit  S > A > C > D > T
2  4     7ms    10Gbit  S > E > F > B > T

Their delays differ by 9ms, an imbalance of 0.20: one stream can be spread over them if its packets are resequenced.
";
    assert_eq!(table("S", "T", TRAP, &["--mode", "disjoint"]), expected);
}

#[test]
fn costs_and_what_is_shared_are_columns_where_they_say_something() {
    let shown = table("S", "T", TRAP, &["--mode", "ksp", "-k", "3", "--weight", "latency"]);
    let expected = "\
#  HOPS  COST  DELAY  RATE    SHARED  PATH
1  3     3ms   3ms    10Gbit  0       S > A > B > T
2  4     7ms   7ms    10Gbit  1       S > E > F > B > T
3  4     16ms  16ms   10Gbit  1       S > A > C > D > T
";
    assert!(shown.starts_with(expected), "{shown}");
}

#[test]
fn the_greatest_flow_is_told_with_what_the_paths_carry_of_it() {
    let shown = table("h1", "h128", "fattree:8", &["--mode", "maxflow", "-k", "3"]);
    assert!(
        shown.contains("The greatest flow is 4Gbit; these paths carry 3Gbit: raise -k for more."),
        "{shown}"
    );
    let all = document("h1", "h128", "fattree:8", &["--mode", "maxflow"]);
    let carried: u64 = paths(&all).iter().filter_map(|path| path["rate_bps"].as_u64()).sum();
    assert_eq!((carried, &all["max_flow_bps"]), (4_000_000_000, &json!(4_000_000_000_u64)));
}

#[test]
fn parallel_links_of_a_zoo_network_are_told_apart_by_their_ports() {
    let shown = table("Amsterdam", "Zürich", ZOO, &["--mode", "disjoint"]);
    assert_eq!(shown.lines().filter(|line| line.contains("Amsterdam")).count(), 2, "{shown}");
    let parallel = document("Amsterdam", "Geneva", ZOO, &["--mode", "ksp"]);
    assert_eq!(paths(&parallel)[0]["links"][0]["parallel"], json!(true));
    let shown = table("Amsterdam", "Zürich", ZOO, &["--mode", "ksp", "--without", "Amsterdam--Zürich"]);
    assert!(shown.contains("Amsterdam:1 > ") && shown.contains("Amsterdam:2 > "), "{shown}");
}

#[test]
fn constraints_leave_out_switches_ports_links_and_what_is_slow() {
    let left = |rest: &[&str]| paths(&document("S", "T", TRAP, &[&["--mode", "ksp"], rest].concat())).len();
    assert_eq!(left(&[]), 4);
    assert_eq!(left(&["--without", "A--B"]), 2);
    assert_eq!(left(&["--without", "C"]), 2);
    assert_eq!(left(&["--without", "S:1", "--without", "A--B"]), 1);
    assert_eq!(left(&["--max-latency", "7ms"]), 2);
    assert_eq!(left(&["--min-capacity", "10Gbit"]), 4);
}

#[test]
fn no_path_exits_with_3_and_its_reason() {
    let cases = [
        (&["--without", "S--A", "--without", "S--E"][..], "what is not to be used", "excluded"),
        (&["--without", "T"], "T is where the paths end", "excluded"),
        (&["--without", "S"], "S is where the paths begin", "excluded"),
        (&["--min-capacity", "11Gbit"], "too little capacity", "excluded"),
        (&["--max-latency", "2ms"], "take too long", "latency-exceeded"),
        (&["--mode", "within:2"], "more hops", "hops-exceeded"),
    ];
    for (rest, sentence, word) in cases {
        let command = braid().args(arguments("S", "T", TRAP, rest)).assert().code(3).stdout("");
        command.stderr(starts_with("braid: no path from S to T: ").and(contains(sentence)));
        let found = document("S", "T", TRAP, rest);
        assert_eq!((&found["paths"], &found["reason"]), (&json!([]), &json!(word)), "{rest:?}");
        let code = run(&arguments("S", "T", TRAP, &[rest, &["--json"]].concat())).status.code();
        assert_eq!(code, Some(3));
    }
}

#[test]
fn two_islands_have_no_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("islands.json");
    let nodes = ["a", "b", "c", "d"].map(|id| json!({ "id": id }));
    let links =
        [("a", "b"), ("c", "d")].map(|(source, target)| json!({ "source": source, "target": target }));
    fs::write(&file, json!({ "nodes": nodes, "links": links }).to_string()).unwrap();
    let command = braid().args(["paths", "a", "d", "--topology"]).arg(&file).assert();
    command.code(3).stdout("").stderr(contains("no path from a to d: no links lead there"));
}

#[test]
fn a_name_that_nothing_has_exits_with_3_and_offers_one_that_is_like_it() {
    for (src, dst, rest) in
        [("pod1-egde1", "h1", &[][..]), ("h1", "pod1-egde1", &[]), ("h1", "h2", &["--without", "pod1-egde1"])]
    {
        let command = braid().args(arguments(src, dst, "fattree:4", rest)).assert().code(3).stdout("");
        command.stderr(contains("\"pod1-egde1\"").and(contains("did you mean \"pod1-edge1\"?")));
    }
}

#[test]
fn wrong_values_are_a_wrong_usage_that_says_what_is_right() {
    let cases = [
        (&["-k", "0"][..], "ask for 1 path or more"),
        (&["-k", "4097"], "at most 4096"),
        (&["-k", "-1"], "not a number of paths"),
        (&["--mode", "teleport"], "is not one of shortest, ksp"),
        (&["--mode", "within:many"], "HOPS is a whole number, such as within:4"),
        (&["--mode", "within:"], "HOPS is a whole number, such as within:4"),
        (&["--weight", "length"], "not a weight such as hops"),
        (&["--weight", "-1*hops"], "not a weight such as hops"),
        (&["--max-latency", "10"], "write 10ns, 10us, 10ms or 10s"),
        (&["--max-latency", "-1ms"], "write a number with a unit: ns, us, ms or s"),
        (&["--min-capacity", "much"], "is not a rate: write a number with a unit: bit, kbit, Mbit"),
    ];
    for (rest, sentence) in cases {
        let command = braid().args(arguments("S", "T", TRAP, rest)).assert().code(2).stdout("");
        command.stderr(contains(sentence));
    }
    let command = braid().args(["paths", "1", "2", "--delay", "1ms"]).assert().code(2).stdout("");
    command.stderr(contains("--topology"));
}

#[test]
fn a_network_that_is_not_there_or_is_none_is_refused() {
    let missing = braid().args(arguments("a", "b", "missing.json", &[])).assert().code(3).stdout("");
    missing.stderr(starts_with("braid: missing.json: "));
    braid().args(arguments("a", "b", "fattree:7", &[])).assert().code(2).stdout("");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("network.json");
    fs::write(&file, r#"{"nodes": 7}"#).unwrap();
    let command = braid().args(["paths", "a", "b", "--topology"]).arg(&file).assert().code(2).stdout("");
    command.stderr(contains("network.json:1:"));
}

/// Two stages, each of a direct way that is wide and slow, and one that is narrow and fast.
fn stages(folder: &Path) -> String {
    let file = folder.join("stages.json");
    let nodes = ["S", "a", "b", "M", "c", "d", "T"].map(|id| json!({ "id": id }));
    let wide = [("S", "a"), ("a", "M"), ("M", "c"), ("c", "T")].map(|ends| (ends, "10Gbit", "10ms"));
    let fast = [("S", "b"), ("b", "M"), ("M", "d"), ("d", "T")].map(|ends| (ends, "1Gbit", "1ms"));
    let links = wide.into_iter().chain(fast).map(|((source, target), capacity, delay)| {
        json!({ "source": source, "target": target, "capacity": capacity, "delay": delay })
    });
    let links: Vec<_> = links.collect();
    fs::write(&file, json!({ "nodes": nodes, "links": links }).to_string()).unwrap();
    file.to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn every_mode_finds_a_path_in_time_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let topology = stages(folder.path());
    let delays = |mode: &str, limit: &str| {
        let found = document("S", "T", &topology, &["--mode", mode, "--max-latency", limit]);
        let delays = paths(&found).iter().map(|path| path["delay_us"].as_f64().unwrap() as u64 / 1_000);
        delays.collect::<Vec<_>>()
    };
    assert_eq!(delays("ksp", "25ms").len(), 3);
    assert_eq!(delays("widest", "25ms"), [22]);
    assert_eq!(delays("widest", "40ms"), [40]);
    for mode in ["shortest", "disjoint", "node-disjoint", "maxflow", "widest", "within:4"] {
        assert!(!delays(mode, "4ms").is_empty(), "{mode}");
        assert!(delays(mode, "25ms").iter().all(|delay| *delay <= 25), "{mode}");
        assert!(delays(mode, "3ms").is_empty(), "{mode}");
    }
    let shown = table("S", "T", &topology, &["--mode", "maxflow", "--max-latency", "25ms"]);
    let left_out = "These paths carry 1Gbit; paths that take longer were left out; more may fit in time.";
    assert!(shown.contains(left_out), "{shown}");
}

#[test]
fn a_list_that_goes_on_says_so() {
    let more = "There are more; -k shows up to 4096.\n";
    for mode in ["shortest", "ksp", "within:4"] {
        let cut = ["--mode", mode, "-k", "2"];
        assert!(table("h1", "h16", "fattree:4", &cut).ends_with(more), "{mode}");
        assert_eq!(document("h1", "h16", "fattree:4", &cut)["truncated"], json!(true));
    }
    assert!(!table("h1", "h16", "fattree:4", &["-k", "4"]).contains(more));
    assert_eq!(document("h1", "h16", "fattree:4", &["-k", "4"])["truncated"], json!(false));
}

#[test]
fn of_paths_over_the_same_links_only_the_delays_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    let topology = stages(folder.path());
    let shared = table("S", "T", &topology, &["--mode", "ksp"]);
    let sentence = "too much for one stream over all of them; by their delays alone, it can go over path";
    assert!(shared.contains(sentence) && !shared.contains("gets most"), "{shared}");
    let apart = table("S", "M", &topology, &["--mode", "disjoint"]);
    assert!(
        apart.contains("too much for one stream over all of them; over path 1 alone it gets most."),
        "{apart}"
    );
}

#[test]
fn where_no_delay_is_known_there_is_no_limit_and_no_cost() {
    let limited = arguments("h1", "h16", "fattree:4", &["--max-latency", "1ms"]);
    let command = braid().args(limited).assert().code(2).stdout("");
    command.stderr(contains("no delay is known in this network; leave out max_latency"));
    let shown = table("h1", "h16", "fattree:4", &["--weight", "latency", "-k", "1"]);
    assert!(shown.starts_with("#  HOPS  COST  RATE   PATH\n1  4     -     1Gbit"), "{shown}");
}

#[test]
fn what_an_answer_lacks_is_said_beside_it() {
    let unknown = run(&arguments("h1", "h16", "fattree:4", &["--weight", "latency"]));
    assert!(unknown.status.success());
    assert!(text(&unknown.stderr).contains("warning: the delay of no link is known"));
    let dual = run(&arguments("h1", "h5", "dh-jellyfish:10,6,12", &[]));
    let told = text(&dual.stderr);
    assert!(told.starts_with("braid: warning: h1 is attached to s1 and to "), "{told}");
    let warnings = document("h1", "h5", "dh-jellyfish:10,6,12", &[])["warnings"].clone();
    assert!(warnings[0].as_str().is_some_and(|warning| warning.starts_with("h1 is attached to s1 and to ")));
    let single = run(&arguments("h1", "h16", "fattree:4", &[]));
    assert_eq!(text(&single.stderr), "");
}

#[test]
fn modes_are_known_to_shells() {
    let mut command = braid();
    command.env("BRAID_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "3");
    let output = command.args(["--", "braid", "paths", "--mode", ""]).output().unwrap();
    let completed =
        |kind: &Properties| format!("{}{}", kind.name, if kind.parameter.is_some() { ":" } else { "" });
    let list: Vec<_> = Kind::catalog().map(completed).collect();
    assert_eq!(text(&output.stdout).lines().collect::<Vec<_>>(), list);
}

#[test]
fn paths_of_a_running_controller_are_shown_in_the_same_table() {
    let local = document("S", "T", TRAP, &["--mode", "ksp", "-k", "3", "--weight", "latency"]);
    let mut answer = local.clone();
    answer["now"] = json!(90_000_000_000_u64);
    let url = answer_with("200 OK", answer.to_string());
    let output = run(&["paths", "S", "T", "--controller", &url]);
    let expected = table("S", "T", TRAP, &["--mode", "ksp", "-k", "3", "--weight", "latency"]);
    assert_eq!(text(&output.stdout), expected);
    let printed = &lines(&run(&["paths", "S", "T", "--json", "--controller", &url]))[0];
    assert_eq!(printed, &answer);
}

#[test]
fn a_controller_that_does_not_know_a_switch_or_a_path_is_exit_3() {
    let controller = Controller::start();
    let _switches = [7, 8].map(|dpid| connect_switch(controller.openflow, braid_types::DatapathId(dpid)));
    let ask = |dst: &str, rest: &[&str]| {
        run(&[&["paths", "7", dst, "--controller", &controller.http], rest].concat())
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !text(&ask("8", &[]).stderr).contains("no path from 7 to 8") {
        assert!(std::time::Instant::now() < deadline, "{:?}", ask("8", &[]));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(ask("8", &[]).status.code(), Some(3));
    let unknown = ask("10.0.0.9", &["--without", "8"]);
    assert_eq!((unknown.status.code(), text(&unknown.stdout)), (Some(3), String::new()));
    assert_eq!(text(&unknown.stderr), "braid: no host 10.0.0.9 has been seen\n");
    let itself = ask("0x7", &["--weight", "10*hops+latency"]);
    assert_eq!(text(&itself.stdout), "#  HOPS  COST  DELAY  PATH\n1  0     0     0s     7\n");
}
