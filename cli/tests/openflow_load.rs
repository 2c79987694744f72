//! `braid openflow load`: emulated networks at a real controller.

mod support;

use predicates::str::contains;
use serde_json::Value;
use support::controller::Controller;
use support::{braid, run, text};

#[test]
fn an_emulated_fat_tree_is_mapped_with_its_hosts_and_stays() {
    let controller = Controller::start();
    let openflow = controller.openflow.to_string();
    let output = run(&[
        "openflow",
        "load",
        "discovery",
        "--topology",
        "fattree:4",
        "--hold",
        "2",
        "--judge",
        "--json",
        "--openflow",
        &openflow,
        "--api",
        &controller.http,
    ]);
    let result: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    let report = &result["report"];
    assert_eq!(output.status.code(), Some(0), "{result}");
    assert_eq!((&report["switches"], &report["directed_links"]), (&20.into(), &64.into()));
    assert_eq!((&report["known_links"], &report["lost_links"]), (&64.into(), &0.into()));
    assert!(report["hosts_after"].is_number(), "all 16 hosts are known: {report}");
}

#[test]
fn switches_that_leave_and_join_again_take_only_their_own_links_away() {
    let controller = Controller::start();
    let openflow = controller.openflow.to_string();
    let load = [
        "openflow",
        "load",
        "discovery",
        "--topology",
        "fattree:4",
        "--silent-hosts",
        "--hold",
        "1",
        "--judge",
    ];
    let rejoin = ["--rolling", "20", "--pod", "--json", "--openflow", &openflow, "--api", &controller.http];
    let output = run(&[&load[..], &rejoin].concat());
    let result: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "{result}");
    for (name, switches) in [("rolling", 20), ("pod", 4)] {
        let rejoin = &result["report"][name];
        assert_eq!(
            (&rejoin["switches"], &rejoin["joined"]),
            (&switches.into(), &switches.into()),
            "{name}: {rejoin}"
        );
        assert!(rejoin["lost_links"].as_u64() > Some(0), "{name}: {rejoin}");
    }
}

#[test]
fn a_controller_that_is_not_asked_is_judged_by_the_links_that_its_frames_passed() {
    let controller = Controller::start();
    let openflow = controller.openflow.to_string();
    let load =
        ["openflow", "load", "discovery", "--topology", "jellyfish:8,5,8", "--hold", "1", "--openflow"];
    braid().args(load).arg(openflow).assert().success().stdout(contains("map complete"));
}

#[test]
fn a_load_without_a_controller_says_so() {
    let load = ["openflow", "load", "latency", "--openflow", "127.0.0.1:1"];
    braid().args(load).assert().code(3).stderr(contains("no controller at 127.0.0.1:1"));
}
