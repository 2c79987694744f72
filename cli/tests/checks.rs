//! Mistakes are found before anything is made.

mod support;

use std::fs;
use std::path::Path;

use predicates::str::contains;
use support::{braid, text};

const PAIR: &str = "scenario: pair
topology:
  hosts:
  - {name: a, interfaces: [{name: eth0, addresses: [10.0.0.1/24]}], congestion_control: reno}
  - {name: b, interfaces: [{name: eth0, addresses: [10.0.0.2/24]}]}
  switches: [s]
  links:
  - {between: [a.eth0, s], rate: 10Mbit}
  - {between: [b.eth0, s], rate: 10Mbit}
traffic:
  tool: iperf3
  modes: [tcp]
  directions: [{from: a, to: b}]
  duration: 30s
variants:
- {name: one}
- name: two
";

const TOWNS: &str = r#"{"nodes": [{"id": "Bern"}, {"id": "Genf"}],
    "links": [{"source": "Bern", "target": "Genf", "capacity": "10Mbit"}]}"#;

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, content)| fs::write(folder.path().join(name), content).unwrap());
    folder
}

fn check(kind: &str, file: &Path) -> (Option<i32>, String) {
    let output = braid().arg(kind).arg("check").arg(file).output().unwrap();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn options_and_policies_of_variants_are_checked_with_the_file() {
    for (more, said) in [
        ("  controller: {weight: hops}\n", "valid; 2 hosts, 1 switches, 2 links, 2 transfers"),
        ("  controller: {wieght: hops}\n", "variants[1] \"two\", controller.wieght: "),
        ("  controller: {wieght: hops}\n", "'--weight'"),
        ("  controller: {weight: fast}\n", "variants[1] \"two\", controller.weight: "),
        ("  controller: {parallel: 99}\n", "controller.parallel: "),
        ("  controller: {rebalance-limit: many, weight: hops}\n", "controller.rebalance-limit: "),
        ("  policy: \"nonsense = 1\"\n", "variants[1] \"two\", policy: "),
    ] {
        let folder = folder_with(&[("pair.yaml", &format!("{PAIR}{more}"))]);
        let (code, printed) = check("lab", &folder.path().join("pair.yaml"));
        let is_valid = said.starts_with("valid");
        assert_eq!(code, Some(if is_valid { 0 } else { 2 }), "{more}{printed}");
        assert!(printed.contains(said) && !printed.contains("Usage:"), "{more}{printed}");
        if !is_valid {
            let run = braid().args(["lab", "run"]).arg(folder.path().join("pair.yaml")).output().unwrap();
            assert_eq!(run.status.code(), Some(2), "{}", text(&run.stderr));
        }
    }
}

#[test]
fn words_of_the_parser_do_not_reach_users() {
    let folder = folder_with(&[("pair.yaml", &PAIR.replace("modes: [tcp]", "modes: [sctp]"))]);
    let (code, printed) = check("lab", &folder.path().join("pair.yaml"));
    assert_eq!(code, Some(2));
    assert!(printed.contains("there is no value \"sctp\": write tcp, mptcp, udp or quic"), "{printed}");
}

#[test]
fn every_shipped_scenario_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|it| it == "yaml")).collect();
    braid().args(["lab", "check"]).args(&files).assert().success();
}

#[test]
fn several_files_are_all_checked() {
    let folder = folder_with(&[("good.json", TOWNS), ("bad.json", "{\"nodes\": 7}")]);
    let [good, bad] = ["good.json", "bad.json"].map(|name| folder.path().join(name));
    let checked = braid().args(["topology", "check"]).args([&bad, &good]).assert().code(2);
    checked.stdout(contains("good.json: valid; 2 switches, 1 links, 0 hosts")).stderr(contains("bad.json"));
    let studies = folder_with(&[("study.yaml", "simulation: x\ncolour: red\n")]);
    let (code, printed) = check("sim", &studies.path().join("study.yaml"));
    assert!(code == Some(2) && printed.contains("there is no key \"colour\" here"), "{printed}");
}

#[test]
fn a_dry_run_says_what_would_be_built_without_root() {
    let folder = folder_with(&[("pair.yaml", PAIR)]);
    let output =
        braid().args(["lab", "run", "--dry-run"]).arg(folder.path().join("pair.yaml")).output().unwrap();
    let shown = text(&output.stdout);
    assert!(
        output.status.success() && shown.starts_with("lab pair: 2 hosts, 1 switches, 2 links"),
        "{shown}"
    );
    for part in ["10.0.0.2/24", "a.eth0", "10Mbit", "send for 1 min"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn any_network_is_a_lab_once_it_has_hosts() {
    let folder = folder_with(&[("towns.json", TOWNS)]);
    let deploy = |more: &[&str]| {
        let file = folder.path().join("towns.json");
        braid().args(["lab", "deploy", "--dry-run", "--json"]).arg(file).args(more).output().unwrap()
    };
    let made = deploy(&["--hosts", "Genf,Bern"]);
    assert!(text(&made.stdout).contains(r#""hosts":2,"#) && made.status.success(), "{}", text(&made.stderr));
    assert!(text(&made.stderr).contains("genf (Genf)"), "{}", text(&made.stderr));
    for (more, said) in [(&[][..], "give --hosts"), (&["--hosts", "Rom"], "no switch \"Rom\"")] {
        let output = deploy(more);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
    let generated = ["lab", "deploy", "ring:6", "--hosts", "3", "--rate", "50Mbit", "--dry-run"];
    braid().args(generated).assert().success().stdout(contains("3 hosts, 6 switches, 9 links"));
}
