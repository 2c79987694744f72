//! Scrubbed recordings: no secret is left, and replays decide the same.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use braid_control::{Brain, Commands, Event, Settings};
use braid_packet::lldp::ProbeKey;
use braid_packet::{Frame, TcpFlags, build, mptcp};
use braid_recording::{Recorder, Scrubbed, read_recording, scrub};
use braid_types::{DatapathId, FiveTuple, PortNo, Time};
use etherparse::PacketBuilder;

/// Four Open vSwitch bridges in a ring with a cross link, two hosts, and an MPTCP connection of three addresses.
fn ring() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../daemons/controller/tests/testdata/ring-mptcp.jsonl")
}

fn replay(path: &Path) -> Brain {
    let (header, events) = read_recording(path).expect("a recording");
    let mut key = [0; 32];
    hex::decode_to_slice(&header.lldp_key, &mut key).expect("a key");
    let mut brain = Brain::new(Settings { lldp_key: ProbeKey::new(key), ..Settings::default() });
    for recorded in events {
        brain.handle(recorded.at, &recorded.event, &mut Commands::default());
    }
    brain
}

fn packets(path: &Path) -> Vec<Vec<u8>> {
    let events = read_recording(path).expect("a recording").1.into_iter();
    let data = events.filter_map(|recorded| match recorded.event {
        Event::PacketIn { data, .. } => Some(data.into_owned()),
        _ => None,
    });
    data.collect()
}

/// A recording of one packet, scrubbed.
fn scrubbed(frame: &[u8]) -> (Vec<u8>, Scrubbed) {
    let folder = tempfile::tempdir().expect("a folder");
    let [run, copy] = ["run.jsonl", "copy.jsonl"].map(|name| folder.path().join(name));
    let mut recorder = Recorder::create(&run, &[1; 32]).expect("a file");
    let (dpid, in_port, table) = (DatapathId(1), PortNo(1), 0);
    recorder
        .write(Time::ZERO, &Event::PacketIn { dpid, in_port, table, data: Cow::Borrowed(frame) })
        .expect("room");
    recorder.finish().expect("room");
    let done = scrub(&run, &copy, [2; 32], 3).expect("a copy");
    (packets(&copy).remove(0), done)
}

fn tuple() -> FiveTuple {
    FiveTuple {
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.0.2".parse().unwrap(),
        src_port: 40_000,
        dst_port: 5_201,
    }
}

#[test]
fn a_replay_of_the_copy_decides_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy.jsonl");
    let done = scrub(&ring(), &copy, [9; 32], 9).expect("a copy");
    let [before, after] = [ring(), copy].map(|path| replay(&path));
    assert_eq!(after.links().len(), before.links().len());
    assert!(!before.transfers().is_empty());
    assert_eq!(format!("{:?}", after.transfers()), format!("{:?}", before.transfers()));
    assert!(done.probes > 0 && done.keys > 0, "{done:?}");
}

#[test]
fn no_key_of_the_recording_is_in_the_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy.jsonl");
    scrub(&ring(), &copy, [9; 32], 9).expect("a copy");
    let text = std::fs::read_to_string(&copy).expect("a copy");
    let (header, _) = read_recording(&ring()).expect("a recording");
    assert!(!text.contains(&header.lldp_key));
    let mut keys = 0;
    for frame in packets(&ring()) {
        let frame = Frame::parse(&frame).expect("a frame");
        let handshake = frame.tcp().map(|tcp| mptcp::handshake(tcp.options));
        if let Some(Ok(Some(mptcp::Handshake::Capable(capable)))) = handshake {
            for key in [capable.sender_key(), capable.receiver_key()].into_iter().flatten() {
                assert!(!text.contains(&format!("{:016x}", key.0)));
                keys += 1;
            }
        }
    }
    assert!(keys > 0);
}

#[test]
fn payloads_become_zeros_of_the_same_length() {
    let ip = || PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    let [mut tcp, mut udp, mut echo] = [const { Vec::new() }; 3];
    ip().tcp(1, 2, 3, 4).syn().write(&mut tcp, b"secret").expect("a frame");
    ip().udp(1, 2).write(&mut udp, b"secret").expect("a frame");
    ip().icmpv4_echo_request(1, 2).write(&mut echo, b"secret").expect("a frame");
    let other = [&[2; 12][..], &[0x88, 0xb5], b"secret"].concat();
    for frame in [tcp, udp, echo, other] {
        let (copy, done) = scrubbed(&frame);
        assert_eq!(copy.len(), frame.len());
        assert!(copy.ends_with(&[0; 6]), "{copy:02x?}");
        assert_eq!(done.packets, 1);
    }
}

#[test]
fn options_that_cannot_be_read_become_zeros() {
    let broken = [34, 6, 1, 2, 3, 4, 30, 99, 0, 0x81, 7, 7];
    let (copy, _) = scrubbed(&build::tcp(tuple()).flags(TcpFlags::SYN).options(&broken).frame());
    let copy = Frame::parse(&copy).expect("a frame");
    assert_eq!(copy.tcp().expect("TCP").options, [0; 12]);
}

#[test]
fn the_key_of_a_fast_close_and_the_hmacs_of_joins_become_zeros() {
    let fast_close = [30, 12, 0x70, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    let join_ack = [&[30, 24, 0x10, 0][..], &[5; 20]].concat();
    for (options, kept) in [(&fast_close[..], 3), (&join_ack, 4)] {
        let (copy, _) = scrubbed(&build::tcp(tuple()).flags(TcpFlags::RST).options(options).frame());
        let copy = Frame::parse(&copy).expect("a frame");
        let copied = copy.tcp().expect("TCP").options;
        assert_eq!(&copied[..kept], &options[..kept]);
        assert!(copied[kept..].iter().all(|byte| *byte == 0), "{copied:02x?}");
    }
}

#[test]
fn a_key_that_the_recording_got_later_is_not_in_the_copy_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let [run, copy] = ["run.jsonl", "copy.jsonl"].map(|name| folder.path().join(name));
    let mut recorder = Recorder::create(&run, &[1; 32]).expect("a file");
    recorder.write(Time::ZERO, &Event::DiscoveryKey { secret: [5; 32] }).expect("room");
    recorder.finish().expect("room");
    scrub(&run, &copy, [2; 32], 3).expect("a copy");
    let events = read_recording(&copy).expect("a recording").1;
    assert_eq!(events.first().map(|it| &it.event), Some(&Event::DiscoveryKey { secret: [2; 32] }));
}

#[test]
fn tokens_in_facts_become_those_of_the_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let [recording, copy] = ["a", "b"].map(|name| folder.path().join(name));
    let stream = serde_json::json!({ "tuple": tuple(), "opening": { "join": 12_345 }, "established": true });
    let transfer =
        serde_json::json!({ "id": 1, "token": 12_345, "opener_token": 67_890, "streams": [stream] });
    let facts = serde_json::json!({ "facts": { "facts": [{ "transfer": transfer }] } });
    let mut recorder = Recorder::create(&recording, &[1; 32]).expect("a file");
    recorder.write(Time::ZERO, &serde_json::from_value(facts).expect("facts")).expect("room");
    recorder.finish().expect("room");
    scrub(&recording, &copy, [2; 32], 7).expect("a recording");
    let text = std::fs::read_to_string(&copy).expect("a file");
    assert!(!text.contains("12345") && !text.contains("67890"), "{text}");
    let line: serde_json::Value = serde_json::from_str(text.lines().nth(1).expect("a line")).expect("JSON");
    let transfer = &line["event"]["facts"]["facts"][0]["transfer"];
    assert_eq!(transfer["token"], transfer["streams"][0]["opening"]["join"], "they belong together");
}
