//! Streams placed in the last seconds, with their candidate paths and the links that they use.

use std::collections::VecDeque;

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{SwitchPort, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::placement::{Move, Overlap, PlacementRequest};
use crate::{StreamId, TransferId};

/// The greatest number of streams kept; of more, the oldest are dropped.
const MAX_STREAMS: usize = 4_096;
/// The greatest number of candidate paths kept of each.
const MAX_CANDIDATES: usize = 32;
/// The greatest number of moves of a stream.
const MAX_MOVES: u8 = 4;

/// The paths of the streams placed in the last seconds. No map is iterated over.
///
/// Invariant: `users` names each link of the paths of all streams that are not lifted.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    streams: FxHashMap<u64, Entry>,
    order: VecDeque<(Time, u64)>,
    by_stream: FxHashMap<StreamId, u64>,
    by_transfer: FxHashMap<TransferId, SmallVec<[u64; 4]>>,
    users: FxHashMap<SwitchPort, SmallVec<[u64; 4]>>,
    last_ticket: u64,
}

#[derive(Debug)]
struct Entry {
    owner: Option<(TransferId, StreamId)>,
    paths: Vec<Path>,
    place: usize,
    moves: u8,
    // Whether the paths of all its siblings are known here.
    movable: bool,
}

impl Ledger {
    /// Adds a stream at `place` among the paths that `apart` names.
    pub(super) fn enter(&mut self, request: &PlacementRequest<'_>, apart: &[usize], place: usize) -> u64 {
        if self.order.len() >= MAX_STREAMS {
            self.forget_oldest();
        }
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        let paths = apart.iter().filter_map(|index| request.candidates.get(*index));
        let paths: Vec<_> = paths.take(MAX_CANDIDATES.max(place + 1)).map(|path| (*path).clone()).collect();
        let owner = request.stream;
        if let Some((transfer, stream)) = owner {
            self.by_stream.insert(stream, ticket);
            self.by_transfer.entry(transfer).or_default().push(ticket);
        }
        let known = owner.and_then(|(transfer, _)| self.by_transfer.get(&transfer)).map_or(0, SmallVec::len);
        let movable = known == request.siblings.len() + request.opening.len() + 1;
        self.streams.insert(ticket, Entry { owner, paths, place, moves: 0, movable });
        self.order.push_back((request.now, ticket));
        self.put(ticket, place);
        ticket
    }

    pub(super) fn forget_before(&mut self, time: Time) {
        while self.order.front().is_some_and(|(at, _)| *at < time) {
            self.forget_oldest();
        }
    }

    /// Drops the oldest stream, which goes on; its transfer is no longer completely known.
    fn forget_oldest(&mut self) {
        let Some((_, ticket)) = self.order.pop_front() else { return };
        let siblings = self.siblings(ticket);
        for sibling in siblings {
            self.streams.get_mut(&sibling).into_iter().for_each(|entry| entry.movable = false);
        }
        self.remove(ticket);
    }

    /// Removes a stream that has ended, or is placed anew.
    pub(super) fn forget(&mut self, stream: StreamId) {
        if let Some(ticket) = self.by_stream.get(&stream).copied() {
            self.remove(ticket);
        }
    }

    fn remove(&mut self, ticket: u64) {
        self.lift(ticket);
        let Some(entry) = self.streams.remove(&ticket) else { return };
        let Some((transfer, stream)) = entry.owner else { return };
        self.by_stream.remove(&stream);
        if let Some(tickets) = self.by_transfer.get_mut(&transfer) {
            tickets.retain(|it| *it != ticket);
            if tickets.is_empty() {
                self.by_transfer.remove(&transfer);
            }
        }
    }

    /// The number of streams on a directed link.
    pub(super) fn count(&self, link: &Link) -> usize {
        self.users.get(&link.src).map_or(0, SmallVec::len)
    }

    /// The movable streams on a directed link, except one.
    pub(super) fn movable_on(&self, link: &Link, but: u64) -> SmallVec<[u64; 8]> {
        let users = self.users.get(&link.src).map(SmallVec::as_slice).unwrap_or_default();
        let movable = |ticket: &u64| {
            let entry = self.streams.get(ticket);
            *ticket != but && entry.is_some_and(|it| it.movable && it.moves < MAX_MOVES && it.paths.len() > 1)
        };
        users.iter().copied().filter(movable).collect()
    }

    pub(super) fn paths(&self, ticket: u64) -> &[Path] {
        self.streams.get(&ticket).map(|it| it.paths.as_slice()).unwrap_or_default()
    }

    pub(super) fn place_of(&self, ticket: u64) -> Option<usize> {
        self.streams.get(&ticket).map(|it| it.place)
    }

    /// Its path, also while it is lifted.
    pub(super) fn path(&self, ticket: u64) -> Option<&Path> {
        self.streams.get(&ticket).and_then(|it| it.paths.get(it.place))
    }

    /// What a path shares with the other streams of the transfer.
    pub(super) fn overlap(&self, ticket: u64, path: &Path) -> Overlap {
        let siblings = self.siblings(ticket);
        let siblings: SmallVec<[_; 8]> = siblings.iter().filter_map(|it| self.path(*it)).collect();
        Overlap::of(path, &siblings)
    }

    fn siblings(&self, ticket: u64) -> SmallVec<[u64; 4]> {
        let transfer = self.streams.get(&ticket).and_then(|it| it.owner).map(|(transfer, _)| transfer);
        let all = transfer.and_then(|it| self.by_transfer.get(&it)).map(SmallVec::as_slice);
        all.unwrap_or_default().iter().copied().filter(|it| *it != ticket).collect()
    }

    /// Takes a stream off its links.
    pub(super) fn lift(&mut self, ticket: u64) {
        let Self { streams, users, .. } = self;
        let path = streams.get(&ticket).and_then(|it| it.paths.get(it.place));
        for link in path.into_iter().flat_map(Path::links) {
            let Some(tickets) = users.get_mut(&link.src) else { continue };
            tickets.retain(|it| *it != ticket);
            if tickets.is_empty() {
                users.remove(&link.src);
            }
        }
    }

    /// Puts a lifted stream on one of its paths.
    pub(super) fn put(&mut self, ticket: u64, place: usize) {
        let Self { streams, users, .. } = self;
        let Some(entry) = streams.get_mut(&ticket) else { return };
        entry.place = place;
        let path = entry.paths.get(place);
        path.into_iter()
            .flat_map(Path::links)
            .for_each(|link| users.entry(link.src).or_default().push(ticket));
    }

    /// Notes the move of a stream to its present path.
    pub(super) fn moved(&mut self, ticket: u64) -> Option<Move> {
        let entry = self.streams.get_mut(&ticket)?;
        entry.moves += 1;
        Some(Move { stream: entry.owner?.1, path: entry.paths.get(entry.place)?.clone() })
    }
}
