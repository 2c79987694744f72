//! Accepted scenario files.

use std::path::Path;
use std::time::Duration;

use braid_lab::Scenario;
use braid_lab::scenario::{Action, ControllerAction, ControllerRole, LinkAction, Metric};
use braid_types::BitsPerSec;

const GOOD: &str = include_str!("pair.yaml");

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
    let cut = Action::Link { link: 1, change: LinkAction::Cut };
    assert_eq!((first.at, &first.action), (Duration::from_millis(500), &cut));
    let Action::Link { link, change: LinkAction::Set(directions) } = &second.action else {
        panic!("{second:?}")
    };
    let [there, back] = **directions;
    assert_eq!((*link, there.rate, back.rate), (3, back.rate, Some(BitsPerSec(5_000_000))));
    assert_eq!([there, back].map(|way| way.loss.unwrap().to_string()), ["0%", "1%"]);
}

#[test]
fn controllers_of_a_cluster_have_events_and_values_of_their_own() {
    assert_eq!(Scenario::parse(GOOD, "good.yaml").unwrap().controllers, 1);
    let event = "  - { at: 5s, link: [s, t], do: cut }\n";
    let text = GOOD.replace(event, &format!("  - {{ at: 6s, controller: leader, do: hand-over }}\n{event}"));
    let text = text.replace("scenario: pair", "scenario: pair\ncontrollers: 3");
    let text = text.replace("value: goodput_bps", "value: leader_changes");
    let scenario = Scenario::parse(&text, "good.yaml").unwrap_or_else(|error| panic!("{error}"));
    let action = Action::Controller { role: ControllerRole::Leader, change: ControllerAction::HandOver };
    assert_eq!((scenario.controllers, &scenario.events[1].action), (3, &action));
    assert_eq!(scenario.expect[0].value, Metric::LeaderChanges);
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
    assert_eq!(plain.directions[0].queue.to_string(), "200kB");
    // The usual queue is that of the rate of its own way; one that is given is for both.
    let slow = link(", reverse_rate: 10Mbit");
    assert_eq!(slow.directions.map(|way| way.queue.to_string()), ["200kB", "32kB"]);
    let short = link(", reverse_rate: 10Mbit, queue_bytes: 5000");
    assert_eq!(
        (short.emulated, short.directions.map(|way| way.queue.to_string())),
        (false, ["5kB", "5kB"].map(str::to_owned))
    );

    let far = link(
        ", delay: 75ms, jitter: 2ms, distribution: normal, loss: 0.1%, reverse: { delay: 80ms, queue: 9 packets }",
    );
    let [there, back] = far.directions;
    assert!(far.emulated && there.jitter == back.jitter && there.loss == back.loss);
    assert_eq!((there.delay.to_string(), back.delay.to_string()), ("75ms".to_owned(), "80ms".to_owned()));
    assert_eq!(
        (there.queue.to_string(), back.queue.to_string()),
        ("200kB".to_owned(), "9 packets".to_owned())
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

const SITES: &str = include_str!("sites.yaml");

#[test]
fn boxes_of_sites_have_an_interface_for_each_line_and_variants_use_some_of_them() {
    let scenario = Scenario::parse(SITES, "sites.yaml").unwrap_or_else(|error| panic!("{error}"));
    let topology = &scenario.topology;
    let sites = topology.sites.as_ref().unwrap();
    assert_eq!((sites.boxes, sites.hosts, sites.lines.as_slice()), ([2, 3], [0, 1], &[2, 3][..]));
    let names: Vec<_> = topology.hosts[2].interfaces.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["lan", "line1", "line2"]);
    assert_eq!(topology.links[3].ends.map(|end| topology.end_name(end)), ["branch.line2", "office.line2"]);
    let of = |variant: usize| {
        let topology = scenario.with_variant(&scenario.variants[variant]).topology;
        (topology.sites.as_ref().unwrap().tunnel, topology.capacity(0, 1).0)
    };
    let [first, second, routed, both] = [0, 1, 2, 3].map(of);
    assert_eq!([first, second], [(true, 20_000_000), (true, 10_000_000)]);
    assert_eq!([routed, both], [(false, 30_000_000), (true, 30_000_000)]);
}

#[test]
fn every_variant_runs_with_each_profile_and_congestion_control() {
    let text = SITES.replacen("  duration: 2s", "  duration: 2s\n  congestion_control: [cubic, bbr]", 1);
    let profiles =
        "profiles: [{ name: a, lines: [{ rate: 5Mbit }, {}] }, { name: b, lines: [{}, { delay: 1ms }] }]";
    let scenario = Scenario::parse(&format!("{text}{profiles}\n"), "sites.yaml").unwrap();
    let cases = scenario.cases();
    assert_eq!((cases.len(), scenario.rounds()), (16, 16));
    let titles: Vec<_> = cases
        .iter()
        .step_by(4)
        .map(|case| (case.profile.as_deref(), case.congestion_control.as_deref()))
        .collect();
    let [a, b] = [Some("a"), Some("b")];
    assert_eq!(titles, [(a, Some("cubic")), (a, Some("bbr")), (b, Some("cubic")), (b, Some("bbr"))]);
    let line = |case: usize, line: usize| cases[case].scenario.topology.links[2 + line].directions[1];
    // The first line of the second profile is as the topology has it, and so is what a profile does not give.
    assert_eq!([line(0, 0), line(8, 0)].map(|it| it.rate.unwrap().0), [5_000_000, 20_000_000]);
    assert_eq!(
        (line(8, 1).delay.to_string(), line(8, 1).queue.to_string()),
        ("1ms".to_owned(), "200 packets".to_owned())
    );
    let controls: Vec<_> =
        cases[4].scenario.topology.hosts.iter().map(|it| it.congestion_control.as_deref()).collect();
    assert_eq!(controls, [Some("bbr"), Some("bbr"), None, None]);
}
