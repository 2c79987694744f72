//! The problems of invalid scenario files.

use std::fmt::Write;

use braid_lab::Scenario;

const GOOD: &str = include_str!("pair.yaml");
const SITES: &str = include_str!("sites.yaml");

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
    ("      congestion_control: reno\n", ""),
    ("[s, t@0x10]", "[s, t@1]"),
    ("[s, t@0x10]", "[s, t@zero]"),
    ("[s, t@0x10]", "[s@0, t]"),
    ("between: [s, t]", "between: [s, u]"),
    ("between: [s, t]", "between: [s, a]"),
    ("between: [s, t]", "between: [s, a.eth9]"),
    ("between: [s, t]", "between: [s, s]"),
    ("between: [s, t]", "tunnel: vxlan, between: [s, a.eth1]"),
    ("tool: iperf3", "cost: true\n  requests: [{ from: a, to: b }]\n  tool: iperf3"),
    ("between: [s, t]", "between: [s]"),
    ("between: [s, t]", "between: [s, a.eth1]"),
    ("between: [a.eth1, s]", "between: [a.eth1, b.eth1]"),
    ("    - { between: [a.eth2, s], rate: 100Mbit }\n", ""),
    ("rate: 100Mbit }\ntraffic", "rate: 0Mbit }\ntraffic"),
    ("rate: 100Mbit }\ntraffic", "rate: fast }\ntraffic"),
    ("rate: 100Mbit }\ntraffic", "speed: 100Mbit }\ntraffic"),
    ("reverse_rate: 10Mbit", "reverse_rate: 0"),
    ("queue_bytes: 30000", "queue_bytes: 100"),
    ("queue_bytes: 30000", "queue_bytes: 30000, queue: 20 packets"),
    ("queue_bytes: 30000", "queue: 100"),
    ("queue_bytes: 30000", "queue: 0 packets"),
    ("queue_bytes: 30000", "reverse: { rate: 1Mbit }"),
    ("queue_bytes: 30000", "reverse: { colour: red }"),
    ("queue_bytes: 30000", "delay: 20"),
    ("queue_bytes: 30000", "delay: 61s"),
    ("queue_bytes: 30000", "delay: 2ms, jitter: 5ms"),
    ("queue_bytes: 30000", "delay: 5ms, jitter: 5ms, reverse: { delay: 2ms }"),
    ("queue_bytes: 30000", "loss: 0.5"),
    ("queue_bytes: 30000", "loss: 101%"),
    ("queue_bytes: 30000", "loss: 1%, loss_burst: 0"),
    ("queue_bytes: 30000", "loss: 90%, loss_burst: 2"),
    ("queue_bytes: 30000", "distribution: pareto"),
    ("tool: iperf3", "tool: netperf"),
    ("tool: iperf3", "tool: iperf3\n  bytes: 1MB"),
    ("tool: iperf3", "tool: copy"),
    ("tool: iperf3", "tool: copy\n  bytes: 0MB"),
    ("tool: iperf3", "tool: copy\n  bytes: 1MB\n  streams: 2"),
    ("tool: iperf3", "tool: []"),
    ("tool: iperf3", "tool: [iperf3, http]"),
    ("tool: iperf3", "tool: [iperf3, netperf]\n  bytes: 1MB"),
    ("tool: iperf3", "tool: http\n  bytes: [1MB, much]"),
    ("tool: iperf3", "tool: [http, ftp]\n  bytes: 1MB\n  warm_up: 2s"),
    ("tool: iperf3\n  modes: [tcp]", "tool: ftp\n  bytes: 1MB\n  modes: [tcp, mptcp]"),
    ("tool: iperf3\n  modes: [tcp]", "tool: http3\n  bytes: 1MB\n  modes: [tcp, quic]"),
    ("modes: [tcp]", "modes: [quic]"),
    (
        "tool: iperf3\n  modes: [tcp]\n  directions: [{ from: a, to: b }]",
        "tool: http3\n  bytes: 1MB\n  modes: [quic]\n  directions: [{ from: a, to: b, mode: tcp }]",
    ),
    ("mode: tcp, at", "tool: http, bytes: 1MB, at"),
    ("value: goodput_bps", "value: intact"),
    ("at: 5s", "at: soon"),
    ("at: 5s", "at: 10s"),
    ("link: [s, t]", "link: [s, u]"),
    ("link: [s, t]", "link: [s]"),
    ("link: [s, t]", "link: [a, s]"),
    ("link: [s, t]", "link: [a, s], nth: 3"),
    ("link: [s, t]", "link: [a.eth1, s], nth: 0"),
    ("do: cut", "do: explode"),
    ("do: cut", "do: cut, set: { rate: 1Mbit }"),
    ("do: cut", "nth: 1"),
    ("do: cut", "do: kill"),
    ("link: [s, t], do: cut", "controller: leader, do: kill"),
    ("link: [s, t], do: cut", "controller: everybody, do: kill"),
    ("link: [s, t], do: cut", "do: cut"),
    ("link: [s, t], do: cut", "link: [s, t], controller: leader, do: cut"),
    ("scenario: pair", "scenario: pair\ncontrollers: 0"),
    ("scenario: pair", "scenario: pair\ncontrollers: 300"),
    ("value: goodput_bps", "value: leader_changes"),
    ("do: cut", "set: { rate: 0 }"),
    ("do: cut", "reverse: { loss_burst: 0 }"),
    ("do: cut", "set: { speed: 1Mbit }"),
    ("modes: [tcp]", "modes: []"),
    ("modes: [tcp]", "modes: [udp]"),
    ("modes: [tcp]", "modes: [mptcp]"),
    ("[{ from: a, to: b }]", "[]"),
    ("to: b }]", "to: c }]"),
    ("to: b }]", "to: a }]"),
    ("to: b }]", "to: b, mode: udp }]"),
    ("to: b }]", "to: b, mode: udp, rate: 1kbit }]"),
    ("to: b }]", "to: b, rate: 1Mbit }]"),
    ("to: b }]", "to: b, tool: copy, streams: 0 }]"),
    ("to: b }]", "to: b, tool: gridftp, mode: mptcp }]"),
    ("to: b }]", "to: b, mode: quic }]"),
    ("10.0.1.2/24", "2001:db8::2/64"),
    ("duration: 10s", "duration: 10"),
    ("duration: 10s", "duration: 1s"),
    ("duration: 10s", "duration: 10s\n  streams: 0"),
    (", at_least: 9e7", ""),
    ("at_least: 9e7", "at_least: 1, at_most: 2"),
    ("value: goodput_bps", "value: loudness"),
    ("mode: tcp, at", "variant: slow, at"),
    ("mode: tcp, at", "relative_to: slow, at"),
    ("mode: tcp, at", "relative_to_from: b, at"),
    ("mode: tcp, at", "relative_to_mode: tcp, relative_to_from: a, at"),
    (
        "to: b }]\n  duration: 10s\nevents:\n  - { at: 5s, link: [s, t], do: cut }\nexpect:\n  - { name: fast,",
        "to: b, mode: udp, rate: 1Mbit }, { from: b, to: a }]\n  duration: 10s\nexpect:\n  - { name: fast, from: a,",
    ),
    ("events:", "variants: [{ controller: { rebalance-limit: 0 } }]\nevents:"),
    ("events:", "variants: [{ name: a }, { name: a }, { name: \" \" }]\nevents:"),
    (
        "events:",
        "variants: [{ name: a, controller: { http: 1, --rebalance-limit: 2, Rebalance-Limit: x } }]\nevents:",
    ),
    ("events:", "variants: [{ name: a, controller: { rebalance-limit: [1] } }]\nevents:"),
    ("duration: 10s", "duration: 10s\n  background: [{ from: a, to: c }]"),
    ("duration: 10s", "duration: 10s\n  background: [{ from: a, to: a, streams: 0, rate: 0 }]"),
    ("duration: 10s", "duration: 10s\n  streams: []"),
    ("duration: 10s", "duration: 10s\n  streams: [1, 200]"),
    ("duration: 10s", "duration: 10s\n  streams: many"),
    ("duration: 10s", "duration: 10s\n  repeat: 0"),
    ("duration: 10s", "duration: 10s\n  warm_up: 61s"),
    ("duration: 10s", "duration: 10s\n  permutation: 1"),
    ("directions: [{ from: a, to: b }]", "simultaneous: true"),
    ("value: goodput_bps", "value: background_share"),
    ("events:", "variants: [{ name: a, modes: [mptcp] }]\nevents:"),
    ("events:", "variants: [{ name: a, modes: [] }]\nevents:"),
    ("events:", "variants: [{ name: a, subflows: 9, congestion_control: \"a b\" }]\nevents:"),
    ("events:", "variants: [{ name: a, controller: { rebalance-limit: 1 }, rules: { u: [] } }]\nevents:"),
    (
        "events:",
        "captures: [{ host: c, packets: all }, { host: a, packets: all }, { host: a, packets: mptcp }]\nevents:",
    ),
    ("events:", "captures: [{ host: a, packets: some }]\nevents:"),
    ("name: eth2,", "name: eth2, mtu: 10000,"),
    ("subflows: 1", "subflows: 1\n        path_manager: agent"),
    ("subflows: 1", "subflows: 1\n        path_manager: nobody"),
    ("name: a\n", "name: a\n      receive_buffer: 1kB\n"),
    ("events:", "variants: [{ name: a, policy: x, controller: { policy: p.toml } }]\nevents:"),
    ("events:", "variants: [{ name: a, policy: x, rules: { s: [] } }]\nevents:"),
    ("events:", "variants: [{ name: a, agents: managed, rules: { s: [] } }]\nevents:"),
    (
        "switches: [s, t@0x10]",
        "generate: { network: fattree:4, link: { rate: 1Mbit } }\n  switches: [s, t@0x10]",
    ),
];

/// What is changed in `GOOD` with several controllers, and into what.
const BAD_CLUSTERS: &[(&str, &str)] = &[
    ("link: [s, t], do: cut", "controller: leader"),
    ("link: [s, t], do: cut", "controller: leader, do: restore"),
    ("link: [s, t], do: cut", "controller: leader, do: kill, nth: 2"),
    ("link: [s, t], do: cut", "controller: standby, do: hand-over"),
    (
        "  - { at: 5s, link: [s, t], do: cut }",
        "  - { at: 5s, controller: leader, do: kill }\n  - { at: 6s, controller: standby, do: stop }",
    ),
    ("events:", "variants: [{ name: a, controller: { cluster-name: b } }]\nevents:"),
    (
        "events:\n  - { at: 5s, link: [s, t], do: cut }",
        "variants: [{ name: a, rules: { s: [] } }]\nevents:\n  - { at: 5s, controller: leader, do: kill }",
    ),
];

#[test]
fn problems_of_clusters_name_their_place_and_a_remedy() {
    let good = GOOD.replacen("scenario: pair", "scenario: pair\ncontrollers: 2", 1);
    let mut report = String::new();
    for (from, to) in BAD_CLUSTERS {
        assert!(good.contains(from), "{from:?}");
        let error = Scenario::parse(&good.replacen(from, to, 1), "bad.yaml").expect_err(to);
        writeln!(report, "{from:?} -> {to:?}\n{error}\n").unwrap();
    }
    insta::assert_snapshot!(report);
}

/// What is changed in `SITES`, and into what.
const BAD_SITES: &[(&str, &str)] = &[
    ("    - { name: branch, addresses: [10.2.1.1/24, 10.2.2.1/24] }\n", ""),
    ("name: branch, addresses: [10.2.1.1/24, 10.2.2.1/24]", "name: branch, addresses: [10.2.1.1/24]"),
    ("name: branch, addresses: [10.2.1.1/24, 10.2.2.1/24]", "name: branch, address: 10.2.1.1/24"),
    ("name: branch", "name: left"),
    ("10.2.2.1/24] }", "10.3.2.1/24] }"),
    ("10.2.2.1/24] }", "10.1.2.1/24] }"),
    ("10.2.2.1/24] }", "203.0.113.129/25] }"),
    ("10.2.2.1/24] }", "\"fd00::1/64\"] }"),
    ("interfaces: [{ name: eth0, addresses: [10.1", "interfaces: [{ name: eth0, mtu: 9000, addresses: [10.1"),
    ("between: [left.eth0, office]", "between: [left.eth0, s]"),
    ("between: [left.eth0, office]", "between: [left, office]"),
    ("between: [left.eth0, office]", "between: [left.eth0, right.eth0]"),
    ("between: [office, branch]", "between: [office.lan, branch.lan]"),
    ("between: [office, branch]", "between: [office, office]"),
    (
        "    - { between: [office, branch], rate: 20Mbit, delay: 5ms }\n    - { between: [branch, office], rate: 10Mbit, delay: 10ms, queue: 200 packets }\n",
        "",
    ),
    ("  sites:", "  switches: [s]\n  sites:"),
    ("scenario: sites", "scenario: sites\ntls: true\ncontrollers: 3"),
    ("lines: [1]", "lines: [3]"),
    ("lines: [1]", "lines: [1, 1]"),
    ("lines: [1]", "lines: []"),
    ("lines: [1]", "lines: first"),
    ("lines: [1]", "policy: \"\", agents: managed"),
    ("directions: [{ from: left, to: right }]", "directions: [{ from: left, to: branch }]"),
    ("directions: [{ from: left, to: right }]", "permutation: 1"),
    ("best_of: [first, second]", "best_of: [first, third]"),
    ("best_of: [first, second]", "best_of: []"),
    ("best_of: [first, second]", "worst_of: [first]"),
    ("best_of: [first, second]", "best_of: [first], published_of: [second, third]"),
    ("at_least: 1.1", "at_least: 1.1\n    profiles: 1"),
    ("  duration: 2s", "  duration: 2s\n  average: modus"),
    ("  duration: 2s", "  duration: 2s\n  congestion_control: []"),
    ("  duration: 2s", "  duration: 2s\n  congestion_control: [cubic, cubic, \"a b\"]"),
    ("name: first,", "name: first, congestion_control: cubic,"),
    (
        "  duration: 2s",
        "  duration: 2s\n  requests: [{ from: left, to: right, port: 5201 }, { from: left, to: left, port: 53 }]",
    ),
    (
        "variants:",
        "profiles: [{ name: a, lines: [{ rate: 1Mbit }] }, { name: a, lines: [{ jitter: 6ms }, { rate: 0 }] }]\nvariants:",
    ),
    ("value: goodput_bps", "value: request_p99_over_idle"),
];

#[test]
fn problems_of_sites_name_their_place_and_a_remedy() {
    let mut report = String::new();
    for (from, to) in BAD_SITES {
        assert!(SITES.contains(from), "{from:?}");
        let mut text = SITES.replacen(from, to, 1);
        if from.starts_with("name: first") {
            text = text.replacen("  duration: 2s", "  duration: 2s\n  congestion_control: bbr", 1);
        }
        let error = Scenario::parse(&text, "bad.yaml").expect_err(to);
        writeln!(report, "{from:?} -> {to:?}\n{error}\n").unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn only_sites_have_lines_and_profiles() {
    let variant = "variants: [{ name: a, lines: [1], tunnel: false }]\nprofiles: [{ name: p, lines: [{ rate: 1Mbit }] }]\nevents:";
    let error = Scenario::parse(&GOOD.replacen("events:", variant, 1), "bad.yaml").unwrap_err();
    insta::assert_snapshot!(error);
}

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
