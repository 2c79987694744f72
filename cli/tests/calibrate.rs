//! `braid calibrate` and its model files.

mod support;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use support::braid;

#[test]
fn without_a_controller_nothing_is_measured() {
    let mut command = braid();
    command.args(["calibrate", "127.0.0.1", "--controller", "127.0.0.1:1"]);
    command.assert().code(3).stderr(contains("no controller answers"));
}

#[test]
fn what_cannot_be_measured_is_refused() {
    for wrong in [&["host"][..], &["10.0.0.2", "--streams", "1,0"], &["10.0.0.2", "--paths", "17"], &[]] {
        braid().arg("calibrate").args(wrong).assert().code(2);
    }
}

#[test]
fn a_controller_reads_what_was_measured_or_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.json");
    std::fs::write(&file, r#"{"schema":"braid/v1","network":{"a":-1,"saturation_loss":0.1}}"#).unwrap();
    let run = |file: &std::path::Path| {
        let mut command = braid();
        command.args([
            "controller",
            "run",
            "--openflow",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
            "--stream-model",
        ]);
        command.arg(file).assert()
    };
    run(&file).code(2).stderr(contains("model.json").and(contains("a is -1")));
    run(&folder.path().join("absent.json")).code(3).stderr(contains("absent.json"));
}
