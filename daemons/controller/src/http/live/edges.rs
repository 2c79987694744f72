//! History of what edges report: rates by path, and resequencing by group, within bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_control::view::{
    EdgeHeldView, EdgeOrderView, EdgePathView, EdgeSprayView, EdgeView, EdgeWaitedView,
};
use braid_types::{DatapathId, MacAddr, SwitchPort, Time};
use serde::Serialize;

use super::history::{SCHEMA, Steps};
use super::series::Series;

/// Edges whose history is kept; of more, those are forgotten that left first.
const MAX_EDGES: usize = 1_024;
/// Paths and buffers of all of them together, likewise.
const MAX_SERIES: usize = 512;
/// A reading that is older is not one of this step.
const FRESH: Duration = Duration::from_secs(3);

/// What edges told of the paths that they spray over, and of what they put in order.
#[derive(Debug, Default)]
pub(super) struct EdgeHistories {
    /// The step after the last in which each was there.
    known: BTreeMap<DatapathId, u64>,
    paths: BTreeMap<PathKey, PathSeries>,
    orders: BTreeMap<OrderKey, OrderSeries>,
}

/// A path of a group of an edge, by the ports.
type PathKey = (DatapathId, u32, Vec<SwitchPort>);
/// A group of an edge that puts in order.
type OrderKey = (DatapathId, u32);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Path(PathKey),
    Order(OrderKey),
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
    pub(super) fn record(&mut self, step: u64, now: Time, edges: &[&EdgeView]) {
        self.make_room_for_edges(step, edges);
        self.make_room(step, edges);
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

    fn make_room_for_edges(&mut self, step: u64, edges: &[&EdgeView]) {
        let new = edges.iter().filter(|edge| !self.known.contains_key(&edge.dpid)).count();
        let over = (self.known.len() + new).saturating_sub(MAX_EDGES);
        let gone = self.known.iter().filter(|(_, next)| **next < step).map(|(dpid, next)| (*next, *dpid));
        for (_, dpid) in first(over, gone) {
            self.known.remove(&dpid);
        }
    }

    /// Forgets series that have ended, those first that ended first, as far as new ones need their room.
    fn make_room(&mut self, step: u64, edges: &[&EdgeView]) {
        let over = (self.paths.len() + self.orders.len() + self.count_new(edges)).saturating_sub(MAX_SERIES);
        if over == 0 {
            return;
        }
        let paths = self.paths.iter().map(|(key, it)| (it.series.next(), Key::Path(key.clone())));
        let orders = self.orders.iter().map(|(key, it)| (it.series.next(), Key::Order(*key)));
        for (_, key) in first(over, paths.chain(orders).filter(|(next, _)| *next < step)) {
            match key {
                Key::Path(key) => _ = self.paths.remove(&key),
                Key::Order(key) => _ = self.orders.remove(&key),
            }
        }
    }

    fn count_new(&self, edges: &[&EdgeView]) -> usize {
        let of = |edge: &&EdgeView| {
            let paths =
                edge.sprays.iter().flat_map(|group| group.paths.iter().map(|path| (group.group, path)));
            let keys = paths.map(|(group, path)| (edge.dpid, group, path.ports.clone()));
            let orders = edge.orders.iter().map(|order| (edge.dpid, order.group));
            keys.filter(|key| !self.paths.contains_key(key)).count()
                + orders.filter(|key| !self.orders.contains_key(key)).count()
        };
        edges.iter().map(of).sum()
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

/// The least `count` of what there is.
fn first<T: Ord>(count: usize, of: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<_> = if count == 0 { Vec::new() } else { of.collect() };
    all.sort_unstable();
    all.truncate(count);
    all
}

fn is_fresh(now: Time, at: Option<Time>) -> bool {
    at.is_some_and(|at| now.since(at) <= FRESH)
}

#[cfg(test)]
mod tests;
