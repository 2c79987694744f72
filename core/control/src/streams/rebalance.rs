//! Streams leave links that have been full for a while, if another path has room for them.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use braid_paths::Path;
use braid_steering::{Stream, StreamId};
use braid_topology::Link;
use braid_types::{BitsPerSec, SwitchPort, Time};

use super::{Network, Streams};
use crate::notice::Notice;

/// For so long a stream that has moved does not show in the loads of its new links.
const UNSEEN: Duration = Duration::from_secs(6);
const MINUTE: Duration = Duration::from_secs(60);

/// When streams are moved off full links.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Relief {
    /// How many streams are moved a minute at most; with 0 none is.
    pub moves_per_minute: usize,
    /// A link is full while so much of its capacity is in use.
    pub full: f64,
    /// It must have been full for so long.
    pub patience: Duration,
    /// Another path must have room for so many times what the stream carries.
    pub gain: f64,
    /// A stream that has moved stays for so long.
    pub rest: Duration,
}

impl Default for Relief {
    fn default() -> Self {
        Self {
            moves_per_minute: 30,
            full: 0.85,
            patience: Duration::from_secs(3),
            gain: 1.25,
            rest: Duration::from_secs(30),
        }
    }
}

/// What is watched of full links, and what was done about them.
#[derive(Debug, Default)]
pub(crate) struct Reliefs {
    full: BTreeMap<SwitchPort, Count>,
    moves: VecDeque<Move>,
}

/// What streams had carried over a link when it was last looked at.
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
struct Leaver {
    id: StreamId,
    rate: BitsPerSec,
    path: Path,
    room: BitsPerSec,
}

impl Reliefs {
    fn has_just_moved_to(&self, path: &Path, now: Time) -> bool {
        let recent = self.moves.iter().filter(|it| now.since(it.at) < UNSEEN);
        recent.filter(|it| it.path.shared_cables(path) > 0).count() > 0
    }

    fn rests(&self, stream: StreamId, now: Time, rest: Duration) -> bool {
        self.moves.iter().any(|it| it.stream == stream && now.since(it.at) < rest)
    }

    fn forget(&mut self, now: Time, rest: Duration) {
        self.moves.retain(|it| now.since(it.at) < MINUTE.max(rest));
    }

    fn may_move(&self, now: Time, limit: usize) -> bool {
        self.moves.iter().filter(|it| now.since(it.at) < MINUTE).count() < limit
    }
}

impl Streams {
    /// Moves at most one stream off a link that is full; to be asked whenever counters have been read.
    ///
    /// Of the streams on the link the one goes that carries most, among those for which another path has room. One
    /// at a time: what follows from a move shows in the loads some seconds later only.
    pub(crate) fn relieve(&mut self, net: &mut Network<'_>) {
        let Relief { moves_per_minute, patience, rest, .. } = net.cx.settings.relief;
        if moves_per_minute == 0 || net.cx.out.installed.is_settling() {
            return;
        }
        self.reliefs.forget(net.cx.now, rest);
        let full = self.full_links(net);
        self.reliefs.full.retain(|port, _| full.iter().any(|link| link.src == *port));
        let may_move = self.reliefs.may_move(net.cx.now, moves_per_minute);
        for link in full {
            if self.reliefs.full.get(&link.src).is_some_and(|count| net.cx.now.since(count.at) < patience) {
                continue;
            }
            let count = Count { at: net.cx.now, bytes: self.carried(&link) };
            let before = self.reliefs.full.insert(link.src, count).filter(|_| may_move);
            if let Some(leaver) = before.and_then(|count| self.leaver(net, &link, &count)) {
                return self.relieve_of(net, &link, leaver);
            }
        }
    }

    fn full_links(&self, net: &Network<'_>) -> Vec<Link> {
        let is_full = |link: &Link| {
            let (capacity, load) = (self.capacity(net, link), self.load(net, link));
            capacity.0 > 0 && load.as_f64() >= net.cx.settings.relief.full * capacity.as_f64()
        };
        net.cx.topology.links().map(|(link, _)| link).filter(is_full).collect()
    }

    /// By stream over a link, what it has carried in the link's direction.
    fn carried(&self, link: &Link) -> BTreeMap<StreamId, u64> {
        let carried =
            |stream: &Stream| Some((stream.id, stream.bytes[usize::from(direction(stream, link)?)]));
        self.table.streams().filter_map(carried).collect()
    }

    /// The stream that is best moved off a full link.
    fn leaver(&mut self, net: &mut Network<'_>, link: &Link, count: &Count) -> Option<Leaver> {
        let seconds = net.cx.now.since(count.at).as_secs_f64();
        let rate = |id: StreamId, bytes: u64| {
            let more = bytes.saturating_sub(*count.bytes.get(&id)?);
            Some((BitsPerSec((more as f64 * 8.0 / seconds) as u64), id))
        };
        let carried = self.carried(link);
        let mut rates: Vec<_> = carried.iter().filter_map(|(id, bytes)| rate(*id, *bytes)).collect();
        rates.retain(|(rate, id)| {
            rate.0 > 0 && !self.reliefs.rests(*id, net.cx.now, net.cx.settings.relief.rest)
        });
        rates.sort_unstable_by(|one, other| other.cmp(one));
        rates.into_iter().find_map(|(rate, id)| self.way_out(net, id, rate, link))
    }

    /// The path with the most room for a stream, if that is enough.
    fn way_out(
        &mut self,
        net: &mut Network<'_>,
        id: StreamId,
        rate: BitsPerSec,
        full: &Link,
    ) -> Option<Leaver> {
        // Those of an assignment are distributed so that they fill their paths.
        let is_movable = |stream: &&Stream| net.reservations.of(stream).is_none() && !net.spray.has(id);
        let stream = self.table.stream(id).filter(is_movable)?;
        let current = &stream.route.as_ref()?.forward;
        let set = net.cx.paths.disjoint(current.ingress(), current.egress());
        let stream = self.table.stream(id)?;
        let shared = self.shared(stream, &stream.route.as_ref()?.forward);
        let is_reverse = direction(stream, full)?;
        let passes = |path: &Path| path.links().iter().any(|link| link == full || link.is_reverse_of(full));
        let paths = net.cx.paths.usable(&set, net.cx.now).filter(|path| {
            !passes(path)
                && self.shared(stream, path) <= shared
                && !self.reliefs.has_just_moved_to(path, net.cx.now)
        });
        let rooms = paths.map(|path| (self.room(net, path, is_reverse), path));
        // Among equals the first, which is the shortest.
        let (room, path) = rooms.reduce(|best, it| if it.0 > best.0 { it } else { best })?;
        let least = rate.as_f64() * net.cx.settings.relief.gain;
        (room.as_f64() >= least).then(|| Leaver { id, rate, path: path.clone(), room })
    }

    fn relieve_of(&mut self, net: &mut Network<'_>, link: &Link, leaver: Leaver) {
        let Leaver { id, rate, path, room } = leaver;
        let (load, capacity) = (self.load(net, link), self.capacity(net, link));
        net.cx.out.notice(Notice::StreamRelieved { id, link: link.src, load, capacity, rate, room });
        self.move_stream(net, id, &path);
        self.reliefs.moves.push_back(Move { at: net.cx.now, stream: id, path });
    }

    /// What the narrowest link of a path has to spare.
    fn room(&self, net: &Network<'_>, path: &Path, is_reverse: bool) -> BitsPerSec {
        let spare = |link: &Link| {
            let link = if is_reverse { link.reversed() } else { *link };
            BitsPerSec(self.capacity(net, &link).0.saturating_sub(self.load(net, &link).0))
        };
        path.links().iter().map(spare).min().unwrap_or_default()
    }

    fn capacity(&self, net: &Network<'_>, link: &Link) -> BitsPerSec {
        net.cx.topology.state_at(link.src).unwrap_or_default().capacity
    }

    fn load(&self, net: &Network<'_>, link: &Link) -> BitsPerSec {
        net.measurement.of(link).load.map(|reading| reading.load).unwrap_or_default()
    }
}

/// Whether a stream's packets pass a link on their way back; nothing if they do not pass it.
fn direction(stream: &Stream, link: &Link) -> Option<bool> {
    let route = stream.route.as_ref()?;
    [&route.forward, &route.reverse]
        .iter()
        .position(|path| path.links().contains(link))
        .map(|place| place == 1)
}
