//! History of edges: values by path, bounds, and which edges and groups are forgotten first.

use braid_control::view::EdgePathState;
use braid_types::PortNo;

use super::super::history::{History, Span};
use super::*;

const ALL: Span = Span { coarse: false, since: Time::ZERO };
const EDGE: DatapathId = DatapathId(1);

fn second(second: u64) -> Time {
    Time::from_millis(second * 1_000)
}

fn edge(groups: std::ops::Range<u32>, share: f64, read_at: Time) -> EdgeView {
    let path = |port| EdgePathView {
        path: vec![EDGE, DatapathId(2)],
        ports: vec![SwitchPort::new(EDGE, PortNo(port))],
        read_at: Some(read_at),
        state: Some(EdgePathState::Active),
        share: Some(share),
        carried_bps: None,
        estimated_capacity_bps: None,
        round_trip_us: Some(9.0),
        queue_us: Some(1.0),
        loss: Some(0.0),
        silences: 0,
        packets: 0,
        bytes: 0,
    };
    let paths = || vec![path(1), path(2)];
    let spray_groups =
        groups.map(|group| SprayGroupView { group, to: DatapathId(2), paths: paths() }).collect();
    EdgeView { dpid: EDGE, answered_at: Some(read_at), spray_groups, resequencers: Vec::new() }
}

/// How many series are kept of an edge.
fn kept(history: &History) -> usize {
    let found = history.edge(EDGE, ALL);
    found.map_or(0, |found| found.spray_groups.iter().map(|group| group.paths.len()).sum())
}

/// The groups of which something is kept.
fn groups(history: &History) -> Vec<u32> {
    let found = history.edge(EDGE, ALL).expect("known");
    found.spray_groups.iter().map(|group| group.group).collect()
}

#[test]
fn an_edge_has_what_it_told_of_each_path_and_nothing_where_it_was_silent() {
    let mut history = History::default();
    for (at, told) in [(1, 1), (2, 2), (6, 2), (7, 7)] {
        history.record(second(at), &[], &[], &[&edge(5..6, at as f64, second(told))]);
    }
    let found = history.edge(EDGE, ALL).expect("known");
    let paths = &found.spray_groups[0].paths;
    assert_eq!((found.spray_groups.len(), paths.len(), found.spray_groups[0].group), (1, 2, 5));
    assert_eq!(paths[1].share, [Some(1.0), Some(2.0), None, Some(7.0)]);
    assert_eq!(paths[1].carried_bps, [None; 4]);
    assert!(history.edge(DatapathId(2), ALL).is_none());
}

#[test]
fn what_is_kept_of_edges_is_bounded_and_forgotten_after_an_hour() {
    let mut history = History::default();
    history.record(second(0), &[], &[], &[&edge(0..10_000, 0.5, second(0))]);
    assert_eq!(kept(&history), MAX_SERIES);
    (1..3_700).for_each(|at| history.record(second(at), &[], &[], &[]));
    assert_eq!(kept(&history), 0);
    assert!(history.edge(EDGE, ALL).is_none());
}

#[test]
fn groups_that_ended_first_make_room_and_those_that_go_on_do_not() {
    let mut history = History::default();
    let all = MAX_SERIES as u32 / 2;
    history.record(second(0), &[], &[], &[&edge(0..all, 0.5, second(0))]);
    history.record(second(1), &[], &[], &[&edge(1..all, 0.5, second(1))]);
    history.record(second(2), &[], &[], &[&edge(3..all, 0.5, second(2))]);
    history.record(second(3), &[], &[], &[&edge(3..all + 2, 0.5, second(3))]);
    assert_eq!(kept(&history), MAX_SERIES);
    assert_eq!(groups(&history), (2..all + 2).collect::<Vec<_>>());
    history.record(second(4), &[], &[], &[&edge(3..all + 9, 0.5, second(4))]);
    assert_eq!(groups(&history), (3..all + 3).collect::<Vec<_>>());
}

#[test]
fn edges_that_left_first_make_room() {
    let mut history = History::default();
    let edges = |of: std::ops::Range<u64>| -> Vec<_> {
        of.map(|number| EdgeView { dpid: DatapathId(number), ..edge(0..0, 0.0, second(0)) }).collect()
    };
    let record = |history: &mut History, at: u64, of: std::ops::Range<u64>| {
        history.record(second(at), &[], &[], &edges(of).iter().collect::<Vec<_>>());
    };
    let all = MAX_EDGES as u64;
    record(&mut history, 0, 0..all);
    record(&mut history, 1, 1..all);
    record(&mut history, 2, 2..all + 1);
    let known = |history: &History, number| history.edge(DatapathId(number), ALL).is_some();
    assert_eq!([0, 1, 2, all].map(|number| known(&history, number)), [false, true, true, true]);
    record(&mut history, 3, 2..all + 9);
    assert_eq!([1, 2, all + 1, all + 2].map(|number| known(&history, number)), [false, true, true, false]);
}
