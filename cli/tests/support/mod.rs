//! Helpers of the tests: the command, and captures to rewrite.
#![allow(dead_code, reason = "each test file is a crate of its own and uses a part")]

pub(crate) mod capture;
pub(crate) mod controller;

use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The `braid` command, deaf to the variables of whoever runs the tests.
pub(crate) fn braid() -> Command {
    let mut command = Command::cargo_bin("braid").expect("the binary is built with its tests");
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BRAID_")) {
        command.env_remove(name);
    }
    command
}

/// Runs `braid` to its end, whatever that is.
pub(crate) fn run(arguments: &[&str]) -> Output {
    braid().args(arguments).output().expect("braid starts")
}

/// The JSON lines of standard output.
pub(crate) fn lines(output: &Output) -> Vec<Value> {
    let text = text(&output.stdout);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// What was printed.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// Whether the tests run as root; if not, says that `test` is skipped.
pub(crate) fn is_root(test: &str) -> bool {
    let root =
        std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").expect("/proc is there")) == 0;
    if !root {
        println!("{test}: skipped, for it needs root");
    }
    root
}
