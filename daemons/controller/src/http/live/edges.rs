use std::collections::BTreeMap;
use std::time::Duration;

use braid_control::view::{
    EdgeHeldView, EdgeOrderView, EdgePathView, EdgeSprayView, EdgeView, EdgeWaitedView,
};
use braid_types::{DatapathId, MacAddr, SwitchPort, Time};
use serde::Serialize;

use super::history::{SCHEMA, Steps};
use super::series::Series;

/// Edges whose history is kept; of more, none.
const MAX_EDGES: usize = 1_024;
/// Paths and buffers of all of them together.
const MAX_SERIES: usize = 512;
/// A reading that is older is not one of this step.
const FRESH: Duration = Duration::from_secs(3);

/// What edges told of the paths that they spray over, and of what they put in order.
#[derive(Debug, Default)]
pub(super) struct EdgeHistories {
    /// The step after the last in which each was there.
    known: BTreeMap<DatapathId, u64>,
    paths: BTreeMap<(DatapathId, u32, Vec<SwitchPort>), PathSeries>,
    orders: BTreeMap<(DatapathId, u32), OrderSeries>,
}

#[derive(Debug)]
struct PathSeries {
    to: DatapathId,
    path: Vec<DatapathId>,
    series: Series<5>,
}

#[derive(Debug)]
struct OrderSeries {
    from: DatapathId,
    host: MacAddr,
    series: Series<5>,
}

/// What an edge did, step by step; null where nothing was told.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(in crate::http) struct EdgeHistory {
    schema: &'static str,
    now: Time,
    dpid: DatapathId,
    step_s: u64,
    /// When each step was.
    times: Vec<Time>,
    /// The groups that sprayed, those that are gone, too.
    sprays: Vec<EdgeSprayHistory>,
    /// The groups that put in order, likewise.
    orders: Vec<EdgeOrderHistory>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct EdgeSprayHistory {
    group: u32,
    to: DatapathId,
    paths: Vec<EdgePathHistory>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct EdgePathHistory {
    /// The switches on it.
    path: Vec<DatapathId>,
    /// The ports by which it leaves them.
    ports: Vec<SwitchPort>,
    /// Of all packets, from 0 to 1.
    share: Vec<Option<f32>>,
    carried_bps: Vec<Option<f32>>,
    round_trip_us: Vec<Option<f32>>,
    queue_us: Vec<Option<f32>>,
    loss: Vec<Option<f32>>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct EdgeOrderHistory {
    group: u32,
    from: DatapathId,
    host: MacAddr,
    held_packets: Vec<Option<f32>>,
    held_bytes: Vec<Option<f32>>,
    waited_p50_us: Vec<Option<f32>>,
    waited_p99_us: Vec<Option<f32>>,
    waited_max_us: Vec<Option<f32>>,
}

impl EdgeHistories {
    pub(super) fn record(&mut self, step: u64, now: Time, edges: &[EdgeView]) {
        for edge in edges {
            if self.known.len() < MAX_EDGES || self.known.contains_key(&edge.dpid) {
                self.known.insert(edge.dpid, step + 1);
            }
            for spray in &edge.sprays {
                spray.paths.iter().for_each(|path| self.record_path(step, now, edge.dpid, spray, path));
            }
            edge.orders.iter().for_each(|order| self.record_order(step, now, edge.dpid, order));
        }
    }

    /// What is known of an edge; `None` if it was never there.
    pub(super) fn of(&self, dpid: DatapathId, now: Time, steps: Steps) -> Option<EdgeHistory> {
        self.known.get(&dpid)?;
        let mut sprays = Vec::<EdgeSprayHistory>::new();
        for ((_, group, ports), it) in
            self.paths.range((dpid, 0, Vec::new())..).take_while(|(key, _)| key.0 == dpid)
        {
            if sprays.last().is_none_or(|last| last.group != *group) {
                sprays.push(EdgeSprayHistory { group: *group, to: it.to, paths: Vec::new() });
            }
            sprays.last_mut()?.paths.push(it.history(ports, &steps));
        }
        let orders = self.orders.range((dpid, 0)..=(dpid, u32::MAX));
        let orders = orders.map(|((_, group), it)| it.history(*group, &steps)).collect();
        let (schema, step_s) = (SCHEMA, steps.seconds());
        Some(EdgeHistory { schema, now, dpid, step_s, sprays, orders, times: steps.times })
    }

    /// Forgets that of which nothing was heard since a step.
    pub(super) fn forget(&mut self, heard: u64) {
        self.known.retain(|_, next| *next > heard);
        self.paths.retain(|_, it| it.series.next() > heard);
        self.orders.retain(|_, it| it.series.next() > heard);
    }

    fn is_full(&self) -> bool {
        self.paths.len() + self.orders.len() >= MAX_SERIES
    }

    fn record_path(
        &mut self,
        step: u64,
        now: Time,
        dpid: DatapathId,
        group: &EdgeSprayView,
        path: &EdgePathView,
    ) {
        let key = (dpid, group.group, path.ports.clone());
        if self.is_full() && !self.paths.contains_key(&key) {
            return;
        }
        let fresh = is_fresh(now, path.read_at);
        let value = |value: Option<f64>| value.filter(|_| fresh).map_or(f32::NAN, |value| value as f32);
        let carried = path.carried_bps.map(|bits| bits as f64);
        let values = [path.share, carried, path.round_trip_us, path.queue_us, path.loss].map(value);
        let (to, switches) = (group.to, path.path.clone());
        let entry = self.paths.entry(key);
        entry
            .or_insert_with(|| PathSeries { to, path: switches, series: Series::new(step) })
            .series
            .push(step, values);
    }

    fn record_order(&mut self, step: u64, now: Time, dpid: DatapathId, order: &EdgeOrderView) {
        let key = (dpid, order.group);
        if self.is_full() && !self.orders.contains_key(&key) {
            return;
        }
        let fresh = is_fresh(now, order.read_at);
        let held = |of: fn(&EdgeHeldView) -> f64| order.held.as_ref().map(of);
        let waited = |of: fn(&EdgeWaitedView) -> Option<f64>| order.waited.as_ref().and_then(of);
        let values = [
            held(|it| it.packets.into()),
            held(|it| it.bytes as f64),
            waited(|it| it.p50_us),
            waited(|it| it.p99_us),
            waited(|it| it.max_us),
        ];
        let values = values.map(|value| value.filter(|_| fresh).map_or(f32::NAN, |value| value as f32));
        let (from, host) = (order.from, order.host);
        let entry = self.orders.entry(key);
        entry
            .or_insert_with(|| OrderSeries { from, host, series: Series::new(step) })
            .series
            .push(step, values);
    }
}

impl PathSeries {
    fn history(&self, ports: &[SwitchPort], steps: &Steps) -> EdgePathHistory {
        let column = |column| steps.values(&self.series, column);
        EdgePathHistory {
            path: self.path.clone(),
            ports: ports.to_vec(),
            share: column(0),
            carried_bps: column(1),
            round_trip_us: column(2),
            queue_us: column(3),
            loss: column(4),
        }
    }
}

impl OrderSeries {
    fn history(&self, group: u32, steps: &Steps) -> EdgeOrderHistory {
        let column = |column| steps.values(&self.series, column);
        EdgeOrderHistory {
            group,
            from: self.from,
            host: self.host,
            held_packets: column(0),
            held_bytes: column(1),
            waited_p50_us: column(2),
            waited_p99_us: column(3),
            waited_max_us: column(4),
        }
    }
}

fn is_fresh(now: Time, at: Option<Time>) -> bool {
    at.is_some_and(|at| now.since(at) <= FRESH)
}

#[cfg(test)]
mod tests {
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
            state: Some(EdgePathState::Carries),
            share: Some(share),
            carried_bps: None,
            found_bps: None,
            round_trip_us: Some(9.0),
            queue_us: Some(1.0),
            loss: Some(0.0),
            packets: 0,
            bytes: 0,
        };
        let paths = || vec![path(1), path(2)];
        let sprays = groups.map(|group| EdgeSprayView { group, to: DatapathId(2), paths: paths() }).collect();
        EdgeView { dpid: EDGE, answered_at: Some(read_at), sprays, orders: Vec::new() }
    }

    #[test]
    fn an_edge_has_what_it_told_of_each_path_and_nothing_where_it_was_silent() {
        let mut history = History::default();
        for (at, told) in [(1, 1), (2, 2), (6, 2), (7, 7)] {
            history.record(second(at), &[], &[], &[edge(5..6, at as f64, second(told))]);
        }
        let found = history.edge(EDGE, ALL).expect("known");
        let paths = &found.sprays[0].paths;
        assert_eq!((found.sprays.len(), paths.len(), found.sprays[0].group), (1, 2, 5));
        assert_eq!(paths[1].share, [Some(1.0), Some(2.0), None, Some(7.0)]);
        assert_eq!(paths[1].carried_bps, [None; 4]);
        assert!(history.edge(DatapathId(2), ALL).is_none());
    }

    #[test]
    fn what_is_kept_of_edges_is_bounded_and_forgotten_after_an_hour() {
        let mut history = History::default();
        history.record(second(0), &[], &[], &[edge(0..10_000, 0.5, second(0))]);
        let kept = |history: &History| -> usize {
            let found = history.edge(EDGE, ALL);
            found.map_or(0, |found| found.sprays.iter().map(|group| group.paths.len()).sum())
        };
        assert_eq!(kept(&history), MAX_SERIES);
        (1..3_700).for_each(|at| history.record(second(at), &[], &[], &[]));
        assert_eq!(kept(&history), 0);
        assert!(history.edge(EDGE, ALL).is_none());
    }
}
