//! History of what edges report: rates by path, and resequencing by group, within bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_api::{EdgeHistory, EdgePathHistory, ResequencerHistory, Schema, SprayGroupHistory};
use braid_control::view::{EdgePathView, EdgeView, HeldView, HoldTimeView, ResequencerView, SprayGroupView};
use braid_types::{DatapathId, MacAddr, SwitchPort, Time};

use super::history::Steps;
use super::series::Series;

/// Edges whose history is kept; of more, those are forgotten that left first.
const MAX_EDGES: usize = 1_024;
/// Paths and buffers of all of them together, likewise.
const MAX_SERIES: usize = 512;
/// A reading that is older is not one of this step.
const FRESH: Duration = Duration::from_secs(3);

/// What edges told of the paths that they spray over, and of what they put in resequencer.
#[derive(Debug, Default)]
pub(super) struct EdgeHistories {
    /// The step after the last in which each was there.
    known: BTreeMap<DatapathId, u64>,
    paths: BTreeMap<PathKey, PathSeries>,
    resequencers: BTreeMap<ResequencerKey, ResequencerSeries>,
}

/// A path of a group of an edge, by the ports.
type PathKey = (DatapathId, u32, Vec<SwitchPort>);
/// A group of an edge that puts in resequencer.
type ResequencerKey = (DatapathId, u32);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Path(PathKey),
    Resequencer(ResequencerKey),
}

#[derive(Debug)]
struct PathSeries {
    to: DatapathId,
    path: Vec<DatapathId>,
    series: Series<5>,
}

#[derive(Debug)]
struct ResequencerSeries {
    from: DatapathId,
    host: MacAddr,
    series: Series<5>,
}

impl EdgeHistories {
    pub(super) fn record(&mut self, step: u64, now: Time, edges: &[&EdgeView]) {
        self.make_room_for_edges(step, edges);
        self.make_room(step, edges);
        for edge in edges {
            if self.known.len() < MAX_EDGES || self.known.contains_key(&edge.dpid) {
                self.known.insert(edge.dpid, step + 1);
            }
            for spray in &edge.spray_groups {
                spray.paths.iter().for_each(|path| self.record_path(step, now, edge.dpid, spray, path));
            }
            edge.resequencers
                .iter()
                .for_each(|resequencer| self.record_resequencer(step, now, edge.dpid, resequencer));
        }
    }

    /// What is known of an edge; `None` if it was never there.
    pub(super) fn of(&self, dpid: DatapathId, now: Time, steps: Steps) -> Option<EdgeHistory> {
        self.known.get(&dpid)?;
        let mut groups = Vec::<SprayGroupHistory>::new();
        for ((_, group, ports), it) in
            self.paths.range((dpid, 0, Vec::new())..).take_while(|(key, _)| key.0 == dpid)
        {
            if groups.last().is_none_or(|last| last.group != *group) {
                groups.push(SprayGroupHistory { group: *group, to: it.to, paths: Vec::new() });
            }
            groups.last_mut()?.paths.push(it.history(ports, &steps));
        }
        let resequencers = self.resequencers.range((dpid, 0)..=(dpid, u32::MAX));
        let resequencers = resequencers.map(|((_, group), it)| it.history(*group, &steps)).collect();
        let (schema, step_s) = (Schema, steps.seconds());
        Some(EdgeHistory {
            schema,
            now,
            dpid,
            step_s,
            spray_groups: groups,
            resequencers,
            times: steps.times,
        })
    }

    /// Forgets that of which nothing was heard since a step.
    pub(super) fn forget(&mut self, heard: u64) {
        self.known.retain(|_, next| *next > heard);
        self.paths.retain(|_, it| it.series.next() > heard);
        self.resequencers.retain(|_, it| it.series.next() > heard);
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
        let over =
            (self.paths.len() + self.resequencers.len() + self.count_new(edges)).saturating_sub(MAX_SERIES);
        if over == 0 {
            return;
        }
        let paths = self.paths.iter().map(|(key, it)| (it.series.next(), Key::Path(key.clone())));
        let resequencers =
            self.resequencers.iter().map(|(key, it)| (it.series.next(), Key::Resequencer(*key)));
        for (_, key) in first(over, paths.chain(resequencers).filter(|(next, _)| *next < step)) {
            match key {
                Key::Path(key) => _ = self.paths.remove(&key),
                Key::Resequencer(key) => _ = self.resequencers.remove(&key),
            }
        }
    }

    fn count_new(&self, edges: &[&EdgeView]) -> usize {
        let of = |edge: &&EdgeView| {
            let paths =
                edge.spray_groups.iter().flat_map(|group| group.paths.iter().map(|path| (group.group, path)));
            let keys = paths.map(|(group, path)| (edge.dpid, group, path.ports.clone()));
            let resequencers = edge.resequencers.iter().map(|resequencer| (edge.dpid, resequencer.group));
            keys.filter(|key| !self.paths.contains_key(key)).count()
                + resequencers.filter(|key| !self.resequencers.contains_key(key)).count()
        };
        edges.iter().map(of).sum()
    }

    fn is_full(&self) -> bool {
        self.paths.len() + self.resequencers.len() >= MAX_SERIES
    }

    fn record_path(
        &mut self,
        step: u64,
        now: Time,
        dpid: DatapathId,
        group: &SprayGroupView,
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

    fn record_resequencer(&mut self, step: u64, now: Time, dpid: DatapathId, resequencer: &ResequencerView) {
        let key = (dpid, resequencer.group);
        if self.is_full() && !self.resequencers.contains_key(&key) {
            return;
        }
        let fresh = is_fresh(now, resequencer.read_at);
        let held = |of: fn(&HeldView) -> f64| resequencer.held.as_ref().map(of);
        let hold_time = |of: fn(&HoldTimeView) -> Option<f64>| resequencer.hold_time.as_ref().and_then(of);
        let values = [
            held(|it| it.packets.into()),
            held(|it| it.bytes as f64),
            hold_time(|it| it.p50_us),
            hold_time(|it| it.p99_us),
            hold_time(|it| it.max_us),
        ];
        let values = values.map(|value| value.filter(|_| fresh).map_or(f32::NAN, |value| value as f32));
        let (from, host) = (resequencer.from, resequencer.host);
        let entry = self.resequencers.entry(key);
        entry
            .or_insert_with(|| ResequencerSeries { from, host, series: Series::new(step) })
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

impl ResequencerSeries {
    fn history(&self, group: u32, steps: &Steps) -> ResequencerHistory {
        let column = |column| steps.values(&self.series, column);
        ResequencerHistory {
            group,
            from: self.from,
            host: self.host,
            held_packets: column(0),
            held_bytes: column(1),
            hold_time_p50_us: column(2),
            hold_time_p99_us: column(3),
            hold_time_max_us: column(4),
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
