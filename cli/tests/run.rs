//! `braid run`: a command behaves as it does alone.

mod support;

use std::io::Read;
use std::net::TcpListener;

use predicates::str::{contains, is_empty, starts_with};
use support::braid;

/// Where no controller answers.
const NOWHERE: &str = "127.0.0.1:1";

fn under_run(command: &[&str]) -> assert_cmd::assert::Assert {
    braid().args(["run", "--controller", NOWHERE, "--"]).args(command).assert()
}

#[test]
fn output_and_exit_code_are_the_commands() {
    under_run(&["sh", "-c", "echo out; echo err >&2; exit 7"]).code(7).stdout("out\n").stderr("err\n");
    under_run(&["sh", "-c", "kill -TERM $$"]).code(128 + 15);
    under_run(&["echo", "--json", "-p", "4"]).success().stdout("--json -p 4\n");
}

#[test]
fn what_is_no_command_is_not_found() {
    under_run(&["/nowhere/at-all"]).code(3).stderr(starts_with("braid: /nowhere/at-all: "));
    braid().args(["run"]).assert().code(2).stderr(contains("COMMAND"));
    braid().args(["run", "--paths", "0", "--", "true"]).assert().code(2);
}

#[test]
fn connections_within_the_host_are_left_alone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let mut text = String::new();
        listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
        text
    });
    let script = format!("echo hello > /dev/tcp/127.0.0.1/{port}");
    under_run(&["bash", "-c", &script]).success().stderr(is_empty());
    assert_eq!(server.join().unwrap(), "hello\n");
}

#[test]
fn connections_that_nobody_places_open_all_the_same_with_one_warning() {
    // An address of documentation, which no host has: the connection fails as it would alone, and at once.
    let script = "for i in 1 2; do timeout 1 bash -c ': < /dev/tcp/192.0.2.77/9'; done; echo done";
    let ran = under_run(&["bash", "-c", script]).success().stdout("done\n");
    let text = String::from_utf8(ran.get_output().stderr.clone()).unwrap();
    assert!(text.matches("no controller answers").count() <= 1, "{text}");
}

#[test]
fn children_in_the_background_are_waited_for() {
    under_run(&["sh", "-c", "(sleep 0.3; echo late) & exit 3"]).code(3).stdout("late\n");
}
