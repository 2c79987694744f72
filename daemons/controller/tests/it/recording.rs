//! Recordings: replay gives the same commands and paths, and a damaged line is named.

use std::path::Path;

use braid_control::{Brain, Commands, Event, Settings};
use braid_controller::read_recording;
use braid_packet::lldp::ProbeKey;

use crate::support::{Running, Switch};

/// The brain that has seen a recording, and every command it gave.
fn replay(path: &Path) -> (Brain, Vec<String>) {
    let (header, events) = read_recording(path).expect("a recording");
    let mut key = [0; 32];
    hex::decode_to_slice(&header.lldp_key, &mut key).expect("a key");
    let mut brain = Brain::new(Settings { lldp_key: ProbeKey::new(key), ..Settings::default() });
    let mut log = Vec::new();
    for recorded in events {
        let mut commands = Commands::default();
        brain.handle(recorded.at, &recorded.event, &mut commands);
        log.push(format!("{commands:?}"));
    }
    (brain, log)
}

#[test]
fn a_run_that_was_recorded_can_be_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    {
        let controller = Running::start(Some(path.clone()));
        let _switch = Switch::join(controller.openflow, 5);
        controller.wait_for_switches(1);
    }
    let (brain, _) = replay(&path);
    let (_, events) = read_recording(&path).expect("a recording");
    let seen = events.iter().filter_map(|recorded| match &recorded.event {
        Event::SwitchUp(up) => Some((up.dpid.0, true)),
        Event::SwitchDown { dpid } => Some((dpid.0, false)),
        _ => None,
    });
    let seen: Vec<_> = seen.collect();
    assert_eq!(seen.first(), Some(&(5, true)));
    // Whether the recording ends before the switch leaves is chance; the replay ends as the recording does.
    let is_there = seen.last().is_some_and(|(_, up)| *up);
    let there: Vec<_> = brain.switches().iter().map(|switch| switch.dpid.0).collect();
    assert_eq!(there, if is_there { vec![5] } else { Vec::new() });
}

/// Recorded from four Open vSwitch bridges in a ring with a cross link, two hosts, and MPTCP's iperf3 with three
/// addresses at the client.
#[test]
fn a_run_on_open_vswitch_gives_the_same_paths_again() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testdata/ring-mptcp.jsonl");
    let (brain, log) = replay(&path);
    assert_eq!(brain.links().len(), 10);
    insta::assert_debug_snapshot!(brain.transfers());
    assert_eq!(replay(&path).1, log, "the same events give the same commands");
}

#[test]
fn a_damaged_recording_names_the_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let header = r#"{"schema":"braid/v1","version":"0.1.0","lldp_key":"00"}"#;
    std::fs::write(&path, format!("{header}\n{{\"at\":1,\"event\":\"tick\"}}\n{{\"at\":2,\"ev"))
        .expect("a file");
    let error = read_recording(&path).expect_err("a damaged file");
    assert!(error.to_string().starts_with("line 3"), "{error}");
}
