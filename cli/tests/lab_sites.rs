//! `braid lab run` with two sites: tunnels and routes over lines, profiles, and what is left of them.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use predicates::str::contains;
use serde_json::Value;
use support::is_root;
use tempfile::TempDir;

const SCENARIO: &str = include_str!("../../tools/lab/tests/sites.yaml");
const PROFILES: &str = "profiles:
  - { name: fast, lines: [{ rate: 30Mbit }, { rate: 20Mbit }], published: { others: 1.5 } }
  - { name: slow, lines: [{ rate: 6Mbit }, { rate: 4Mbit }] }
";

fn braid(folder: &TempDir) -> assert_cmd::Command {
    let mut command = support::braid();
    command.env("BRAID_LAB_DIR", folder.path().join("labs"));
    command
}

fn name(prefix: char) -> String {
    format!("{prefix}{}", std::process::id())
}

fn written(folder: &TempDir, text: &str) -> String {
    let path = folder.path().join("sites.yaml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The namespaces of a lab.
fn left_of(lab: &str) -> Vec<String> {
    let all = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    all.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|it| it.contains(lab)).collect()
}

#[test]
fn unknown_profiles_are_refused_and_chosen_ones_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, &format!("{SCENARIO}{PROFILES}"));
    let run =
        |list: &str| braid(&folder).args(["lab", "run", &file, "--dry-run", "--profiles", list]).assert();
    run("fast,3").code(2).stderr(contains("--profiles fast,3: there is no \"3\"; there are 1-2: fast, slow"));
    run("2").success().stdout(contains("office"));
    let dry =
        braid(&folder).args(["lab", "run", &file, "--dry-run", "--json", "--profiles", "slow"]).output();
    let document: Value = serde_json::from_slice(&dry.unwrap().stdout).unwrap();
    let counts = ["rounds", "hosts", "sites"].map(|name| document[name].as_u64());
    assert_eq!(counts, [Some(4), Some(2), Some(2)]);
}

#[test]
fn sites_carry_over_the_lines_of_each_variant_and_leave_nothing() {
    if !is_root("sites_carry_over_the_lines_of_each_variant_and_leave_nothing") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, lab) = (written(&folder, &format!("{SCENARIO}{PROFILES}")), name('s'));
    let output = folder.path().join("report");
    let run = braid(&folder)
        .args([
            "lab",
            "run",
            &file,
            "--name",
            &lab,
            "--json",
            "--profiles",
            "slow",
            "--repeat",
            "2",
            "--output",
        ])
        .arg(&output)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&run.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&run.stderr)));
    let rows = report["rows"].as_array().unwrap();
    let variants: Vec<_> = rows.iter().map(|row| row["variant"].as_str().unwrap()).collect();
    assert_eq!(variants, ["first", "first", "second", "second", "no tunnel", "no tunnel", "both", "both"]);
    assert!(rows.iter().all(|row| row["profile"] == "slow" && row["goodput_bps"].as_f64() > Some(0.0)));
    // What lines carry at most, of the variant and the profile.
    let capacities: Vec<_> =
        rows.iter().step_by(2).map(|row| row["capacity_bps"].as_f64().unwrap()).collect();
    assert_eq!(capacities, [6e6, 4e6, 1e7, 1e7]);
    // Over each line a subflow, as each subnet has its line.
    assert!(
        rows[4]["streams"].as_array().is_some_and(|streams| streams.len() == 2),
        "{}",
        rows[4]["streams"]
    );
    let profile = &report["profiles"][0];
    assert_eq!((&profile["runs"], profile["goodputs"].as_array().map(Vec::len)), (&2.into(), Some(4)));
    assert!(std::fs::read_to_string(output.join("profiles.svg")).unwrap().starts_with("<svg"));
    assert_eq!(left_of(&lab), [""; 0]);
}

#[test]
fn an_interrupt_leaves_no_sites() {
    if !is_root("an_interrupt_leaves_no_sites") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, lab) = (written(&folder, SCENARIO), name('i'));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("braid"))
        .args(["lab", "run", &file, "--name", &lab, "--duration", "600s"])
        .env("BRAID_LAB_DIR", folder.path().join("labs"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let socket = folder.path().join("labs").join(&lab).join("sites/branch.sock");
    while !Path::new(&socket).exists() {
        assert_eq!(child.try_wait().unwrap(), None, "the run has ended before its sites have started");
        thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    assert!(!child.wait().unwrap().success());
    assert_eq!(left_of(&lab), [""; 0]);
    assert!(!folder.path().join("labs").join(&lab).exists());
}
