//! The table of docs/reference/exit-codes.md: the same mistake has the same exit code in every command.

mod support;

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::Command;

use support::{braid, is_root, text};

const MISSING: &str = "/nowhere/at-all";
const NOBODY: u32 = 65_534;

/// Runs each command line, and fails with all that do not end with this code and a message.
fn all_end_with(code: i32, said: &str, lines: &[&str]) {
    let mut wrong = Vec::new();
    for line in lines {
        let output = braid().args(line.split(' ')).output().unwrap();
        let message = text(&output.stderr);
        if output.status.code() != Some(code) || !message.starts_with("braid: ") || !message.contains(said) {
            wrong.push(format!("braid {line}: {:?}\n  {message}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_is_not_there_is_not_found() {
    let lines = [
        "lab run FILE",
        "lab deploy FILE",
        "lab check FILE",
        "sim run FILE",
        "sim check FILE",
        "sim compare FILE",
        "topology show FILE",
        "topology check FILE",
        "topology convert FILE",
        "paths a b --topology FILE",
        "policy check FILE",
        "policy load FILE",
        "controller check FILE",
        "controller run --config FILE",
        "controller run --policy FILE",
        "controller run --tokens FILE",
        "controller run --agent-tokens FILE",
        "controller run --network FILE",
        "controller run --stream-model FILE",
        "site check FILE",
        "site run FILE",
        "edge run --config FILE",
        "host run --config FILE",
        "page FILE",
        "recording scrub FILE /tmp/never-written",
    ];
    let lines = lines.map(|line| line.replace("FILE", MISSING));
    all_end_with(3, MISSING, &lines.each_ref().map(String::as_str));
}

#[test]
fn a_controller_that_is_not_there_is_not_found() {
    for url in ["http://127.0.0.1:1", "http://no-such-host.invalid:8653"] {
        let lines = [
            "switches",
            "links",
            "hosts",
            "edges",
            "alarms",
            "transfers",
            "events",
            "policy show",
            "paths a b",
        ];
        let lines = lines.map(|line| format!("{line} --controller {url}"));
        all_end_with(3, "--controller", &lines.each_ref().map(String::as_str));
        all_end_with(3, "--controller", &[&format!("topology show --controller {url}")]);
    }
}

#[test]
fn a_wrong_command_line_is_an_error_of_use() {
    all_end_with(
        2,
        "",
        &[
            "switches --controller ftp://127.0.0.1",
            "controller run --openflow 6653",
            "controller run --http :8653",
            "edge run --port lo --listen 6634",
            "paths a b --min-capacity 100",
            "topology generate ring:5 --rate 100",
            "edge run --port lo@100",
            "lab link set a b --rate 100",
        ],
    );
    all_end_with(2, "write 100bit, 100kbit, 100Mbit, 100Gbit or 100Tbit", &["paths a b --min-capacity 100"]);
    all_end_with(
        2,
        "write 1ns, 1us, 1ms or 1s",
        &["topology generate ring:5 --delay 1", "paths a b --max-latency 1", "lab link set a b --delay 1"],
    );
    all_end_with(2, "0.0.0.0:6653", &["controller run --openflow 6653"]);
}

#[test]
fn spellings_of_rates_are_understood() {
    for rate in ["50Mbps", "10G", "50Mbit/s", "10Gbit"] {
        braid().args(["topology", "generate", "ring:5", "--rate", rate]).assert().success();
    }
    let shown = braid().args(["topology", "show", "ring:5", "--rate", "9909326.95kbit"]).output().unwrap();
    assert!(text(&shown.stdout).contains("9.909Gbit"), "{}", text(&shown.stdout));
}

#[test]
fn an_interface_that_is_not_there_is_not_found() {
    if !is_root("an_interface_that_is_not_there_is_not_found") {
        return;
    }
    all_end_with(3, "nosuchif0", &["edge run --port nosuchif0"]);
}

#[test]
fn a_port_in_use_is_a_failure_that_names_its_holder() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let holder = format!("(process {}) listens there", std::process::id());
    all_end_with(
        1,
        &holder,
        &[
            &format!("controller run --openflow {address} --http 127.0.0.1:0"),
            &format!("controller run --openflow 127.0.0.1:0 --http {address}"),
            &format!("page --port {}", address.port()),
        ],
    );
}

#[test]
fn a_command_that_needs_root_says_so_with_one_code() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/ams-gva.yaml");
    for line in [["lab", "run", scenario], ["lab", "deploy", scenario], ["edge", "run", "--port=lo"]] {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("braid"));
        command.args(line).current_dir("/");
        if is_root("without root") {
            command.uid(NOBODY).gid(NOBODY);
        }
        match command.output() {
            Ok(output) => {
                assert_eq!(output.status.code(), Some(4), "{line:?}: {}", text(&output.stderr));
            }
            Err(error) => println!("{line:?}: skipped, for another user cannot run the command: {error}"),
        }
    }
}
