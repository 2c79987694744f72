//! `braid recording`: copies that can be shown.

use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;

const RING: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../daemons/controller/tests/testdata/ring-mptcp.jsonl");

fn scrub(from: &Path, to: &Path) -> Command {
    let mut command = Command::cargo_bin("braid").expect("the command");
    command.args(["recording", "scrub"]).args([from, to]);
    command
}

#[test]
fn a_copy_says_what_it_has_lost_and_is_not_replaced_without_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy.jsonl");
    scrub(Path::new(RING), &copy).assert().success().stdout(predicate::str::contains("MPTCP keys replaced"));
    scrub(Path::new(RING), &copy).assert().code(1).stderr(predicate::str::contains("--force"));
    scrub(Path::new(RING), &copy).arg("--force").assert().success();
}

#[test]
fn a_recording_is_not_replaced_by_its_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run.jsonl");
    std::fs::copy(RING, &run).expect("a copy");
    scrub(&run, &run).arg("--force").assert().code(1).stderr(predicate::str::contains("another file"));
    assert!(std::fs::metadata(&run).expect("a file").len() > 0);
}

#[test]
fn what_is_no_recording_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "hello\n").expect("a file");
    scrub(&file, &folder.path().join("copy"))
        .assert()
        .code(2)
        .stderr(predicate::str::contains("notes.txt").and(predicate::str::contains("line 1")));
}
