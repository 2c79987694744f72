//! The commands that ask a running controller.

mod support;

use std::net::{IpAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use braid_control::view::{HostView, LinkView, StreamView, TransferView};
use braid_steering::{StreamId, TransferId, TransferKind};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};
use serde::Serialize;
use serde_json::json;
use support::controller::{Controller, answer_with, connect_switch};
use support::{braid, lines, run, text};

const VERBS: [&str; 4] = ["switches", "links", "hosts", "transfers"];

/// The table that the answer of a controller becomes.
fn table(name: &str, items: &impl Serialize) -> String {
    let body = json!({ "schema": "braid/v1", "now": Time::from_millis(90_000), name: items });
    let url = answer_with("200 OK", body.to_string());
    text(&run(&[name, "--controller", &url]).stdout)
}

const fn at(dpid: u64, port: u32) -> SwitchPort {
    SwitchPort::new(DatapathId(dpid), PortNo(port))
}

#[test]
fn controller_without_a_network_has_empty_lists() {
    let controller = Controller::start();
    for verb in VERBS {
        let output = run(&[verb, "--controller", &controller.http]);
        assert!(output.status.success(), "{verb}");
        assert_eq!(text(&output.stdout).lines().count(), 1, "{verb}");
        let answer = &lines(&run(&[verb, "--json", "--controller", &controller.http]))[0];
        assert_eq!((&answer["schema"], &answer[verb]), (&json!("braid/v1"), &json!([])));
    }
}

#[test]
fn switch_that_connects_is_listed_with_its_address_and_ports() {
    let controller = Controller::start();
    let switch = connect_switch(controller.openflow, DatapathId(0xb1));
    let url = [("BRAID_CONTROLLER", controller.http.as_str())];
    let listed = || braid().args(["switches", "--json"]).envs(url).output().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while lines(&listed())[0]["switches"] == json!([]) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    let output = braid().arg("switches").envs(url).output().unwrap();
    let row = text(&output.stdout).lines().nth(1).map(str::to_owned).unwrap_or_default();
    let address = switch.local_addr().unwrap().to_string();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["b1", &address, "1", "1", "0"]);
}

#[test]
fn links_are_listed_with_both_ends_and_capacity() {
    let link = LinkView { src: at(1, 2), dst: at(0xabc, 10), capacity_bps: 2_500_000_000 };
    assert_eq!(table("links", &[link]), "FROM  TO      CAPACITY\n1:2   abc:10  2500Mbit\n");
}

#[test]
fn hosts_are_listed_with_all_their_addresses() {
    let addresses: Vec<IpAddr> = vec!["10.0.0.1".parse().unwrap(), "fe80::1".parse().unwrap()];
    let mac = MacAddr::new([2, 0, 0, 0, 0, 1]);
    let host = HostView { mac, at: at(1, 2), addresses, last_seen: Time::from_millis(78_500) };
    let expected = "HOST               AT   ADDRESSES          HEARD
02:00:00:00:00:01  1:2  10.0.0.1, fe80::1  11.5 s ago
";
    assert_eq!(table("hosts", &[host]), expected);
}

#[test]
fn transfers_are_listed_with_a_row_for_each_stream() {
    let stream = |id, path: &[u64], bytes| StreamView {
        id: StreamId(id),
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.0.2".parse().unwrap(),
        src_port: 40_000,
        dst_port: 5_201,
        path: path.iter().copied().map(DatapathId).collect(),
        bytes_sent: bytes,
        bytes_received: 0,
    };
    let streams = vec![stream(1, &[1, 2, 0xc], 1_500_000), stream(2, &[], 7)];
    let opened_at = Time::from_millis(20_000);
    let transfer = TransferView { id: TransferId(3), kind: TransferKind::Mptcp, opened_at, streams };
    let expected = "TRANSFER  KIND   AGE         FROM            TO             SENT    RECEIVED  PATH
3         mptcp  1 min 10 s  10.0.0.1:40000  10.0.0.2:5201  1.5 MB  0 B       1 > 2 > c
                             10.0.0.1:40000  10.0.0.2:5201  7 B     0 B       default route
";
    assert_eq!(table("transfers", &[transfer]), expected);
}

#[test]
fn answer_is_passed_on_with_what_this_version_does_not_know() {
    let body = json!({ "schema": "braid/v1", "now": 0, "links": [], "later": 1 });
    let output = run(&["links", "--json", "--controller", &answer_with("200 OK", body.to_string())]);
    assert_eq!(lines(&output), [body]);
}

#[test]
fn absent_controller_is_not_found() {
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for verb in VERBS {
        let command = braid().args([verb, "--controller", &address]).assert().code(3).stdout("");
        command.stderr(starts_with(format!("braid: no controller answers at http://{address}: ")));
    }
}

#[test]
fn something_else_that_answers_is_a_failure_that_says_what_it_is() {
    let cases = [
        ("404 Not Found", String::new(), "is this a Braid controller?"),
        (
            "503 Service Unavailable",
            "the controller is stopping".to_owned(),
            "the controller is stopping (status 503)",
        ),
        ("200 OK", "<html>".to_owned(), "no answer of a Braid controller"),
        ("200 OK", json!({ "schema": "braid/v9" }).to_string(), "its schema is braid/v9"),
    ];
    for (status, body, reason) in cases {
        let url = answer_with(status, body);
        braid().args(["hosts", "--controller", &url]).assert().code(1).stdout("").stderr(contains(reason));
    }
}

#[test]
fn url_of_another_scheme_is_a_wrong_usage() {
    let command = braid().args(["hosts", "--controller", "https://127.0.0.1"]).assert();
    command.code(2).stderr(contains("https is not spoken"));
}

#[test]
fn port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for [own, other] in [["--openflow", "--http"], ["--http", "--openflow"]] {
        let command = braid().args(["controller", "run", own, &address, other, "127.0.0.1:0"]).assert();
        command.code(1).stdout("").stderr(starts_with("braid: cannot listen").and(contains(&address)));
    }
}
