//! `braid doctor`, on the machine on which the tests run.

mod support;

use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::{is_root, lines, run, text};

#[test]
fn machine_that_can_run_labs_is_ok() {
    if !is_root("machine_that_can_run_labs_is_ok") {
        return;
    }
    let output = run(&["doctor", "--json"]);
    let report = &lines(&output)[0];
    let lacking = |check: &&Value| check["needed"] == true && check["state"] != "ok";
    let lacking: Vec<_> = report["checks"].as_array().unwrap().iter().filter(lacking).collect();
    assert!(lacking.is_empty(), "{lacking:#?}");
    assert_eq!((&report["schema"], &report["ok"]), (&"braid/v1".into(), &true.into()));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(report["backends"]["rate"], "tbf");
}

#[test]
fn every_check_says_what_it_found_and_what_helps_where_it_is_not_ok() {
    let report = &lines(&run(&["doctor", "--json"]))[0];
    for check in report["checks"].as_array().unwrap() {
        let state = check["state"].as_str().unwrap();
        assert!(["ok", "missing", "unusable"].contains(&state), "{check}");
        assert!(
            !check["detail"].as_str().unwrap().is_empty() && !check["purpose"].as_str().unwrap().is_empty()
        );
        assert_eq!(check["fix"].is_null(), state == "ok", "{check}");
    }
}

#[test]
fn delay_is_netem_s_where_that_works_and_made_in_user_space_where_it_can_be() {
    let report = &lines(&run(&["doctor", "--json"]))[0];
    let checks = report["checks"].as_array().unwrap();
    let works = |name: &str| checks.iter().any(|check| check["name"] == name && check["state"] == "ok");
    let backend = match (works("qdisc-netem"), works("user-space-links")) {
        (true, _) => Some("netem"),
        (false, true) => Some("user-space"),
        (false, false) => None,
    };
    assert_eq!(report["backends"]["delay"].as_str(), backend);
    let table = text(&run(&["doctor"]).stdout);
    let line = format!("link delay, jitter, loss: {}\n", backend.unwrap_or("not available"));
    assert!(table.contains(&line), "{table}");
    assert!(table.contains("--openflow-tls required"), "{table}");
}

#[test]
fn machine_without_programs_is_told_of_each_and_exits_with_4() {
    if !is_root("machine_without_programs_is_told_of_each_and_exits_with_4") {
        return;
    }
    let output = run_without_programs();
    assert_eq!(output.status.code(), Some(4));
    let report = &lines(&output)[0];
    assert_eq!(report["ok"], false);
    let checks = report["checks"].as_array().unwrap();
    let iperf = checks.iter().find(|check| check["name"] == "iperf3").unwrap();
    assert_eq!((&iperf["state"], &iperf["fix"]), (&"missing".into(), &"apt install iperf3".into()));
    assert!(text(&output.stderr).starts_with("braid: labs cannot run here for want of: "));
    assert!(text(&output.stderr).contains("iperf3"));
}

/// Runs it with nothing in the folders of programs, in a mount namespace of its own.
fn run_without_programs() -> Output {
    let (folder, empty) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let braid = folder.path().join("braid");
    std::fs::copy(assert_cmd::cargo::cargo_bin("braid"), &braid).unwrap();
    // The last one holds mount itself.
    let script = "for folder in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin; do
        mount --bind \"$0\" $folder
    done
    exec \"$1\" doctor --json";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--", "sh", "-c", script]).arg(empty.path()).arg(braid).output().unwrap()
}

#[test]
fn nothing_is_left_behind() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("braid"))
        .arg("doctor")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let name = format!("braid-doctor-{}", child.id());
    child.wait().unwrap();
    let namespaces = Command::new("ip").args(["netns", "list"]).output().unwrap();
    assert!(!text(&namespaces.stdout).contains(&name));
}
