//! `braid lab link`: the links of labs.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use assert_cmd::Command;
use predicates::str::{contains, starts_with};
use serde_json::Value;
use support::is_root;
use tempfile::TempDir;

const SCENARIO: &str = "{scenario: far, topology: {hosts: [], switches: [s, t, u], links: [\
    {between: [s, t], rate: 10Mbit, delay: 20ms, reverse: {loss: 1%}}, {between: [t, u], rate: 10Mbit}]}}";

fn braid(folder: &TempDir) -> Command {
    let mut command = support::braid();
    command.env("BRAID_LAB_DIR", folder.path().join("labs")).env("BRAID_LAB_LINKS", "user-space");
    command
}

#[test]
fn wrong_command_lines_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let set = |args: &[&str]| braid(&folder).args(["lab", "link", "set"]).args(args).assert();
    set(&["s"]).code(2);
    set(&["lab", "s", "t", "--delay", "soon"]).code(2).stderr(contains("not a time"));
    set(&["lab", "s", "t", "--loss", "2"]).code(2).stderr(contains("not a share"));
    set(&["lab", "s", "t", "--up", "--down"]).code(2);
    set(&["lab", "s", "t", "--forward", "--reverse"]).code(2);
    set(&["lab", "s", "t"]).code(2).stderr(starts_with("braid: nothing to change"));
    set(&["Lab!", "s", "t", "--up"]).code(2).stderr(contains("is not a lab's name"));
    for command in ["add", "remove"] {
        let link = |args: &[&str]| braid(&folder).args(["lab", "link", command]).args(args).assert();
        link(&["s"]).code(2);
        link(&["s", "t", "--up"]).code(2);
        link(&["Lab!", "s", "t"]).code(2).stderr(contains("is not a lab's name"));
        link(&["s", "t"]).code(3).stderr(starts_with("braid: there is no lab"));
    }
}

#[test]
fn links_of_no_lab_are_not_found() {
    let folder = tempfile::tempdir().unwrap();
    braid(&folder)
        .args(["lab", "link", "show"])
        .assert()
        .code(3)
        .stderr(starts_with("braid: there is no lab"));
    braid(&folder).args(["lab", "link", "show", "none"]).assert().code(3);
    braid(&folder).args(["lab", "link", "set", "s", "t", "--down"]).assert().code(3);
}

#[test]
fn links_are_added_and_removed_while_their_lab_is_up() {
    if !is_root("links_are_added_and_removed_while_their_lab_is_up") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("far.yaml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let name = format!("a{}", std::process::id());
    let _lab = Lab { folder: &folder, name: &name };
    let link = |args: &[&str]| {
        let mut command = braid(&folder);
        command.args(["lab", "link"]).args(args);
        command
    };
    let deploy = ["lab", "deploy", "--no-controller", "--name", name.as_str()];
    braid(&folder).args(deploy).arg(&scenario).assert().success();

    let document = json(&mut link(&["add", &name, "s", "u", "--rate", "8Mbit", "--json"]));
    let ends = &document["links"][0]["ends"];
    assert_eq!([&ends[0]["name"], &ends[1]["name"]], ["s", "u"]);
    // 16 ms of the rate, as links of scenarios have it, but no less than 32 kB.
    assert_eq!((&ends[0]["rate"], &ends[1]["queue"]), (&"8Mbit".into(), &"32000 bytes".into()));
    assert_eq!((&ends[0]["port"], &ends[1]["port"]), (&2.into(), &2.into()));
    link(&["add", "s", "u"]).assert().code(2).stderr(contains("has a rate"));
    link(&["add", "s", "v", "--rate", "1Mbit"]).assert().code(3).stderr(contains("are s, t, u"));
    link(&["set", "s", "u", "--rate", "2Mbit"]).assert().success().stdout(contains("2Mbit"));

    link(&["remove", "s", "t"]).assert().code(2).stderr(contains("--down"));
    link(&["remove", "u", "s:2"]).assert().success();
    link(&["remove", "u", "s"]).assert().code(3).stderr(contains("has no link u - s"));
    link(&["remove", &name, "t", "u"]).assert().success();
    assert_eq!(json(&mut link(&["show", "--json"]))["links"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_controller_discovers_a_link_that_is_added_and_forgets_one_that_is_removed() {
    if !is_root("a_controller_discovers_a_link_that_is_added_and_forgets_one_that_is_removed") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("near.yaml");
    std::fs::write(&scenario, SCENARIO.replace(", delay: 20ms, reverse: {loss: 1%}", "")).unwrap();
    let name = format!("d{}", std::process::id());
    let _lab = Lab { folder: &folder, name: &name };
    braid(&folder).args(["lab", "deploy", "--name", &name]).arg(&scenario).assert().success();
    let inspected = json(braid(&folder).args(["lab", "inspect", &name, "--json"]));
    let at = inspected["controller"]["http"].as_str().unwrap();
    let known = || {
        let document =
            json(braid(&folder).args(["links", "--controller", &format!("http://{at}"), "--json"]));
        let links = document["links"].as_array().cloned().unwrap_or_default();
        links.iter().map(|link| link["src_name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let until = |wanted: &[&str]| {
        let is_so = || {
            std::thread::sleep(Duration::from_millis(100));
            known() == wanted
        };
        assert!((0..200).any(|_| is_so()), "{:?} are not {wanted:?}", known());
    };
    until(&["s:t", "t:s", "t:u", "u:t"]);
    braid(&folder).args(["lab", "link", "add", "s", "u", "--rate", "10Mbit"]).assert().success();
    until(&["s:t", "s:u", "t:s", "t:u", "u:t", "u:s"]);
    braid(&folder).args(["lab", "link", "remove", "s", "t"]).assert().success();
    until(&["s:u", "t:u", "u:t", "u:s"]);
    // The same by the controller's API.
    let testbed = "/api/v1/testbed/links?from=s&to=t";
    assert_eq!(ask(at, "POST", testbed, r#"{"rate_bps":20000000}"#), 201);
    until(&["s:u", "s:t", "t:u", "t:s", "u:t", "u:s"]);
    assert_eq!(ask(at, "DELETE", testbed, ""), 200);
    until(&["s:u", "t:u", "u:t", "u:s"]);
    assert_eq!(ask(at, "DELETE", testbed, ""), 404);
}

/// The status of an answer.
fn ask(at: &str, method: &str, path: &str, body: &str) -> u16 {
    let mut stream = TcpStream::connect(at).unwrap();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn links_are_shown_and_changed_while_their_lab_is_up() {
    if !is_root("links_are_shown_and_changed_while_their_lab_is_up") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("far.yaml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let name = format!("l{}", std::process::id());
    let lab = Lab { folder: &folder, name: &name };
    let deploy = ["lab", "deploy", "--no-controller", "--name", name.as_str()];
    braid(&folder).args(deploy).arg(&scenario).assert().success().stdout(contains("user-space"));

    braid(&folder).args(["lab", "link", "show"]).assert().success().stdout(contains("loss 1%"));
    let change = [
        "lab",
        "link",
        "set",
        &name,
        "s",
        "t",
        "--delay",
        "5ms",
        "--queue",
        "9 packets",
        "--reverse",
        "--json",
    ];
    let document = json(braid(&folder).args(change));
    let ends = &document["links"][0]["ends"];
    assert_eq!(document["schema"], "braid/v1");
    assert_eq!((&ends[0]["delay"], &ends[1]["delay"]), (&"20ms".into(), &"5ms".into()));
    assert_eq!((&ends[1]["loss"], &ends[1]["queue"]), (&"1%".into(), &"9 packets".into()));
    assert_eq!(ends[0]["counters"]["lost"]["frames"], 0);

    braid(&folder).args(["lab", "link", "set", "t", "u", "--down"]).assert().success();
    let document = json(braid(&folder).args(["lab", "link", "show", "--json"]));
    assert_eq!([&document["links"][0]["up"], &document["links"][1]["up"]], [true, false]);
    braid(&folder)
        .args(["lab", "link", "set", "t", "u", "--delay", "1ms"])
        .assert()
        .code(2)
        .stderr(contains("tbf"));
    drop(lab);
    braid(&folder).args(["lab", "list"]).assert().success().stdout(starts_with("LAB"));
    assert!(!std::path::Path::new(&format!("/run/netns/bl-{name}._links")).exists());
}

/// Removed however the test ends.
struct Lab<'a> {
    folder: &'a TempDir,
    name: &'a str,
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        let _ = braid(self.folder).args(["lab", "destroy", self.name]).output();
    }
}

fn json(command: &mut Command) -> Value {
    let output = command.assert().success();
    serde_json::from_slice(&output.get_output().stdout).unwrap()
}
