//! Commands that query a running controller.

mod support;

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, TcpListener};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use braid_api::{
    DegradedLink, Host, Link, LinkCounters, LinkDelay, LossEvidence, SprayPath, Stream, Transfer,
    TransferKind,
};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};
use serde::Serialize;
use serde_json::{Value, json};
use support::controller::{Controller, answer_by_path, answer_with, connect_switch};
use support::{braid, lines, run, text};

const VERBS: [&str; 6] = ["switches", "links", "hosts", "edges", "transfers", "assignments"];

/// The table that the answer of a controller becomes.
fn table(name: &str, items: &(impl Serialize + ?Sized)) -> String {
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
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["b1", "b1", "master", &address, "1", "1", "0"]);
}

#[test]
fn events_are_listed_and_followed_as_they_happen() {
    let controller = Controller::start();
    let _first = connect_switch(controller.openflow, DatapathId(0xb1));
    let url = ["--controller", &controller.http];
    let deadline = Instant::now() + Duration::from_secs(30);
    let listed = || text(&run(&[&["events"], &url[..]].concat()).stdout);
    while !listed().contains("switch 00000000000000b1 joined") && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(listed().starts_with("AGO"), "{}", listed());
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("braid"));
    let mut process = command.args(["events", "--follow"]).args(url).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let joined = |line: Option<String>| line.filter(|line| line.ends_with("joined with 1 ports"));
    assert!(joined(lines.next()).is_some_and(|line| line.contains("00000000000000b1")));
    let _second = connect_switch(controller.openflow, DatapathId(0xb2));
    assert!(lines.by_ref().any(|line| joined(Some(line)).is_some_and(|it| it.contains("00000000000000b2"))));
    process.kill().unwrap();
    process.wait().unwrap();
}

/// A link of which nothing is measured, yet.
const fn unmeasured(src: SwitchPort, dst: SwitchPort) -> Link {
    Link {
        src,
        dst,
        src_name: String::new(),
        dst_name: String::new(),
        capacity_bps: 2_500_000_000,
        measured_capacity_bps: None,
        measured_capacity_at: None,
        delay_us: None,
        delay_at: None,
        load_bps: None,
        available_bps: None,
        load_at: None,
        loss: None,
        loss_at: None,
        degraded: None,
        counters: LinkCounters { bytes: 0, packets: 0, dropped: 0, errors: 0 },
    }
}

fn measured(src: SwitchPort, dst: SwitchPort) -> Link {
    Link {
        delay_us: Some(LinkDelay { base: 10_004.2, current: 250.0, p50: 260.0, p99: 900.0 }),
        delay_at: Some(Time::from_millis(89_500)),
        load_bps: Some(94_930_000),
        available_bps: Some(2_405_070_000),
        load_at: Some(Time::from_millis(60_000)),
        loss: Some(0.0125),
        loss_at: Some(Time::from_millis(90_000)),
        ..unmeasured(src, dst)
    }
}

#[test]
fn links_are_listed_with_what_is_measured_and_its_age_if_it_is_old() {
    let links = [unmeasured(at(1, 2), at(0xabc, 10)), measured(at(0xabc, 10), at(1, 2))];
    let expected = "FROM    TO      CAPACITY  LOAD                 AVAILABLE          DELAY     NOW     LOSS
1:2     abc:10  2.5Gbit   -                    -                  -         -       -
abc:10  1:2     2.5Gbit   94.9Mbit (30.0 s ago)  2.4Gbit (30.0 s ago)  10.00 ms  250 us  1.25 %
";
    let squeezed = |text: &str| {
        text.split("  ").map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join("|")
    };
    assert_eq!(squeezed(&table("links", &links)), squeezed(expected));
}

#[test]
fn a_degraded_link_is_listed_with_what_was_counted() {
    let evidence = LossEvidence { frames: 3_101, lost: 34, damaged: 0, time_us: 3_100_000 };
    let degraded =
        Some(DegradedLink { since: Time::ZERO, evidence, clean_since: Time::ZERO, hold_us: 30_000_000 });
    let listed = table("links", &[Link { degraded, ..measured(at(1, 2), at(2, 1)) }]);
    assert!(listed.trim_end().ends_with("avoided: 34 of 3101 frames lost in 3.1 s"), "{listed}");
}

#[test]
fn links_that_are_watched_are_listed_again_and_again() {
    let body = json!({ "schema": "braid/v1", "now": 0, "links": [unmeasured(at(1, 2), at(3, 4))] });
    for (json, each) in [(false, 3), (true, 1)] {
        let url = answer_with("200 OK", body.to_string());
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("braid"));
        command.args(["links", "--watch", "--controller", &url]).args(json.then_some("--json"));
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let lines: Vec<_> = lines.take(2 * each).collect();
        process.kill().unwrap();
        process.wait().unwrap();
        let (first, second) = lines.split_at(each);
        assert_eq!(first, second);
        assert!(first[0].starts_with(if json { "{" } else { "FROM" }), "{first:?}");
    }
}

#[test]
fn hosts_are_listed_with_all_their_addresses() {
    let addresses: Vec<IpAddr> = vec!["10.0.0.1".parse().unwrap(), "fe80::1".parse().unwrap()];
    let mac = MacAddr::new([2, 0, 0, 0, 0, 1]);
    let (name, at_name, last_seen) = (None, String::new(), Time::from_millis(78_500));
    let host = Host { mac, name, host: String::new(), at: at(1, 2), at_name, addresses, last_seen };
    let expected = "HOST               MAC                AT   ADDRESSES          HEARD
02:00:00:00:00:01  02:00:00:00:00:01  1:2  10.0.0.1, fe80::1  11.5 s ago
";
    assert_eq!(table("hosts", &[host]), expected);
}

#[test]
fn interfaces_of_one_host_follow_each_other_and_named_hosts_come_first() {
    let host = |number: u8, name: Option<&str>, at_name: &str| Host {
        mac: MacAddr::new([2, 0, 0, 0, 0, number]),
        name: name.map(str::to_owned),
        host: name.map_or_else(|| format!("10.0.0.{number}"), str::to_owned),
        at: at(1, u32::from(number)),
        at_name: at_name.to_owned(),
        addresses: vec![IpAddr::from([10, 0, 0, number])],
        last_seen: Time::from_millis(89_000),
    };
    let hosts =
        [host(1, Some("dtn"), "ams1:eth1"), host(2, None, "ams1:eth2"), host(3, Some("dtn"), "ams2:eth3")];
    let expected = "HOST      MAC                AT         ADDRESSES  HEARD
dtn       02:00:00:00:00:01  ams1:eth1  10.0.0.1   1.0 s ago
dtn       02:00:00:00:00:03  ams2:eth3  10.0.0.3   1.0 s ago
10.0.0.2  02:00:00:00:00:02  ams1:eth2  10.0.0.2   1.0 s ago
";
    assert_eq!(table("hosts", &hosts), expected);
}

fn stream(id: u64, path: &[u64], port: u32, bytes: u64) -> Stream {
    Stream {
        spray_paths: Vec::new(),
        src_name: None,
        dst_name: None,
        path_names: Vec::new(),
        id,
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.0.2".parse().unwrap(),
        src_port: 40_000,
        dst_port: 5_201,
        path: path.iter().copied().map(DatapathId).collect(),
        ports: path
            .split_last()
            .map_or(&[][..], |(_, others)| others)
            .iter()
            .map(|dpid| at(*dpid, port))
            .collect(),
        bytes_sent: bytes,
        bytes_received: 0,
        sent_bps: bytes * 8,
        received_bps: 0,
    }
}

#[test]
fn transfers_are_listed_with_a_row_for_each_stream() {
    let one = stream(1, &[1, 2, 0xc], 7, 1_500_000);
    let streams = vec![one, stream(2, &[], 0, 7), stream(3, &[3, 4], 5, 0), stream(4, &[3, 4], 6, 0)];
    let opened_at = Time::from_millis(20_000);
    let transfer = Transfer { id: 3, kind: TransferKind::Mptcp, opened_at, streams };
    let expected = "TRANSFER KIND AGE FROM TO SENT RATE RECEIVED RATE PATH
3 mptcp 1 min 10 s 10.0.0.1:40000 10.0.0.2:5201 1.5 MB 12.0Mbit 0 B 0bit 1 > 2 > c
10.0.0.1:40000 10.0.0.2:5201 7 B 56bit 0 B 0bit default path
10.0.0.1:40000 10.0.0.2:5201 0 B 0bit 0 B 0bit 3:5 > 4
10.0.0.1:40000 10.0.0.2:5201 0 B 0bit 0 B 0bit 3:6 > 4";
    assert_eq!(words(&table("transfers", std::slice::from_ref(&transfer))), expected);
    let path = |path: [u64; 3], path_names: &[&str]| SprayPath {
        path: path.map(DatapathId).to_vec(),
        path_names: path_names.iter().map(|name| (*name).to_owned()).collect(),
        ports: Vec::new(),
        rate_bps: 100_000_000,
        delay_us: 10_000,
    };
    let mut sprayed = stream(9, &[1, 2, 4], 7, 1);
    sprayed.spray_paths =
        vec![path([1, 2, 4], &["ams", "fra", "gva"]), path([1, 3, 4], &["ams", "3", "gva"])];
    sprayed.src_name = Some("dtn".to_owned());
    let sprayed = Transfer { kind: TransferKind::Spray, streams: vec![sprayed], ..transfer };
    let expected = "TRANSFER KIND AGE FROM TO SENT RATE RECEIVED RATE PATH
3 spray 1 min 10 s dtn 10.0.0.1:40000 10.0.0.2:5201 1 B 8bit 0 B 0bit ams > fra > gva
ams > 3 > gva";
    assert_eq!(words(&table("transfers", &[sprayed])), expected);
}

/// The text with one space between words.
fn words(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn links_and_switches_are_shown_by_name() {
    let link = Link {
        src_name: "ams1:eth1".to_owned(),
        dst_name: "gva1:eth2".to_owned(),
        ..unmeasured(at(1, 2), at(3, 4))
    };
    assert!(words(&table("links", &[link])).contains("\nams1:eth1 gva1:eth2 2.5Gbit"));
    let switch = json!({ "dpid": "00000000000000b1", "role": "master", "ports": [], "name": "ams1" });
    assert_eq!(
        words(&table("switches", &[switch])),
        "SWITCH DPID ROLE ADDRESS PORTS UP LINKS\nams1 b1 master - 0 0 0"
    );
}

#[test]
fn assignments_are_listed_with_a_row_for_each_path() {
    let path = |switches: [&str; 2], streams: u64| {
        json!({ "switches": switches, "switch_names": ["ams1", "gva1"], "available_bps": 94_000_000,
                "round_trip_us": 20_000.0, "best_streams": 4.0, "streams": streams })
    };
    let ids = ["0000000000000001", "0000000000000002"];
    let assignment = json!({ "id": "00000000000000aa", "owner": "braid-run", "src": "10.0.0.1", "dst": "10.0.0.2",
        "requested_paths": 2, "expected_streams": null, "distribution": "weight", "opened_at": 0,
        "expires_at": Time::from_millis(95_000), "placed_streams": 3, "paths": [path(ids, 2), path(ids, 1)] });
    let expected = "ASSIGNMENT OWNER BETWEEN AND ENDS IN AVAILABLE ROUND TRIP STREAMS PATH
00000000000000aa braid-run 10.0.0.1 10.0.0.2 5.0 s 94.0Mbit 20.00 ms 2 of 4 ams1 > gva1
94.0Mbit 20.00 ms 1 of 4 ams1 > gva1";
    assert_eq!(words(&table("assignments", &[assignment])), expected);
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
    let command = braid().args(["hosts", "--controller", "ftp://127.0.0.1"]).assert();
    command.code(2).stderr(contains("ftp is not spoken, only http and https"));
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

#[test]
fn lists_are_filtered_and_a_filter_that_makes_no_sense_is_a_wrong_usage() {
    let links = [unmeasured(at(0x2a, 1), at(2, 1)), unmeasured(at(2, 1), at(3, 7))];
    let body = json!({ "schema": "braid/v1", "now": 0, "links": links }).to_string();
    let ask = |filter: &str, rest: &[&str]| {
        let url = answer_with("200 OK", body.clone());
        run(&[&["links", "--filter", filter, "--controller", &url], rest].concat())
    };
    assert_eq!(text(&ask("src.dpid=2a", &[]).stdout).lines().count(), 2);
    assert_eq!(text(&ask("", &[]).stdout).lines().count(), 3);
    let json = &lines(&ask("port>=7", &["--json"]))[0];
    assert_eq!(json["links"].as_array().map(Vec::len), Some(1));
    let wrong = ask("port>x", &[]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("no number"), "{}", text(&wrong.stderr));
}

#[test]
fn lists_are_shown_with_all_their_pages() {
    let page = |links: &[Link], now: u64, next: Option<&str>| {
        json!({ "schema": "braid/v1", "now": now, "next_cursor": next, "links": links }).to_string()
    };
    let path = |cursor: &str| format!("/api/v1/links?{cursor}limit=10000");
    let links = [1, 2, 3].map(|dpid| unmeasured(at(dpid, 1), at(9, 1)));
    let url = answer_by_path(vec![
        // Of pages with a filter, an empty one, and one of a controller that looks for nothing.
        (path("cursor=1%3A1&filter=src.dpid%3D3&"), page(&links[1..], 2, None)),
        (path("filter=src.dpid%3D3&"), page(&[], 1, Some("1:1"))),
        (path("cursor=1%3A1&"), page(&links[1..2], 2, Some("2:1"))),
        (path("cursor=2%3A1&"), page(&links[2..], 3, None)),
        (path(""), page(&links[..1], 1, Some("1:1"))),
    ]);
    let ask = |rest: &[&str]| text(&run(&[&["links", "--controller", &url], rest].concat()).stdout);
    assert_eq!(ask(&[]).lines().count(), 4);
    let json: Value = serde_json::from_str(&ask(&["--json"])).unwrap();
    let sources: Vec<_> = json["links"].as_array().unwrap().iter().map(|link| &link["src"]["dpid"]).collect();
    assert_eq!(sources, ["0000000000000001", "0000000000000002", "0000000000000003"]);
    assert_eq!((&json["now"], &json["next_cursor"]), (&json!(3), &json!(null)), "as one answer");
    assert_eq!(ask(&["--filter", "src.dpid=3"]).lines().count(), 2, "whatever page an item is on");
}

#[test]
fn pages_that_do_not_end_are_refused() {
    let body = json!({ "schema": "braid/v1", "now": 0, "next_cursor": "1:1", "links": [] }).to_string();
    let url = answer_with("200 OK", body);
    braid().args(["links", "--controller", &url]).assert().code(1).stderr(contains("its pages do not end"));
}

#[test]
fn transfers_are_watched() {
    let url = answer_with("200 OK", json!({ "schema": "braid/v1", "now": 0, "transfers": [] }).to_string());
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("braid"));
    let command = command.args(["transfers", "--watch", "--json", "--controller", &url]);
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.by_ref().take(2).all(|line| line.contains("\"transfers\":[]")));
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn watched_transfers_are_beside_the_maximum_flow_between_their_hosts() {
    let body = |name: &str, items: Value| {
        let body = json!({ "schema": "braid/v1", "now": Time::from_millis(90_000), name: items });
        (format!("/api/v1/{name}"), body.to_string())
    };
    let host = |name: &str, address: IpAddr, dpid: u64| Host {
        mac: MacAddr::new([2, 0, 0, 0, 0, dpid as u8]),
        name: None,
        host: name.to_owned(),
        at: at(dpid, 9),
        at_name: String::new(),
        addresses: vec![address],
        last_seen: Time::ZERO,
    };
    let transfer = |id: u64, sent_bps: u64| {
        let one = Stream { sent_bps, ..stream(id, &[1, 2], 7, 1_500_000) };
        let streams = vec![one];
        Transfer { id, kind: TransferKind::Mptcp, opened_at: Time::ZERO, streams }
    };
    let ends = transfer(1, 0);
    let [src, dst] = [ends.streams[0].src, ends.streams[0].dst];
    let fast = |src, dst| Link { capacity_bps: 100_000_000, ..unmeasured(src, dst) };
    let url = answer_by_path(vec![
        body("transfers", json!([transfer(1, 10_000_000), transfer(2, 50_000_000)])),
        body("hosts", json!([host("ams", src, 1), host("gva", dst, 2)])),
        body("links", json!([fast(at(1, 1), at(2, 1)), fast(at(2, 1), at(1, 1))])),
    ]);
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("braid"));
    let command = command.args(["transfers", "--watch", "--controller", &url]);
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let lines: Vec<_> = lines.take(5).collect();
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(lines[0].contains("OF MAX  LAST 15 S  PATH"), "{lines:?}");
    assert!(lines[1].starts_with("2 ") && lines[1].contains("  50 %    █"), "the busiest first: {lines:?}");
    assert!(lines[2].starts_with("1 ") && lines[2].contains("  10 %    "), "{lines:?}");
    assert_eq!(lines[4], "2 transfers, 2 streams: 60.0Mbit sent, 0bit received");
}

#[test]
fn a_controller_that_is_alone_has_no_cluster_to_show() {
    let controller = Controller::start();
    let output = run(&["cluster", "status", "--controller", &controller.http]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("no member of a cluster"), "{}", text(&output.stderr));
}

#[test]
fn a_cluster_is_shown_with_its_leader_and_when_each_member_was_heard() {
    let member = |name: &str, heard: Option<Time>, following: Value| {
        let reached = heard.map(|_| 19);
        let relayed = (name == "a").then_some(2);
        json!({
            "name": name, "address": "10.0.0.1:7000", "last_heard": heard, "following": following, "switches_reached": reached,
            "switches_relayed": relayed,
        })
    };
    let heard = Some(Time::from_millis(80_000));
    let body = json!({
        "schema": "braid/v1", "now": Time::from_millis(90_000), "name": "default", "member": "a", "leader": "b",
        "term": 65_537, "newest_term": 65_537, "store_answers": false, "facts": 3,
        "members": [member("a", None, json!({ "lag_us": 1_500_000 })), member("b", heard, json!(null)), member("c", None, json!(null))],
    });
    let url = answer_by_path(vec![("/api/v1/cluster".to_owned(), body.to_string())]);
    let shown = text(&run(&["cluster", "status", "--controller", &url]).stdout);
    let lines: Vec<_> =
        shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "cluster default: b leads in term 65537; etcd does not answer a",
        "",
        "MEMBER ROLE ADDRESS HEARD SWITCHES RELAYED LAG",
        "a standby 10.0.0.1:7000 itself - 2 1.5 s",
        "b leader 10.0.0.1:7000 10.0 s ago 19 - -",
        "c standby 10.0.0.1:7000 - - - -",
    ];
    assert_eq!(lines, expected);
}
