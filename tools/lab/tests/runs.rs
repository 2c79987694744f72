//! Scenarios with real tools on a real kernel; benchmarks measure their throughput.

mod support;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use braid_lab::scenario::{Action, Capture, Event, LinkAction, Mode, Packets, Tool, Work};
use braid_lab::{
    CaptureRow, Control, ControllerSettings, Interrupt, LabError, NoProgress, Progress, Report, Scenario,
};
use braid_link_model::Change;
use braid_types::BitsPerSec;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::{Bench, CHAIN, bench, fresh_name, helper_task, learning, left_of, start_helper};

const TRAFFIC: &str = "\
traffic:
  tool: iperf3
  modes: [tcp]
  directions: [{ from: b, to: a }]
  duration: 2s
expect:
  - { name: something arrives, value: goodput_bps, at_least: 1 }
  - { name: nothing arrives, value: goodput_bps, at_most: 0 }
";

fn chain_with_traffic() -> Scenario {
    Scenario::parse(&format!("{CHAIN}{TRAFFIC}"), "chain.yaml").unwrap()
}

/// The shipped testbed, with two seconds of Multipath TCP in one direction.
fn short_ams_gva() -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ams-gva.yaml");
    let mut scenario = Scenario::load(&path).unwrap();
    let traffic = scenario.traffic.as_mut().unwrap();
    traffic.duration = Duration::from_secs(2);
    traffic.modes = vec![Mode::Mptcp];
    traffic.directions.truncate(1);
    scenario.expect.clear();
    scenario
}

/// The rounds of transfers that a run has begun.
#[derive(Default)]
struct Rounds {
    titles: RefCell<Vec<String>>,
}

impl Progress for Rounds {
    fn stage(&self, _: &str) {}

    fn transfer(&self, what: &str, _: Duration) {
        self.titles.borrow_mut().push(what.to_owned());
    }

    fn elapsed(&self, _: Duration) {}

    fn done(&self) {}
}

/// Straight through each switch: its host is at port 1, the long-distance link at port 2.
fn straight() -> Control {
    let rules = ["in_port=1,actions=output:2", "in_port=2,actions=output:1"].map(str::to_owned);
    Control::Rules(BTreeMap::from(["ams1", "ams2", "gva1", "gva2"].map(|it| (it.to_owned(), rules.to_vec()))))
}

fn run(bench: &Bench, scenario: &Scenario, control: &Control) -> Result<Report, LabError> {
    run_with(bench, scenario, control, &NoProgress)
}

fn run_with(
    bench: &Bench,
    scenario: &Scenario,
    control: &Control,
    progress: &dyn Progress,
) -> Result<Report, LabError> {
    let name = fresh_name();
    let report = bench.labs.run(scenario, &name, control, progress, &Interrupt::default());
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
    report
}

#[test]
fn a_run_measures_judges_and_leaves_nothing() {
    let Some(bench) = bench() else { return };
    let report = run(&bench, &chain_with_traffic(), &learning()).unwrap();
    let row = &report.rows[0];
    assert_eq!((row.mode, row.direction.from.as_str(), row.direction.to.as_str()), (Mode::Tcp, "b", "a"));
    assert!(row.goodput_bps > 0.0 && !row.intervals.is_empty() && row.mptcp.is_none());
    assert_eq!(row.streams.len(), 1);
    assert_eq!(report.expectations.iter().map(|it| it.ok).collect::<Vec<_>>(), [true, false]);
    assert_eq!((report.ok, report.exit_code()), (false, 5));
}

#[test]
fn every_variant_has_a_lab_and_a_row_of_its_own_while_other_traffic_goes_on() {
    let Some(bench) = bench() else { return };
    let mut text = format!("{CHAIN}{TRAFFIC}variants: [{{ name: one }}, {{ name: two }}]\n");
    // Of the link the others get about three quarters.
    text = text.replace("  duration: 2s", "  duration: 2s\n  background: [{ from: b, to: a, streams: 3 }]");
    let expected = "{ name: something arrives, value: goodput_bps, at_least: 1 }";
    text = text.replace(expected, "{ name: shared, value: fraction_of_capacity, at_most: 0.8 }");
    let report = run(&bench, &Scenario::parse(&text, "chain.yaml").unwrap(), &learning()).unwrap();
    let variants: Vec<_> = report.rows.iter().map(|row| row.variant.as_deref().unwrap()).collect();
    assert_eq!(variants, ["one", "two"]);
    assert!(report.expectations[0].ok, "{}", report.to_text());
}

#[test]
fn all_directions_go_on_at_the_same_time_as_often_and_with_as_many_streams_as_is_said() {
    let Some(bench) = bench() else { return };
    let text = format!("{CHAIN}{TRAFFIC}").replace(
        "  duration: 2s",
        "  simultaneous: true\n  duration: 2s\n  warm_up: 1s\n  streams: [1, 2]\n  repeat: 2",
    );
    let text = text.replace("directions: [{ from: b, to: a }]", "permutation: 1");
    let (scenario, rounds) = (Scenario::parse(&text, "chain.yaml").unwrap(), Rounds::default());
    let report = run_with(&bench, &scenario, &learning(), &rounds).unwrap();
    let titles =
        ["", ", 2 streams"].map(|streams| [1, 2].map(|run| format!("tcp 2 at once{streams}, run {run}")));
    assert_eq!(*rounds.titles.borrow(), titles.concat(), "eight transfers, two at a time");
    let settings: Vec<_> = report
        .rows
        .iter()
        .map(|row| (row.connections, row.run.unwrap(), row.direction.from.clone()))
        .collect();
    let wanted = [(1, 1), (1, 2), (2, 1), (2, 2)];
    let wanted = wanted.iter().flat_map(|(count, run)| ["a", "b"].map(|it| (*count, *run, it.to_owned())));
    assert_eq!(settings, wanted.collect::<Vec<_>>());
    for row in &report.rows {
        assert_eq!(row.streams.len(), usize::from(row.connections));
        assert!(row.goodput_bps > 0.0 && row.intervals.last().unwrap().end > 2.0);
        assert!(row.streams.iter().all(|it| !it.intervals.is_empty()));
    }
}

#[test]
fn wget_gets_whole_files_of_every_length_from_both_servers_over_ipv4_and_ipv6() {
    let Some(bench) = bench() else { return };
    for (family, others) in
        [("IPv4", [", 2001:db8::1/64", ", 2001:db8::2/64"]), ("IPv6", ["10.9.0.1/24, ", "10.9.0.2/24, "])]
    {
        let text = format!("{CHAIN}{TRAFFIC}");
        let text = others.iter().fold(text, |text, other| text.replace(other, ""));
        let text = text.replace("  - { name: nothing arrives, value: goodput_bps, at_most: 0 }\n", "");
        let mut text = text.replace("duration: 2s", "duration: 4s");
        text = text.replace("tool: iperf3", "tool: [iperf3, http, ftp]\n  bytes: [100kB, 3MB]");
        text += "  - { name: files are whole, value: intact, tool: ftp, bytes: 3MB, at_least: 1 }\n";
        let report = run(&bench, &Scenario::parse(&text, "chain.yaml").unwrap(), &learning()).unwrap();
        let works: Vec<_> = report.rows.iter().map(|row| row.work.unwrap().to_string()).collect();
        assert_eq!(works, ["iperf3", "http 100kB", "http 3MB", "ftp 100kB", "ftp 3MB"]);
        let got = || report.rows.iter().filter_map(|row| row.delivery.as_ref());
        assert!(
            got().count() == 4 && got().all(|delivery| delivery.intact),
            "{family}: {}",
            report.to_text()
        );
        assert!(report.ok && report.to_text().contains("tcp ftp 3MB"), "{}", report.to_text());
    }
}

#[test]
fn rules_stand_in_the_place_of_the_controller_for_a_variant() {
    let Some(bench) = bench() else { return };
    let rules = "{ name: fixed, rules: { s: [actions=NORMAL], t: [actions=NORMAL] } }";
    let text = format!("{CHAIN}{TRAFFIC}variants: [{rules}]\n");
    let report = run(&bench, &Scenario::parse(&text, "chain.yaml").unwrap(), &Control::None).unwrap();
    assert!(report.rows[0].goodput_bps > 0.0);
}

#[test]
fn a_capture_shows_how_subflows_are_set_up_and_is_written_with_the_report() {
    let Some(bench) = bench() else { return };
    let mut scenario = short_ams_gva();
    scenario.captures = vec![Capture { host: 0, packets: Packets::Mptcp }];
    let report = run(&bench, &scenario, &straight()).unwrap();
    let captures = &report.rows[0].captures;
    let interfaces: Vec<_> = captures.iter().map(|it| it.interface.as_str()).collect();
    assert_eq!(interfaces, ["eth1", "eth2"]);
    let flags =
        |capture: &CaptureRow| capture.handshakes.iter().map(|it| it.flags.clone()).collect::<Vec<_>>();
    // The connection for control and that for data, each set up over the first interface and joined over the second.
    for capture in captures {
        assert!(flags(capture).iter().filter(|it| *it == "SYN").count() >= 2, "{:?}", capture.handshakes);
        assert!(flags(capture).contains(&"SYN/ACK".to_owned()) && flags(capture).contains(&"ACK".to_owned()));
    }
    let folder = tempfile::tempdir().unwrap();
    report.write(folder.path()).unwrap();
    let pcap = fs::read(folder.path().join("captures/001-mptcp-ams-gva-ams-eth2.pcap")).unwrap();
    assert_eq!(pcap, captures[1].pcap);
}

#[test]
fn both_subflows_of_multipath_tcp_carry_data() {
    let Some(bench) = bench() else { return };
    let report = run(&bench, &short_ams_gva(), &straight()).unwrap();
    let row = &report.rows[0];
    let sources: Vec<_> = row.streams.iter().map(|stream| stream.src.to_string()).collect();
    assert!(
        sources.contains(&"10.0.1.1".to_owned()) && sources.contains(&"10.0.2.1".to_owned()),
        "{sources:?}"
    );
    assert!(row.streams.iter().all(|stream| stream.bytes > 0));
    let mptcp = row.mptcp.unwrap();
    assert_eq!((mptcp.connections, mptcp.joins, mptcp.fallbacks), (2, 2, 0));
}

#[test]
fn a_copy_arrives_whole_over_a_link_that_was_cut_meanwhile_and_is_whole_again_afterwards() {
    let Some(bench) = bench() else { return };
    let mut scenario = short_ams_gva();
    let traffic = scenario.traffic.as_mut().unwrap();
    traffic.works = vec![Work { tool: Tool::Copy, bytes: 20_000_000 }];
    traffic.duration = Duration::from_secs(60);
    let event = |millis, change| Event {
        at: Duration::from_millis(millis),
        action: Action::Link { link: 5, change },
    };
    scenario.events = vec![event(300, LinkAction::Cut), event(1_000, LinkAction::Restore)];
    let report = run(&bench, &scenario, &straight()).unwrap();
    let row = &report.rows[0];
    let delivery = row.delivery.as_ref().unwrap();
    assert!(delivery.intact, "{delivery:?}");
    assert_eq!((delivery.bytes_received, &delivery.sha256_received), (20_000_000, &delivery.sha256_sent));
    assert_eq!(row.mptcp.unwrap().connections, 1);
    assert!(row.streams.iter().any(|stream| stream.src.to_string() == "10.0.1.1"), "{:?}", row.streams);
}

#[test]
fn a_copy_that_is_not_done_in_time_is_not_intact_and_its_links_are_as_before() {
    let Some(bench) = bench() else { return };
    let mut scenario = short_ams_gva();
    let traffic = scenario.traffic.as_mut().unwrap();
    traffic.works = vec![Work { tool: Tool::Copy, bytes: 500_000_000 }];
    traffic.modes = vec![Mode::Tcp];
    let slow = Change { rate: Some(BitsPerSec(1_000_000)), ..Change::default() };
    let event = |millis, link, change| Event {
        at: Duration::from_millis(millis),
        action: Action::Link { link, change },
    };
    let slower = LinkAction::Set(Box::new([slow; 2]));
    scenario.events = vec![event(0, 4, slower), event(200, 5, LinkAction::Cut)];
    let name = fresh_name();
    let lab = bench.labs.deploy(&scenario, &name, &straight(), &Interrupt::default()).unwrap();
    let before = bench.labs.links(&name).unwrap();
    let rows = lab.measure(&scenario, &NoProgress, &Interrupt::default()).unwrap();
    let delivery = rows[0].delivery.as_ref().unwrap();
    assert!(!delivery.intact && delivery.bytes_received < 500_000_000, "{delivery:?}");
    assert_eq!(bench.labs.links(&name).unwrap(), before);
}

#[test]
fn a_tool_that_fails_is_quoted_whatever_its_exit_status() {
    let Some(bench) = bench() else { return };
    let (scenario, name) = (short_ams_gva(), fresh_name());
    let lab = bench.labs.deploy(&scenario, &name, &straight(), &Interrupt::default()).unwrap();
    let without_mptcp = || fs::write("/proc/sys/net/mptcp/enabled", "0").unwrap();
    support::in_namespace(&name.host_namespace("gva"), without_mptcp);
    let error = lab.measure(&scenario, &NoProgress, &Interrupt::default()).unwrap_err().to_string();
    assert!(error.starts_with("mptcp ams > gva: the server ended at once: iperf3: "), "{error}");
}

#[test]
fn a_scenario_without_traffic_cannot_be_run() {
    let Some(bench) = bench() else { return };
    let error = run(&bench, &support::chain(), &learning()).unwrap_err();
    assert!(matches!(error, LabError::NoTraffic(_)) && error.exit_code() == 2, "{error}");
}

#[test]
fn a_wait_for_hosts_that_do_not_answer_can_be_interrupted() {
    let Some(bench) = bench() else { return };
    let interrupt = Interrupt::default();
    let name = fresh_name();
    let raised = interrupt.clone();
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_secs(2));
            raised.raise();
        });
        // No rules: the wait for the hosts goes on until it is interrupted.
        let control = Control::Rules(BTreeMap::new());
        let error = bench.labs.deploy(&chain_with_traffic(), &name, &control, &interrupt).unwrap_err();
        assert!(matches!(error, LabError::Interrupted), "{error}");
    });
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
}

#[test]
fn a_controller_that_ends_or_talks_nonsense_is_quoted() {
    let Some(bench) = bench() else { return };
    let failing = program(&bench, "echo starting; echo no such port >&2; exit 3");
    let error = run(&bench, &chain_with_traffic(), &braid(failing)).unwrap_err().to_string();
    assert!(error.contains("said \"starting\" instead of its addresses"), "{error}");
    let silent = program(&bench, "echo no such port >&2; exit 3");
    let error = run(&bench, &chain_with_traffic(), &braid(silent)).unwrap_err().to_string();
    assert!(error.contains("ended (exit status: 3) and said: no such port"), "{error}");
}

#[test]
fn a_controller_gets_its_socket_as_descriptor_three_and_its_arguments() {
    let Some(bench) = bench() else { return };
    let record = bench.folder.path().join("events.jsonl");
    let script =
        "expected=\"controller run --openflow-fd 3 --http 127.0.0.1:0 --lab $8 --network ${10} --policy ${12} --rebalance-limit=0 --record $0.record\"
        grep -qx 'k = 3' \"${12}\" || exit 4
        test \"$*\" = \"$expected\" && grep -q capacity_bps \"${10}\" || exit 1
        readlink /proc/self/fd/3 | grep -q ^socket: || exit 2
        ls /proc/self/fd | grep -qx 0 && readlink /proc/self/fd/0 | grep -qx /dev/null || exit 3
        exit 42";
    let executable = program(&bench, script);
    let options = [("rebalance-limit".to_owned(), "0".to_owned())].into();
    let policy = Some("[default]\nk = 3\n".to_owned());
    let record_of = PathBuf::from(format!("{}.record", executable.display()));
    let control = Control::Braid(ControllerSettings {
        record: Some(record_of),
        options,
        policy,
        ..ControllerSettings::new(executable)
    });
    let error = run(&bench, &chain_with_traffic(), &control).unwrap_err().to_string();
    assert!(error.contains("ended (exit status: 42)"), "{error}");
    assert!(!record.exists());
}

/// `None`, with a word on stderr, where there is no etcd.
fn bench_with_etcd() -> Option<Bench> {
    let bench = bench()?;
    let found = Path::new("/usr/bin/etcd").exists();
    if !found {
        eprintln!("skipped: clusters need etcd, in Debian's etcd-server");
    }
    found.then_some(bench)
}

#[test]
fn members_of_a_cluster_start_beside_the_switches_and_their_etcd_and_nothing_is_left() {
    let Some(bench) = bench_with_etcd() else { return };
    let script = "echo \"$*\" | grep -q 'run --http-fd=3 --openflow=127.0.0.1:6653 --http=127.0.0.1:8653 --cluster=etcd://127.0.0.1:2379 --cluster-member=c1 --lab ' || exit 1
        ss -Hltn | grep -q 127.0.0.1:2379 || exit 2
        ip link show s >/dev/null || exit 3
        readlink /proc/self/fd/3 | grep -q ^socket: || exit 4
        exit 43";
    let mut scenario = chain_with_traffic();
    scenario.controllers = 2;
    let error = run(&bench, &scenario, &braid(program(&bench, script))).unwrap_err().to_string();
    assert!(error.contains("ended (exit status: 43)"), "{error}");
}

#[test]
fn a_signal_in_the_middle_of_a_transfer_leaves_nothing() {
    let Some(bench) = bench() else { return };
    let name = fresh_name();
    let mut helper = start_helper("helper_runs", &bench, &name);
    let client = bench.folder.path().join(name.as_str()).join("log/iperf3-0-client.json");
    while !client.exists() {
        assert_eq!(helper.try_wait().unwrap(), None, "the run has ended before its transfer");
        thread::sleep(Duration::from_millis(5));
    }
    kill(Pid::from_raw(helper.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    assert!(helper.wait().unwrap().success());
    assert_eq!(left_of(&name, bench.folder.path()), [""; 0]);
}

/// Runs until it is interrupted, when another test starts it.
#[test]
fn helper_runs() {
    let Some((labs, name)) = helper_task() else { return };
    let interrupt = Interrupt::on_signals().unwrap();
    let mut scenario = chain_with_traffic();
    scenario.traffic.as_mut().unwrap().duration = Duration::from_secs(600);
    let error = labs.run(&scenario, &name, &learning(), &NoProgress, &interrupt).unwrap_err();
    assert!(matches!(error, LabError::Interrupted), "{error}");
}

fn braid(executable: PathBuf) -> Control {
    Control::Braid(ControllerSettings::new(executable))
}

/// A shell script that plays the controller.
fn program(bench: &Bench, script: &str) -> PathBuf {
    let path = bench.folder.path().join(format!("Controller.{}", script.len()));
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}
