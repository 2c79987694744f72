//! Rebalancing: streams leave links that have been full for a while, if another path has room.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use braid_paths::Path;
use braid_steering::{Stream, StreamId, Transfers};
use braid_topology::{Link, LinkState};
use braid_types::{BitsPerSec, SwitchPort, Time};

use super::migration::shared;
use super::{StreamDeps, Streams};
use crate::notice::Notice;
use crate::reservations::assignment_of;
use crate::settings::RebalanceSettings;

/// How long a moved stream is missing from the measured loads of its new links.
const LOAD_UPDATE_DELAY: Duration = Duration::from_secs(6);
const MINUTE: Duration = Duration::from_secs(60);

/// Full links, and recent moves.
#[derive(Debug, Default)]
pub(crate) struct Rebalance {
    full: BTreeMap<SwitchPort, Count>,
    moves: VecDeque<Move>,
}

/// The bytes that each stream had carried over a link at its last review.
#[derive(Debug)]
struct Count {
    at: Time,
    bytes: BTreeMap<StreamId, u64>,
}

#[derive(Debug)]
struct Move {
    at: Time,
    stream: StreamId,
    path: Path,
}

/// A stream that could leave a full link.
#[derive(Debug)]
struct Candidate {
    id: StreamId,
    rate: BitsPerSec,
    path: Path,
    room: BitsPerSec,
}

impl Rebalance {
    fn has_just_moved_to(&self, path: &Path, now: Time) -> bool {
        let recent = self.moves.iter().filter(|it| now.since(it.at) < LOAD_UPDATE_DELAY);
        recent.filter(|it| it.path.shared_links(path) > 0).count() > 0
    }

    fn rests(&self, stream: StreamId, now: Time, hold_down: Duration) -> bool {
        self.moves.iter().any(|it| it.stream == stream && now.since(it.at) < hold_down)
    }

    fn forget(&mut self, now: Time, hold_down: Duration) {
        self.moves.retain(|it| now.since(it.at) < MINUTE.max(hold_down));
    }

    fn may_move(&self, now: Time, limit: usize) -> bool {
        self.moves.iter().filter(|it| now.since(it.at) < MINUTE).count() < limit
    }
}

impl Streams {
    /// Moves at most one stream off a full link. Called when counters have been read.
    ///
    /// The busiest stream is moved for which another path has room. Only one moves at a time, since its
    /// effect on loads is visible some seconds later.
    pub(super) fn rebalance(&mut self, deps: &mut StreamDeps<'_>) {
        let RebalanceSettings { moves_per_minute, full_time, hold_down, .. } = deps.cx.settings.rebalancing;
        if moves_per_minute == 0 || deps.cx.out.installed.is_settling() {
            return;
        }
        self.rebalance.forget(deps.cx.now, hold_down);
        let full = Self::full_links(deps);
        self.rebalance.full.retain(|port, _| full.iter().any(|link| link.src == *port));
        let may_move = self.rebalance.may_move(deps.cx.now, moves_per_minute);
        for link in full {
            if self.rebalance.full.get(&link.src).is_some_and(|count| deps.cx.now.since(count.at) < full_time)
            {
                continue;
            }
            let count = Count { at: deps.cx.now, bytes: carried(deps.transfers, &link) };
            let before = self.rebalance.full.insert(link.src, count).filter(|_| may_move);
            if let Some(candidate) = before.and_then(|count| self.candidate(deps, &link, &count)) {
                return self.move_off(deps, &link, candidate);
            }
        }
    }

    /// Full links, while there are streams to move off them.
    fn full_links(deps: &StreamDeps<'_>) -> Vec<Link> {
        if deps.transfers.is_empty() {
            return Vec::new();
        }
        let least = deps.cx.settings.rebalancing.full_utilization;
        let is_full = |(link, state): &(Link, LinkState)| {
            let (capacity, load) = (state.capacity, deps.measurement.load(link));
            capacity.0 > 0 && load.as_f64() >= least * capacity.as_f64()
        };
        deps.cx.topology.links().filter(is_full).map(|(link, _)| link).collect()
    }

    /// The best stream to move off a full link.
    fn candidate(&mut self, deps: &mut StreamDeps<'_>, link: &Link, count: &Count) -> Option<Candidate> {
        let seconds = deps.cx.now.since(count.at).as_secs_f64();
        let rate = |id: StreamId, bytes: u64| {
            let more = bytes.saturating_sub(*count.bytes.get(&id)?);
            Some((BitsPerSec((more as f64 * 8.0 / seconds) as u64), id))
        };
        let carried = carried(deps.transfers, link);
        let mut rates: Vec<_> = carried.iter().filter_map(|(id, bytes)| rate(*id, *bytes)).collect();
        rates.retain(|(rate, id)| {
            rate.0 > 0 && !self.rebalance.rests(*id, deps.cx.now, deps.cx.settings.rebalancing.hold_down)
        });
        rates.sort_unstable_by(|one, other| other.cmp(one));
        rates.into_iter().find_map(|(rate, id)| self.alternative_path(deps, id, rate, link))
    }

    /// The path with the most room for a stream, if that is enough.
    fn alternative_path(
        &mut self,
        deps: &mut StreamDeps<'_>,
        id: StreamId,
        rate: BitsPerSec,
        full: &Link,
    ) -> Option<Candidate> {
        // Streams of an assignment are distributed to fill their paths, and stay.
        let is_movable = |stream: &&Stream| {
            let assignments = deps.reservations.assignments();
            assignment_of(assignments, stream).is_none() && deps.spray.stream(id).is_none()
        };
        let stream = deps.transfers.stream(id).filter(is_movable)?;
        let current = &stream.route.as_ref()?.forward;
        let set = deps.cx.paths.disjoint(current.ingress(), current.egress());
        let stream = deps.transfers.stream(id)?;
        let most = shared(deps.transfers, stream, &stream.route.as_ref()?.forward);
        let is_reverse = direction(stream, full)?;
        let passes = |path: &Path| path.links().iter().any(|link| link == full || link.is_reverse_of(full));
        let paths = deps.cx.paths.conditions(deps.cx.now).usable(&set).filter(|path| {
            !passes(path)
                && shared(deps.transfers, stream, path) <= most
                && !self.rebalance.has_just_moved_to(path, deps.cx.now)
        });
        let rooms = paths.map(|path| (room(deps, path, is_reverse), path));
        // Of equal paths the first, which is the shortest.
        let (room, path) = rooms.reduce(|best, it| if it.0 > best.0 { it } else { best })?;
        let least = rate.as_f64() * deps.cx.settings.rebalancing.min_headroom;
        (room.as_f64() >= least).then(|| Candidate { id, rate, path: path.clone(), room })
    }

    fn move_off(&mut self, deps: &mut StreamDeps<'_>, link: &Link, candidate: Candidate) {
        let Candidate { id, rate, path, room } = candidate;
        let (load, capacity) = (deps.measurement.load(link), capacity(deps, link));
        deps.cx.out.notice(Notice::StreamRebalanced { id, link: link.src, load, capacity, rate, room });
        self.move_stream(deps, id, &path);
        self.rebalance.moves.push_back(Move { at: deps.cx.now, stream: id, path });
    }
}

/// The spare capacity of a path's narrowest link.
fn room(deps: &StreamDeps<'_>, path: &Path, is_reverse: bool) -> BitsPerSec {
    let spare = |link: &Link| {
        let link = if is_reverse { link.reversed() } else { *link };
        BitsPerSec(capacity(deps, &link).0.saturating_sub(deps.measurement.load(&link).0))
    };
    path.links().iter().map(spare).min().unwrap_or_default()
}

fn capacity(deps: &StreamDeps<'_>, link: &Link) -> BitsPerSec {
    deps.cx.topology.state_at(link.src).unwrap_or_default().capacity
}

/// The bytes that each stream over a link has carried in the link's direction.
fn carried(transfers: &Transfers, link: &Link) -> BTreeMap<StreamId, u64> {
    let carried = |stream: &Stream| Some((stream.id, stream.bytes[usize::from(direction(stream, link)?)]));
    transfers.streams().filter_map(carried).collect()
}

/// Whether a stream passes a link in its reverse direction; `None` if it does not pass it.
fn direction(stream: &Stream, link: &Link) -> Option<bool> {
    let route = stream.route.as_ref()?;
    [&route.forward, &route.reverse]
        .iter()
        .position(|path| path.links().contains(link))
        .map(|place| place == 1)
}
