//! `braid sim`: studies from files and presets.

mod support;

use std::fs;

use predicates::str::contains;
use serde_json::Value;
use support::{braid, run, text};

const SMALL: &str = "
simulation: small
network: fattree:4
rate: 10Mbit
queue: 20 packets
control: lia
warm_up: 200ms
measured: 500ms
seeds: 2
subflows: [1, 2]
methods:
  - { name: M, scheme: disjoint:2/fewest-shared, paper: { permutation: [50, 90] } }
expect:
  - { name: two are better than none, value: mean, method: M, pattern: permutation, subflows: 2, at_least: LIMIT }
";

/// A study in a file, which expects so much.
fn study(limit: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, SMALL.replace("LIMIT", limit)).unwrap();
    file
}

const LINE: &str = r#"{"name": "three towns", "nodes": [{"id": "A"}, {"id": "B"}, {"id": "C"}],
    "links": [{"source": "A", "target": "B", "capacity": "10Mbit", "delay": "1ms"},
              {"source": "B", "target": "C", "capacity": "5Mbit", "delay": "1ms"}]}"#;

#[test]
fn the_network_of_a_file_takes_the_place_of_the_study_s() {
    let (file, folder) = (study("0.1"), tempfile::tempdir().unwrap());
    let network = folder.path().join("towns.json");
    fs::write(&network, LINE).unwrap();
    let [study, network] = [file.path(), network.as_path()].map(|path| path.to_str().unwrap());
    let output = run(&["sim", "run", study, "--network", network, "--hosts", "A,C", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["expectations"], serde_json::json!([]), "they are about another network");
    for row in report["rows"].as_array().unwrap() {
        assert_ne!(row["network"], "fattree:4");
        assert_eq!(row["paper"], Value::Null);
        let goodput = row["goodput"].as_f64().unwrap();
        // In half a second, what waited in a queue before counts, too.
        assert!((3e6..6e6).contains(&goodput), "the slower link limits: {row}");
    }
    let graphml = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/topology/testdata/zoo.graphml");
    let output = run(&["sim", "run", study, "--network", graphml, "--hosts", "2", "--seeds", "1", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn networks_that_cannot_be_simulated_are_refused() {
    let file = study("0.1");
    let path = file.path().to_str().unwrap();
    let preset = "vanderpol-convergence";
    for (arguments, reason) in [
        (&["run", path, "--network", "ring:4"][..], ""),
        (&["run", path, "--hosts", "4"], "are for --network"),
        (&["run", "--preset", preset, "--network", "ring:4"], "has its own network"),
        (&["run", path, "--network", "/nowhere.json"], "/nowhere.json"),
        (&["run", path, "--network", "line:3", "--hosts", "x"], "no switch \"x\""),
    ] {
        let output = run(&[&["sim"], arguments].concat());
        assert_eq!(output.status.success(), reason.is_empty(), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(reason), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn study_is_run_and_shown_in_every_form() {
    let (file, folder) = (study("0.1"), tempfile::tempdir().unwrap());
    let [csv, svg] = ["rows.csv", "ranks.svg"].map(|name| folder.path().join(name));
    let path = file.path().to_str().unwrap();
    let (csv_name, svg_name) = (csv.to_str().unwrap(), svg.to_str().unwrap());
    let output =
        run(&["sim", "run", path, "--json", "--csv", csv_name, "--svg", svg_name, "--svg-subflows", "2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["schema"], &report["ok"]), (&"braid/v1".into(), &true.into()));
    assert_eq!(report["rows"].as_array().unwrap().len(), 2);
    assert_eq!(report["rows"][1]["ranked"].as_array().unwrap().len(), 16);
    assert!(report["rows"][1]["mean"].as_f64() > report["rows"][0]["mean"].as_f64());
    assert_eq!(fs::read_to_string(csv).unwrap().lines().count(), 3);
    assert!(fs::read_to_string(svg).unwrap().starts_with("<svg"));
}

#[test]
fn threads_change_nothing() {
    let file = study("0.1");
    let rows = |threads: &str| {
        let output = run(&["sim", "run", file.path().to_str().unwrap(), "--json", "--threads", threads]);
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["rows"].clone()
    };
    assert_eq!(rows("1"), rows("3"));
}

#[test]
fn a_reader_of_the_progress_that_goes_stops_nothing() {
    let file = study("0.1");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = std::process::Command::new(braid().get_program());
    command.args(["-vv", "sim", "run", "--json"]).arg(file.path()).stderr(writer);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_not_met_ends_with_5_and_what_makes_no_sense_with_2() {
    let file = study("1.1");
    braid()
        .args(["sim", "run"])
        .arg(file.path())
        .assert()
        .code(5)
        .stderr(contains("not met: two are better"));
    for (arguments, message) in [
        (vec!["sim", "run"], "required"),
        (vec!["sim", "run", "--preset", "nonsense"], "there is no preset \"nonsense\""),
        (vec!["sim", "run", "--preset", "zannettou-fattree", "--seeds", "0"], "0 is not in"),
        (vec!["sim", "run", "--preset", "zannettou-fattree", "--measured", "-1"], "unexpected argument"),
        (vec!["sim", "run", "--preset", "zannettou-fattree", "--control", "tcp"], "no congestion control"),
    ] {
        braid().args(arguments).assert().code(2).stderr(contains(message));
    }
    braid().args(["sim", "run", "/nowhere.yaml"]).assert().code(3).stderr(contains("cannot be read"));
}

#[test]
fn run_that_would_not_fit_is_refused_before_it_starts() {
    let file = study("0.1");
    let huge = SMALL.replace("LIMIT", "0.1").replace("20 packets", "9000000000000 packets");
    fs::write(&file, huge).unwrap();
    braid().args(["sim", "run"]).arg(file.path()).assert().code(4).stderr(contains("the run needs up to"));
}

#[test]
fn presets_are_listed() {
    let output = run(&["sim", "presets"]);
    assert!(text(&output.stdout).contains("zannettou-fattree"), "{}", text(&output.stdout));
}

#[test]
fn scenario_of_the_lab_is_simulated_without_a_lab() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/two-paths.yaml");
    let output = run(&["sim", "compare", path, "--simulator-only", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let of = |mode: &str| {
        let rows = rows.iter().filter(move |row| row["mode"] == mode);
        rows.map(|row| row["simulator_bps"].as_f64().unwrap() / 1e6).collect::<Vec<_>>()
    };
    let within = |rates: Vec<f64>, range: std::ops::Range<f64>| {
        rates.len() == 2 && rates.iter().all(|it| range.contains(it))
    };
    assert!(within(of("tcp"), 85.0..96.0) && within(of("mptcp"), 170.0..190.0), "{rows:?}");
}

#[test]
fn what_the_simulator_does_not_know_of_scenarios_is_refused() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/link-failure.yaml");
    braid()
        .args(["sim", "compare", path, "--simulator-only"])
        .assert()
        .code(2)
        .stderr(contains("of iperf3 and gridftp alone"));
}

#[test]
fn variant_that_the_simulator_cannot_follow_is_refused_by_its_key_and_others_are_simulated() {
    let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    let scenario = "{ scenario: small, topology: { hosts: [{ name: a, interfaces: [{ name: e0, addresses: [10.0.0.1/24] }], congestion_control: reno },
        { name: b, interfaces: [{ name: e0, addresses: [10.0.0.2/24] }] }], switches: [s], links: [
        { between: [a.e0, s], rate: 10Mbit }, { between: [b.e0, s], rate: 10Mbit }] },
        traffic: { tool: iperf3, modes: [tcp], directions: [{ from: a, to: b }], duration: 2s },
        variants: [{ name: plain }, { name: by latency, controller: { weight: latency } }] }";
    fs::write(&file, scenario).unwrap();
    let path = file.path().to_str().unwrap();
    let output = run(&["sim", "compare", path, "--simulator-only", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("variant \"by latency\": controller.weight"),
        "{}",
        text(&output.stderr)
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["refused"][0]["key"], "controller.weight");
    assert_eq!(report["rows"].as_array().unwrap().len(), 1);
    fs::write(&file, scenario.replace("{ name: plain }, ", "")).unwrap();
    braid()
        .args(["sim", "compare", path, "--simulator-only"])
        .assert()
        .code(2)
        .stderr(contains("controller.weight"));
}
