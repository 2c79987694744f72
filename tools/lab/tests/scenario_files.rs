//! Accepted scenario files, and the problems of invalid ones.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use braid_lab::Scenario;
use braid_lab::scenario::LinkAction;
use braid_types::BitsPerSec;

const GOOD: &str = "\
scenario: pair
topology:
  hosts:
    - name: a
      congestion_control: reno
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
    - { between: [b.eth1, t], rate: 1Gbit, reverse_rate: 10Mbit, queue_bytes: 30000 }
    - { between: [s, t], rate: 100Mbit }
traffic:
  tool: iperf3
  modes: [tcp]
  directions: [{ from: a, to: b }]
  duration: 10s
events:
  - { at: 5s, link: [s, t], do: cut }
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
    ("      congestion_control: reno\n", ""),
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
    ("do: cut", "set: { rate: 0 }"),
    ("do: cut", "reverse: { loss_burst: 0 }"),
    ("do: cut", "set: { speed: 1Mbit }"),
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
    ("mode: tcp, at", "variant: slow, at"),
    ("mode: tcp, at", "relative_to: slow, at"),
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
fn a_permutation_has_every_host_send_and_receive() {
    let text = GOOD.replacen("directions: [{ from: a, to: b }]", "permutation: 3", 1);
    let text = text.replacen("    - name: b\n", "    - name: b\n      congestion_control: reno\n", 1);
    let traffic = Scenario::parse(&text, "pair.yaml").unwrap().traffic.unwrap();
    let directions: Vec<_> = traffic.directions.iter().map(|it| (it.from, it.to)).collect();
    assert_eq!(directions, [(0, 1), (1, 0)]);
    assert_eq!((traffic.streams, traffic.repeat, traffic.simultaneous), (vec![1], 1, false));
}

#[test]
fn all_problems_are_found_at_once_in_the_order_of_the_file() {
    let text = GOOD
        .replace("to: b", "to: c")
        .replace("between: [s, t]", "between: [s, u]")
        .replace("rate: 1Gbit", "rate: 0");
    let error = Scenario::parse(&text, "bad.yaml").unwrap_err();
    let lines: Vec<_> = error.problems.iter().map(|problem| problem.at.unwrap().0).collect();
    assert_eq!(lines, [20, 21, 25, 28]);
}

#[test]
fn a_missing_file_is_a_problem_of_the_scenario() {
    let error = Scenario::load(Path::new("/nowhere/at-all.yaml")).unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/at-all.yaml: cannot be read: "), "{error}");
}

#[test]
fn rates_and_datapath_ids_are_as_written() {
    let scenario = Scenario::parse(GOOD, "good.yaml").unwrap();
    assert_eq!(scenario.topology.links[2].rates(), [BitsPerSec(1_000_000_000), BitsPerSec(10_000_000)]);
    assert_eq!(scenario.topology.switches.iter().map(|switch| switch.dpid.0).collect::<Vec<_>>(), [1, 0x10]);
}

fn events(lines: &str) -> Scenario {
    let text = GOOD.replace("  - { at: 5s, link: [s, t], do: cut }\n", lines);
    Scenario::parse(&text, "good.yaml").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn events_are_sorted_and_read_from_the_first_end_of_their_link() {
    let scenario = events(
        "  - { at: 2s, link: [t, s], set: { rate: 5Mbit, loss: 1% }, reverse: { loss: 0% } }
  - { at: 500ms, link: [a, s], nth: 2, do: cut }\n",
    );
    let [first, second] = &scenario.events[..] else { panic!("{:?}", scenario.events) };
    assert_eq!((first.at, first.link, &first.action), (Duration::from_millis(500), 1, &LinkAction::Cut));
    let LinkAction::Set(directions) = &second.action else { panic!("{second:?}") };
    let [there, back] = **directions;
    assert_eq!((second.link, there.rate, back.rate), (3, back.rate, Some(BitsPerSec(5_000_000))));
    assert_eq!([there, back].map(|way| way.loss.unwrap().to_string()), ["0%", "1%"]);
}

#[test]
fn a_link_that_will_lose_frames_is_made_so_that_it_can() {
    let emulated = |line| events(line).topology.links[3].emulated;
    assert!(!emulated("  - { at: 1s, link: [s, t], set: { rate: 5Mbit } }\n"));
    assert!(emulated("  - { at: 1s, link: [s, t], reverse: { loss: 1% } }\n"));
}

#[test]
fn the_way_back_is_as_the_way_there_unless_it_says_otherwise() {
    let link = |rest: &str| {
        let text = GOOD.replace("rate: 100Mbit }\ntraffic", &format!("rate: 100Mbit{rest} }}\ntraffic"));
        Scenario::parse(&text, "good.yaml")
            .unwrap_or_else(|error| panic!("{error}"))
            .topology
            .links
            .swap_remove(3)
    };
    let plain = link("");
    assert_eq!((plain.emulated, plain.directions[0]), (false, plain.directions[1]));
    assert_eq!(plain.directions[0].queue.to_string(), "200000 bytes");
    // The usual queue is that of the rate of its own way; one that is given is for both.
    let slow = link(", reverse_rate: 10Mbit");
    assert_eq!(slow.directions.map(|way| way.queue.to_string()), ["200000 bytes", "32000 bytes"]);
    let short = link(", reverse_rate: 10Mbit, queue_bytes: 5000");
    assert_eq!(
        (short.emulated, short.directions.map(|way| way.queue.to_string())),
        (false, ["5000 bytes", "5000 bytes"].map(str::to_owned))
    );

    let far = link(
        ", delay: 75ms, jitter: 2ms, distribution: normal, loss: 0.1%, reverse: { delay: 80ms, queue: 9 packets }",
    );
    let [there, back] = far.directions;
    assert!(far.emulated && there.jitter == back.jitter && there.loss == back.loss);
    assert_eq!((there.delay.to_string(), back.delay.to_string()), ("75ms".to_owned(), "80ms".to_owned()));
    assert_eq!(
        (there.queue.to_string(), back.queue.to_string()),
        ("200000 bytes".to_owned(), "9 packets".to_owned())
    );
    assert!(
        link(", delay: 0ms").emulated
            && link(", queue: 30 packets").emulated
            && link(", reverse: { loss: 0% }").emulated
    );
    assert!(!link(", queue: 64kB").emulated);
}

const ROUTED: &str = "\
scenario: routed
topology:
  hosts:
    - { name: r, router: true, interfaces: [
        { name: e0, addresses: [192.0.2.1/30, 2001:db8:1::1/64] }, { name: e1, addresses: [192.0.2.65/30] }] }
  switches: [o]
  edges: [s, t]
  links:
    - { between: [s, r.e0], rate: 1Mbit, uplink: [192.0.2.2/30, 2001:db8:1::2/64] }
    - { between: [r.e1, t], rate: 1Mbit, uplink: [192.0.2.66/30] }
  tunnels:
    - { between: [192.0.2.2, 192.0.2.66] }
";

#[test]
fn uplinks_lead_from_edges_to_routers_and_have_a_tunnel_each() {
    let topology = Scenario::parse(ROUTED, "routed.yaml").unwrap_or_else(|error| panic!("{error}")).topology;
    assert_eq!(topology.tunnels[0].links, [0, 1]);
    let gateways: Vec<_> = topology.links[0].uplink.iter().map(|it| it.gateway.to_string()).collect();
    assert_eq!(gateways, ["192.0.2.1", "2001:db8:1::1"]);
    for (from, to, wanted) in [
        ("router: true, ", "", "\"r\" passes nothing on; make it a router"),
        ("edges: [s, t]", "edges: [t]\n  locations: {}", "there is no \"s\""),
        ("between: [s, r.e0]", "between: [o, r.e0]", "only Braid's own switches have uplinks"),
        ("uplink: [192.0.2.66/30]", "uplink: [192.0.2.70/30]", "no address in the subnet of 192.0.2.70/30"),
        ("uplink: [192.0.2.66/30]", "uplink: [192.0.2.65/30]", "\"192.0.2.65\" is already given"),
        ("[192.0.2.2, 192.0.2.66]", "[192.0.2.2]", "a tunnel has two ends, not 1"),
        ("[192.0.2.2, 192.0.2.66]", "[192.0.2.2, 192.0.2.9]", "not both addresses of uplinks"),
        ("[192.0.2.2, 192.0.2.66]", "[2001:db8:1::2, 192.0.2.66]", "cannot be joined"),
        ("    - { between: [192.0.2.2, 192.0.2.66] }\n", "    []\n", "no tunnel goes over it"),
        (
            "    - { between: [192.0.2.2, 192.0.2.66] }\n",
            "    - { between: [192.0.2.2, 192.0.2.66] }\n    - { between: [192.0.2.66, 192.0.2.2] }\n",
            "an uplink has one tunnel",
        ),
    ] {
        assert!(ROUTED.contains(from), "{from}");
        let error = Scenario::parse(&ROUTED.replacen(from, to, 1), "routed.yaml").expect_err(to).to_string();
        assert!(error.contains(wanted), "{to}: {error}");
    }
}

#[test]
fn routers_forward_what_hosts_do_not() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/mpsdn-l3-workloads.yaml");
    let mut topology = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}")).topology;
    assert_eq!(topology.capacity(0, 1), BitsPerSec(20_000_000));
    topology.hosts[2].router = false;
    assert_eq!(topology.capacity(0, 1), BitsPerSec(10_000_000));
}

#[test]
fn places_are_on_earth_and_of_switches() {
    let text = "{scenario: t, topology: {hosts: [{name: a, interfaces: [{name: e0}]}], switches: [s], \
         locations: {s: [91, 0], x: [1, 2]}, links: [{between: [a.e0, s], rate: 1Mbit}]}}";
    let error = Scenario::parse(text, "t.yaml").unwrap_err().to_string();
    assert!(error.contains("topology.locations.s: 91, 0 is no place on Earth"), "{error}");
    assert!(error.contains("there is no switch x"), "{error}");
    let good = text.replace("s: [91, 0], x: [1, 2]", "s: [90, -180]");
    assert_eq!(Scenario::parse(&good, "t.yaml").unwrap().topology.switches[0].place, Some([90.0, -180.0]));
}

#[test]
fn agents_need_hosts_that_use_multipath_tcp_be_it_for_one_subflow() {
    let text = |mptcp: &str| {
        format!(
            "{{scenario: t, variants: [{{name: v, agents: managed, subflows: 0}}], topology: {{switches: [s], \
             hosts: [{{name: h, interfaces: [{{name: e0}}]{mptcp}}}], links: [{{between: [h.e0, s], rate: 1Mbit}}]}}}}"
        )
    };
    let error = Scenario::parse(&text(""), "t.yaml").unwrap_err().to_string();
    assert!(error.contains("variants[0].agents: no host uses Multipath TCP"), "{error}");
    for mptcp in [", mptcp: {}", ", mptcp: {subflows: 0}", ", mptcp: {subflows: 3}"] {
        let scenario = Scenario::parse(&text(mptcp), "t.yaml").unwrap();
        let host = &scenario.with_variant(&scenario.variants[0]).topology.hosts[0];
        assert_eq!((host.mptcp.used, host.mptcp.subflows), (true, 0), "{mptcp}");
    }
}
