//! Reports of edges about their groups.

use std::time::Duration;

use braid_edge_protocol::telemetry::{Limits, PathReport, PathState, Report, ResequenceReport, SprayReport};
use braid_packet::TcpFlags;
use braid_spray::{Counters, Gauge, HoldHistogram};
use braid_types::{DatapathId, MacAddr, SwitchPort};

use super::mptcp::THREE_WAYS;
use super::network::{Network, dpid, ip, mac, tuple};
use crate::command::Command;
use crate::event::{Event, GroupReport};
use crate::notice::Notice;
use crate::pipeline::{EdgeGroup, Spray};
use crate::settings::Settings;
use crate::threat::{AlarmSource, Threat};
use crate::view::{EdgePathState, EdgeView};

/// Two edges, with a plain connection between them over three paths.
fn sprayed() -> Network {
    let mut network = Network::start_with_edges(Settings::default(), &THREE_WAYS, &[1, 9]);
    network.send_tcp(1, 9, tuple(ip(1), 1_000, ip(9)), TcpFlags::SYN, &[]);
    network
}

fn group_of(network: &Network, edge: DatapathId) -> Spray {
    let group = |command: &Command| match command {
        Command::Spray { dpid, spray } if *dpid == edge => Some(spray.clone()),
        _ => None,
    };
    network.changes.iter().rev().find_map(group).expect("it sprays")
}

fn order_at(network: &Network, edge: DatapathId) -> EdgeGroup {
    let group = |command: &Command| match command {
        Command::Resequence { dpid, resequencer } if *dpid == edge => Some(resequencer.group),
        _ => None,
    };
    network.changes.iter().rev().find_map(group).expect("it resequences")
}

fn path(label: MacAddr, weight: u32, bytes: u64) -> PathReport {
    PathReport {
        label,
        state: PathState::Active,
        weight,
        packets: bytes / 1_000,
        bytes,
        round_trip: Some(Duration::from_millis(20)),
        queue: Duration::from_millis(8),
        loss: 0.01,
        silences: 3,
    }
}

fn resequencer(held: u64, waits: &[u64]) -> Report {
    Report::Resequence(Box::new(ResequenceReport {
        counters: Counters { held, longest_nanos: 4_500, ..Counters::default() },
        gauge: Gauge { flows: 1, packets: 2, bytes: 3 },
        limits: Limits { packets: 10, bytes: 20, flow_bytes: 15 },
        hold_time: Duration::from_millis(30),
        waits: HoldHistogram::new(waits.to_vec()),
        arrivals: Vec::new(),
    }))
}

fn tell(network: &mut Network, edge: u64, group: EdgeGroup, report: Report) {
    network.tell(&Event::EdgeReports { dpid: dpid(edge), reports: vec![GroupReport { group, report }] });
}

fn edge(network: &Network, number: u64) -> EdgeView {
    network.brain.edges().into_iter().find(|it| it.dpid == dpid(number)).expect("an edge")
}

#[test]
fn edges_are_there_before_they_have_told_anything_and_other_switches_are_not() {
    let network = Network::start_with_edges(Settings::default(), &THREE_WAYS, &[1, 9]);
    let edges = network.brain.edges();
    assert_eq!(edges.iter().map(|it| it.dpid).collect::<Vec<_>>(), [dpid(1), dpid(9)]);
    assert!(
        edges
            .iter()
            .all(|it| it.answered_at.is_none() && it.spray_groups.is_empty() && it.resequencers.is_empty())
    );
}

#[test]
fn what_an_edge_tells_of_its_paths_becomes_shares_and_rates() {
    let mut network = sprayed();
    let spray = group_of(&network, dpid(1));
    let labels: Vec<_> = spray.paths.iter().map(|it| it.label.mac()).collect();
    let told = |bytes: u64| {
        let paths = labels
            .iter()
            .zip([1, 3, 0])
            .map(|(label, weight)| path(*label, weight, bytes * u64::from(weight)));
        Report::Spray(SprayReport { paths: paths.collect() })
    };
    tell(&mut network, 1, spray.group, told(0));
    network.advance(Duration::from_secs(1));
    tell(&mut network, 1, spray.group, told(125_000));
    let view = edge(&network, 1);
    assert_eq!(view.answered_at, Some(network.now));
    assert_eq!((view.spray_groups.len(), view.spray_groups[0].to), (1, dpid(9)));
    let paths = &view.spray_groups[0].paths;
    assert_eq!(paths.iter().map(|it| it.share).collect::<Vec<_>>(), [Some(0.25), Some(0.75), Some(0.0)]);
    assert_eq!(
        paths.iter().map(|it| it.carried_bps).collect::<Vec<_>>(),
        [1_000_000, 3_000_000, 0].map(Some)
    );
    assert_eq!((paths[0].state, paths[0].queue_us), (Some(EdgePathState::Active), Some(8_000.0)));
    assert_eq!(paths[0].silences, 3);
    assert_eq!(
        paths[0].estimated_capacity_bps,
        Some(990_000),
        "a path that queues carries what it can, less what is lost"
    );
    assert_eq!(paths[0].ports.len() + 1, paths[0].path.len());
    let sprayed = &network.brain.transfers()[0].streams[0].spray_paths;
    assert!(sprayed.iter().map(|it| &it.ports).eq(paths.iter().map(|it| &it.ports)));
}

/// The alarms about silent paths when an edge reports of its paths, in each round, a state and a number of silences.
fn silent_paths(rounds: &[[(PathState, u32); 3]]) -> Vec<(SwitchPort, u32)> {
    let mut network = sprayed();
    let spray = group_of(&network, dpid(1));
    for round in rounds {
        let paths = spray.paths.iter().zip(round);
        let paths = paths.map(|(it, (state, silences))| PathReport {
            state: *state,
            silences: *silences,
            ..path(it.label.mac(), 1, 0)
        });
        tell(&mut network, 1, spray.group, Report::Spray(SprayReport { paths: paths.collect() }));
        network.advance(Duration::from_secs(1));
    }
    let alarm = |notice: &Notice| match notice {
        Notice::Alarm {
            source: AlarmSource::Port(at),
            threat: Threat::SilentPath { to, path, silences },
            ..
        } => {
            assert_eq!((*to, path.first(), path.last()), (dpid(9), Some(&dpid(1)), Some(&dpid(9))));
            Some((*at, *silences))
        }
        _ => None,
    };
    network.notices.iter().filter_map(alarm).collect()
}

const ACTIVE: (PathState, u32) = (PathState::Active, 0);

#[test]
fn a_path_that_falls_silent_while_others_answer_raises_an_alarm_once() {
    let silent = (PathState::Silent, 1);
    let alarms = silent_paths(&[[ACTIVE; 3], [silent, ACTIVE, ACTIVE], [silent, ACTIVE, ACTIVE]]);
    assert_eq!(alarms.iter().map(|it| it.1).collect::<Vec<_>>(), [1]);
    assert_eq!(alarms[0].0.dpid, dpid(1));
    // It answered again before the edge was asked, and fell silent again later.
    let again = |silences| [(PathState::Active, silences), ACTIVE, (PathState::Suspended, 0)];
    let alarms = silent_paths(&[[ACTIVE; 3], again(2), again(2), again(5)]);
    assert_eq!(alarms.iter().map(|it| it.1).collect::<Vec<_>>(), [2, 5]);
}

#[test]
fn no_path_is_to_blame_where_none_answers_or_where_counts_begin_anew() {
    let (silent, down) = ((PathState::Silent, 1), (PathState::Down, 0));
    assert_eq!(silent_paths(&[[ACTIVE; 3], [silent; 3]]), []);
    assert_eq!(silent_paths(&[[ACTIVE; 3], [silent, silent, down]]), []);
    assert_eq!(silent_paths(&[[ACTIVE; 3], [(PathState::Active, 1); 3]]), [], "all were silent for a moment");
    assert_eq!(silent_paths(&[[(PathState::Silent, 4), ACTIVE, ACTIVE]]), [], "before this controller asked");
    assert_eq!(silent_paths(&[[(PathState::Active, 4), ACTIVE, ACTIVE], [ACTIVE; 3]]), [], "a new group");
    let most = (PathState::Active, u32::MAX);
    assert_eq!(silent_paths(&[[most, ACTIVE, ACTIVE], [most, ACTIVE, ACTIVE]]), []);
    let after = silent_paths(&[[most, ACTIVE, ACTIVE], [silent, ACTIVE, ACTIVE]]);
    assert_eq!(after.len(), 1, "the count has begun anew");
}

#[test]
fn a_path_that_an_edge_suspends_is_shown_as_suspended() {
    let mut network = sprayed();
    let spray = group_of(&network, dpid(1));
    let paths = spray.paths.iter().map(|it| path(it.label.mac(), 0, 0));
    let paths = paths.map(|it| PathReport { state: PathState::Suspended, ..it }).collect();
    tell(&mut network, 1, spray.group, Report::Spray(SprayReport { paths }));
    let view = edge(&network, 1);
    assert!(view.spray_groups[0].paths.iter().all(|it| it.state == Some(EdgePathState::Suspended)));
}

#[test]
fn what_an_edge_tells_of_its_buffer_is_compared_with_what_it_told_before() {
    let mut network = sprayed();
    let group = order_at(&network, dpid(9));
    tell(&mut network, 9, group, resequencer(5, &[5]));
    tell(&mut network, 9, group, resequencer(9, &[5, 0, 0, 1, 3]));
    let view = edge(&network, 9).resequencers.remove(0);
    assert_eq!((view.from, view.host, view.group), (dpid(1), mac(9), group.id().0));
    let waited = view.hold_time.expect("told");
    assert_eq!(
        (waited.packets, waited.p50_us, waited.max_us),
        (4, Some(4.5), Some(4.5)),
        "no longer than the longest"
    );
    assert_eq!((view.counters.expect("told").held, view.hold_histogram.total()), (9, 9));
    let held = view.held.expect("told");
    assert_eq!((held.packets, held.max_bytes, held.max_hold_us), (2, 20, 30_000.0));
}

#[test]
fn what_is_told_of_groups_that_are_not_the_controllers_is_not_kept() {
    let mut network = sprayed();
    let spray = group_of(&network, dpid(1));
    let stranger = path(MacAddr::from_u64(77), 1, 1);
    let report = Report::Spray(SprayReport { paths: vec![stranger; 100] });
    tell(&mut network, 1, EdgeGroup::after(Some(spray.group)), report.clone());
    tell(&mut network, 1, spray.group, report);
    tell(&mut network, 1, spray.group, resequencer(1, &[]));
    tell(&mut network, 2, spray.group, resequencer(1, &[]));
    let view = edge(&network, 1);
    assert!(view.spray_groups[0].paths.iter().all(|it| it.share.is_none() && it.read_at.is_none()));
    assert!(view.resequencers.iter().all(|it| it.counters.is_none()));
}

#[test]
fn an_edge_that_left_is_forgotten_with_what_it_told() {
    let mut network = sprayed();
    let spray = group_of(&network, dpid(1));
    tell(
        &mut network,
        1,
        spray.group,
        Report::Spray(SprayReport { paths: vec![path(spray.paths[0].label.mac(), 1, 1)] }),
    );
    network.tell(&Event::SwitchDown { dpid: dpid(1) });
    network.advance(Duration::from_secs(2));
    assert_eq!(network.brain.edges().iter().map(|it| it.dpid).collect::<Vec<_>>(), [dpid(9)]);
    network.connect(1);
    network.advance(Duration::from_secs(3));
    assert_eq!(edge(&network, 1).answered_at, None);
}
