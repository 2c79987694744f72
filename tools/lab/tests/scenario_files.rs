//! What scenario files are accepted, and what is said about those that are not.

use std::fmt::Write;
use std::path::Path;

use braid_lab::Scenario;
use braid_types::BitsPerSec;

const GOOD: &str = "\
scenario: pair
topology:
  hosts:
    - name: a
      interfaces:
        - { name: eth1, addresses: [10.0.1.1/24] }
        - { name: eth2, addresses: [10.0.2.1/24] }
      mptcp:
        subflows: 1
        endpoints:
          - { address: 10.0.2.1, flags: [subflow] }
    - name: b
      interfaces:
        - { name: eth1, addresses: [10.0.1.2/24] }
  switches: [s, t@0x10]
  links:
    - { between: [a.eth1, s], rate: 100Mbit }
    - { between: [a.eth2, s], rate: 100Mbit }
    - { between: [b.eth1, t], rate: 1Gbit, rate_back: 10Mbit, queue_bytes: 30000 }
    - { between: [s, t], rate: 100Mbit }
traffic:
  tool: iperf3
  modes: [tcp]
  directions: [{ from: a, to: b }]
  duration: 10s
expect:
  - { name: fast, value: goodput_bps, mode: tcp, at_least: 9e7 }
";

/// What is changed in `GOOD`, and into what.
const BAD: &[(&str, &str)] = &[
    ("topology:", "topology: ["),
    ("scenario: pair", "scenario: Pair One"),
    ("scenario: pair", "scenario: pair\nscenario: again"),
    ("scenario: pair\n", ""),
    ("scenario: pair", "scenario: pair\ncolour: red"),
    ("mptcp:\n        subflows: 1", "mptcp:\n        subflow: 1"),
    ("name: b\n", "name: a\n"),
    ("name: b\n", "name: s\n"),
    ("name: eth2,", "name: eth1,"),
    ("name: eth2,", "name: a-very-long-name0,"),
    ("name: eth2,", "name: lo,"),
    ("10.0.2.1/24", "10.0.1.2/24"),
    ("10.0.2.1/24", "10.0.2.1"),
    ("10.0.2.1/24", "224.0.0.1/24"),
    ("subflows: 1", "subflows: 9"),
    ("subflows: 1", "subflows: many"),
    ("address: 10.0.2.1", "address: 10.0.9.9"),
    ("flags: [subflow]", "flags: []"),
    ("flags: [subflow]", "flags: [signal, fullmesh]"),
    ("flags: [subflow]", "flags: [sideways]"),
    ("name: b\n", "name: b\n      congestion_control: \"reno; reboot\"\n"),
    ("[s, t@0x10]", "[s, t@1]"),
    ("[s, t@0x10]", "[s, t@zero]"),
    ("[s, t@0x10]", "[s@0, t]"),
    ("between: [s, t]", "between: [s, u]"),
    ("between: [s, t]", "between: [s, a]"),
    ("between: [s, t]", "between: [s, a.eth9]"),
    ("between: [s, t]", "between: [s, s]"),
    ("between: [s, t]", "between: [s]"),
    ("between: [s, t]", "between: [s, a.eth1]"),
    ("between: [a.eth1, s]", "between: [a.eth1, b.eth1]"),
    ("    - { between: [a.eth2, s], rate: 100Mbit }\n", ""),
    ("rate: 100Mbit }\ntraffic", "rate: 0Mbit }\ntraffic"),
    ("rate: 100Mbit }\ntraffic", "rate: fast }\ntraffic"),
    ("rate: 100Mbit }\ntraffic", "speed: 100Mbit }\ntraffic"),
    ("rate_back: 10Mbit", "rate_back: 0"),
    ("queue_bytes: 30000", "queue_bytes: 100"),
    ("tool: iperf3", "tool: netperf"),
    ("modes: [tcp]", "modes: []"),
    ("modes: [tcp]", "modes: [udp]"),
    ("modes: [tcp]", "modes: [mptcp]"),
    ("[{ from: a, to: b }]", "[]"),
    ("to: b }]", "to: c }]"),
    ("to: b }]", "to: a }]"),
    ("10.0.1.2/24", "2001:db8::2/64"),
    ("duration: 10s", "duration: 10"),
    ("duration: 10s", "duration: 1s"),
    ("duration: 10s", "duration: 10s\n  streams: 0"),
    (", at_least: 9e7", ""),
    ("at_least: 9e7", "at_least: 1, at_most: 2"),
    ("value: goodput_bps", "value: loudness"),
];

#[test]
fn every_problem_names_its_place_and_a_remedy() {
    let mut report = String::new();
    for (from, to) in BAD {
        assert!(GOOD.contains(from), "{from:?}");
        let error = Scenario::parse(&GOOD.replacen(from, to, 1), "bad.yaml").expect_err(to);
        writeln!(report, "{from:?} -> {to:?}\n{error}\n").unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn all_problems_are_found_at_once_in_the_order_of_the_file() {
    let text = GOOD.replace("to: b", "to: c").replace("[s, t]", "[s, u]").replace("rate: 1Gbit", "rate: 0");
    let error = Scenario::parse(&text, "bad.yaml").unwrap_err();
    let lines: Vec<_> = error.problems.iter().map(|problem| problem.at.unwrap().0).collect();
    assert_eq!(lines, [19, 20, 24]);
}

#[test]
fn a_missing_file_is_a_problem_of_the_scenario() {
    let error = Scenario::load(Path::new("/nowhere/at-all.yaml")).unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/at-all.yaml: cannot be read: "), "{error}");
}

#[test]
fn rates_and_datapath_ids_are_as_written() {
    let scenario = Scenario::parse(GOOD, "good.yaml").unwrap();
    assert_eq!(scenario.topology.links[2].rates, [BitsPerSec(1_000_000_000), BitsPerSec(10_000_000)]);
    assert_eq!(scenario.topology.switches.iter().map(|switch| switch.dpid.0).collect::<Vec<_>>(), [1, 0x10]);
}

#[test]
fn the_shipped_scenarios_are_valid_and_their_paths_add_up() {
    for name in ["ams-gva", "two-paths"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.yaml"));
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.name, name);
        for [from, to] in [[0, 1], [1, 0]] {
            assert_eq!(scenario.topology.capacity(from, to), BitsPerSec(200_000_000));
        }
    }
}

#[test]
fn the_example_of_the_documentation_is_valid() {
    let page = include_str!("../../../docs/scenarios.md");
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let scenario = Scenario::parse(example, "docs/scenarios.md").unwrap();
    assert_eq!(scenario.topology.links.len(), 3);
}
