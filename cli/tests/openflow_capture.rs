//! `braid openflow decode --pcap` of captures between Open vSwitch, ovs-ofctl and the controller.

mod support;

use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};

use predicates::str::contains;
use serde_json::{Value, json};
use support::capture::{ETHERNET, Packet, packets, payload_length, pcap, pcapng, recorded, to_ipv6};
use support::{braid, lines, text};

/// Bytes of an Ethernet header.
const LINK: usize = 14;

fn decode(file: &[u8]) -> Output {
    braid().args(["openflow", "decode", "--pcap", "-"]).write_stdin(file).output().unwrap()
}

fn ethernet(packets: &[Packet]) -> Vec<u8> {
    pcap(packets, ETHERNET, <[u8]>::to_vec)
}

/// What each side of each connection said, without times.
fn streams(output: &Output) -> BTreeMap<(String, String), Vec<Value>> {
    let mut streams = BTreeMap::<_, Vec<_>>::new();
    for mut line in lines(output) {
        line.as_object_mut().unwrap().remove("time");
        streams.entry((line["src"].to_string(), line["dst"].to_string())).or_default().push(line);
    }
    streams
}

fn messages(output: &Output) -> Vec<Value> {
    lines(output).into_iter().filter(|line| line.get("type").is_some()).collect()
}

fn notes(output: &Output) -> Vec<Value> {
    lines(output).into_iter().filter(|line| line.get("note").is_some()).collect()
}

#[test]
fn messages_of_the_recorded_captures_are_those_that_tshark_finds() {
    for name in ["openflow13.pcap", "openflow10.pcap"] {
        let path = recorded(name);
        let Some(expected) = tshark(path.to_str().unwrap()) else {
            println!("skipped: tshark is not installed");
            return;
        };
        let output = braid().args(["openflow", "decode", "--pcap"]).arg(path).output().unwrap();
        let found: Vec<_> = lines(&output).iter().map(|line| (version(line), line["xid"].clone())).collect();
        assert_eq!(found, expected, "{name}");
    }
}

/// The wire versions and transaction ids of all messages, in order.
fn tshark(path: &str) -> Option<Vec<(Value, Value)>> {
    let mut command = Command::new("tshark");
    command.args(["-r", path, "-Y", "openflow_v1 or openflow_v4", "-T", "fields", "-E", "separator=;"]);
    command.args(["-d", "tcp.port==6653,openflow", "-d", "tcp.port==6633,openflow"]);
    for field in ["openflow.version", "openflow_v4.version", "openflow.xid", "openflow_v4.xid"] {
        command.args(["-e", field]);
    }
    let output = command.output().ok()?;
    let mut messages = Vec::new();
    for line in text(&output.stdout).lines() {
        let fields: Vec<_> = line.split(';').map(numbers).collect();
        let [old, new, old_xids, new_xids] = fields.try_into().unwrap();
        messages.extend([old, new].concat().into_iter().zip([old_xids, new_xids].concat()));
    }
    Some(messages)
}

/// The numbers of a field, of which a packet has as many as messages.
fn numbers(field: &str) -> Vec<Value> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    };
    field.split(',').filter(|text| !text.is_empty()).map(|text| json!(number(text))).collect()
}

fn version(line: &Value) -> Value {
    line["version"].clone()
}

#[test]
fn every_message_of_a_conversation_in_openflow_1_3_decodes() {
    let output = decode(&ethernet(&packets("openflow13.pcap")));
    assert!(output.status.success());
    assert!(lines(&output).iter().all(|line| line.get("error").is_none() || line["type"] == "error"));
    for kind in
        ["hello", "flow_mod", "group_mod", "meter_mod", "multipart_reply", "port_status", "packet_out"]
    {
        assert!(messages(&output).iter().any(|line| line["type"] == kind), "{kind}");
    }
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn conversation_in_openflow_1_0_is_said_to_be_one() {
    let output = decode(&ethernet(&packets("openflow10.pcap")));
    assert_eq!(output.status.code(), Some(1));
    let errors: Vec<_> = lines(&output).into_iter().filter(|line| line.get("error").is_some()).collect();
    assert!(errors.len() > 10);
    assert!(errors.iter().all(|line| line["error"]["reason"].as_str().unwrap().contains("OpenFlow 1.0")));
    assert!(messages(&output).iter().all(|line| line["type"] == "hello"));
}

#[test]
fn link_type_and_file_format_make_no_difference() {
    let packets = packets("openflow13.pcap");
    let expected = streams(&decode(&ethernet(&packets)));
    let behind = |header: &'static [u8]| move |packet: &[u8]| [header, &packet[LINK..]].concat();
    let tagged = |packet: &[u8]| [&packet[..12], &[0x81, 0, 0, 7], &packet[12..]].concat();
    let sll = behind(&[0, 0, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]);
    let sll2 = behind(&[8, 0, 0, 0, 0, 0, 0, 1, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0]);
    let files = [
        ("802.1Q", pcap(&packets, ETHERNET, tagged)),
        ("null", pcap(&packets, 0, behind(&[2, 0, 0, 0]))),
        ("loop", pcap(&packets, 108, behind(&[0, 0, 0, 2]))),
        ("raw", pcap(&packets, 101, behind(&[]))),
        ("Linux cooked", pcap(&packets, 113, sll)),
        ("Linux cooked 2", pcap(&packets, 276, sll2)),
        ("pcapng", pcapng(&packets)),
    ];
    for (name, file) in files {
        assert_eq!(streams(&decode(&file)), expected, "{name}");
    }
}

#[test]
fn times_are_those_of_the_packets_in_both_formats() {
    let packets = packets("openflow13.pcap");
    let times =
        |file: &[u8]| lines(&decode(file)).iter().map(|line| line["time"].clone()).collect::<Vec<_>>();
    assert_eq!(times(&ethernet(&packets)), times(&pcapng(&packets)));
    assert_eq!(times(&ethernet(&packets))[0], json!("2026-11-21T06:03:10.592693000Z"));
}

#[test]
fn messages_over_ipv6_are_the_same() {
    let packets = packets("openflow13.pcap");
    let strip = |output: &Output| {
        let mut messages = messages(output);
        for message in &mut messages {
            let object = message.as_object_mut().unwrap();
            object.retain(|key, _| key != "src" && key != "dst");
        }
        messages
    };
    let output = decode(&pcap(&to_ipv6(&packets), 229, <[u8]>::to_vec));
    assert!(messages(&output)[0]["src"].as_str().unwrap().starts_with("[2001:db8::"));
    assert_eq!(strip(&output), strip(&decode(&ethernet(&packets))));
}

#[test]
fn packets_out_of_order_and_sent_twice_make_no_difference() {
    let packets = packets("openflow13.pcap");
    let expected = streams(&decode(&ethernet(&packets)));
    let mut shuffled = packets.clone();
    for pair in
        shuffled.chunks_exact_mut(2).filter(|pair| pair.iter().all(|packet| payload_length(packet) > 0))
    {
        pair.swap(0, 1);
    }
    assert!(shuffled.iter().zip(&packets).any(|(one, other)| one.bytes != other.bytes));
    assert_eq!(streams(&decode(&ethernet(&shuffled))), expected);
    let twice: Vec<_> = packets.iter().flat_map(|packet| [packet.clone(), packet.clone()]).collect();
    assert_eq!(streams(&decode(&ethernet(&twice))), expected);
}

#[test]
fn packet_that_was_not_captured_costs_only_its_own_messages() {
    let packets = packets("openflow13.pcap");
    let all = messages(&decode(&ethernet(&packets)));
    // The first segment that is longer than any header: in the middle of a connection.
    let lost = packets.iter().position(|packet| payload_length(packet) > 100).unwrap();
    let mut rest = packets.clone();
    let missing = payload_length(&rest.remove(lost));
    let output = decode(&ethernet(&rest));
    let [note] = &notes(&output)[..] else { panic!("{:?}", notes(&output)) };
    assert_eq!(
        (&note["note"], &note["skipped"]),
        (&json!("bytes are missing from the capture"), &json!(missing))
    );
    let left: Vec<_> = messages(&output);
    assert!(left.len() < all.len() && left.iter().all(|message| all.contains(message)));
}

#[test]
fn stream_that_began_before_the_capture_is_read_from_its_first_whole_message() {
    let packets = packets("openflow13.pcap");
    let all = messages(&decode(&ethernet(&packets)));
    // The controller's connection is the last one; join it after its first messages.
    let output = decode(&ethernet(&packets[packets.len() * 4 / 5..]));
    let notes = notes(&output);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes.iter().all(|note| note["note"] == "the stream began before the capture"));
    let left: Vec<_> = messages(&output);
    assert!(left.len() > 5 && output.status.success());
    let unplaced = |mut message: Value| {
        message.as_object_mut().unwrap().remove("offset");
        message
    };
    let all: Vec<_> = all.into_iter().map(unplaced).collect();
    assert!(left.into_iter().map(unplaced).all(|message| all.contains(&message)));
}

#[test]
fn capture_that_ends_within_a_packet_is_read_up_to_there() {
    let file = ethernet(&packets("openflow13.pcap"));
    let output = decode(&file[..file.len() - 5]);
    assert!(output.status.success());
    assert!(messages(&output).len() > 100);
    assert!(text(&output.stderr).contains("the capture ends within a packet"));
}

#[test]
fn other_ports_are_read_when_named() {
    let file = recorded("openflow13.pcap");
    let count = |ports: &[&str]| {
        let output = braid().args(["openflow", "decode", "--pcap"]).arg(&file).args(ports).output().unwrap();
        messages(&output).len()
    };
    let (one, other) = (count(&["--port", "6633"]), count(&["--port", "6653"]));
    assert!(one > 0 && other > 0);
    assert_eq!(count(&["--port", "6633", "--port", "6653"]), one + other);
    assert_eq!(count(&[]), one + other);
}

#[test]
fn capture_without_openflow_says_what_was_looked_for() {
    let file = recorded("openflow13.pcap");
    let command = braid().args(["openflow", "decode", "--port", "6640", "--pcap"]).arg(file).assert();
    command.code(3).stdout("").stderr(contains("port 6640"));
}

#[test]
fn file_that_is_no_capture_or_not_there_is_an_error() {
    braid()
        .args(["openflow", "decode", "--pcap", "/nonexistent.pcap"])
        .assert()
        .code(3)
        .stderr(contains("/nonexistent.pcap"));
    for file in [&b""[..], b"\x7fELF", &[0xff; 100]] {
        let output = decode(file);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            text(&output.stderr).starts_with("braid: -: this is not a capture"),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn damaged_captures_never_end_in_a_panic() {
    let packets = packets("openflow13.pcap");
    let packets = &packets[..60];
    for (file, seed) in [ethernet(packets), pcapng(packets)]
        .into_iter()
        .flat_map(|file| (1..20).map(move |seed| (file.clone(), seed)))
    {
        let mut damaged = file;
        let mut at = 24;
        while let Some(byte) = damaged.get_mut(at) {
            *byte ^= 0xff;
            at += seed * 97;
        }
        let code = decode(&damaged).status.code();
        assert!(matches!(code, Some(0..=3)), "seed {seed}: {code:?}");
    }
}

#[test]
fn reader_of_the_output_may_leave() {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("braid"));
    command.args(["openflow", "decode", "--pcap"]).arg(recorded("openflow13.pcap"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(text(&output.stderr), "");
}
