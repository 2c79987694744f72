//! Random chains of reroutes that make room for a new stream, as in cuckoo hashing.

use braid_paths::Path;
use braid_topology::{Graph, Link};
use braid_types::{SwitchPort, reduce};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::available;
use super::ledger::Ledger;
use crate::placement::{Move, Overlap};

/// The number of chains tried for a new stream.
const WALKS: usize = 16;
/// The greatest number of streams taken off their paths in one chain.
const EJECTIONS: usize = 8;
/// The greatest number of streams without a path at a time.
const PENDING: usize = 4;

/// Random chains of moves, as in cuckoo hashing (Fotakis et al., 2005): a stream takes the path with the fewest full
/// links, and one stream of each of those moves elsewhere.
pub(super) struct Walks<'a> {
    ledger: &'a mut Ledger,
    rooms: Rooms<'a>,
    random: &'a mut ChaCha8Rng,
}

/// The number of streams that links have room for.
struct Rooms<'a> {
    graph: &'a Graph,
    // The rate that each of them is to have.
    share: u64,
    known: FxHashMap<SwitchPort, usize>,
}

/// One chain: the streams with a new path, each with its previous place, and the places that they have tried.
#[derive(Default)]
struct Chain {
    before: SmallVec<[(u64, usize); 8]>,
    tried: SmallVec<[(u64, usize); 16]>,
    pending: SmallVec<[Pending; PENDING]>,
    ejections: usize,
}

/// A stream without a path at the moment.
#[derive(Clone, Copy)]
struct Pending {
    ticket: u64,
    /// The most that its next path may share with its own transfer.
    limit: Overlap,
}

impl<'a> Walks<'a> {
    /// Walks for a stream that expects `share` bits a second.
    pub(super) fn new(
        ledger: &'a mut Ledger,
        graph: &'a Graph,
        share: u64,
        random: &'a mut ChaCha8Rng,
    ) -> Self {
        Self { ledger, rooms: Rooms { graph, share, known: FxHashMap::default() }, random }
    }

    /// Gives a new stream a path with room for it; returns the moves of others that this takes, none if it fails.
    pub(super) fn make_room(&mut self, new: u64) -> Vec<Move> {
        for _ in 0..WALKS {
            let mut chain = Chain::default();
            self.lift(&mut chain, new);
            if self.settle(&mut chain) {
                let Self { ledger, .. } = self;
                let others = chain
                    .before
                    .into_iter()
                    .filter(|(ticket, place)| *ticket != new && ledger.place_of(*ticket) != Some(*place));
                let others: SmallVec<[_; 8]> = others.collect();
                return others.into_iter().filter_map(|(ticket, _)| ledger.moved(ticket)).collect();
            }
            self.undo(&chain);
        }
        Vec::new()
    }

    fn settle(&mut self, chain: &mut Chain) -> bool {
        while let Some(pending) = chain.pending.pop() {
            let Pending { ticket, .. } = pending;
            let Some(place) = self.emptiest(chain, pending) else {
                chain.pending.push(pending);
                return false;
            };
            self.ledger.put(ticket, place);
            chain.tried.push((ticket, place));
            if !self.clear_links_of(chain, ticket) {
                return false;
            }
        }
        true
    }

    /// The place with the fewest full links that was not tried, or is its own.
    fn emptiest(&mut self, chain: &Chain, Pending { ticket, limit }: Pending) -> Option<usize> {
        let mut best = None;
        for place in 0..self.ledger.paths(ticket).len() {
            let Some(path) = self.ledger.paths(ticket).get(place) else { break };
            if chain.tried.contains(&(ticket, place)) || self.ledger.overlap(ticket, path) > limit {
                continue;
            }
            let full = self.full_links(ticket, place, 1).len();
            let key = (full, self.random.next_u32());
            if best.is_none_or(|(best, _)| key < best) {
                best = Some((key, place));
            }
        }
        best.filter(|((full, _), _)| chain.pending.len() + full <= PENDING).map(|(_, place)| place)
    }

    /// Takes one stream off each link that is too full now.
    fn clear_links_of(&mut self, chain: &mut Chain, ticket: u64) -> bool {
        let Some(place) = self.ledger.place_of(ticket) else { return false };
        for link in self.full_links(ticket, place, 0) {
            // An earlier one may have shared this link as well.
            if self.ledger.count(&link) <= self.rooms.of(&link) {
                continue;
            }
            let others = self.ledger.movable_on(&link, ticket);
            let pick = self.below(others.len());
            let Some(other) = others.get(pick).filter(|_| chain.ejections < EJECTIONS) else { return false };
            chain.ejections += 1;
            let place = self.ledger.place_of(*other).map(|place| (*other, place));
            chain.tried.extend(place);
            self.lift(chain, *other);
        }
        true
    }

    fn lift(&mut self, chain: &mut Chain, ticket: u64) {
        let Some(place) = self.ledger.place_of(ticket) else { return };
        let path = self.ledger.paths(ticket).get(place);
        let limit = path.map(|path| self.ledger.overlap(ticket, path)).unwrap_or_default();
        self.ledger.lift(ticket);
        if chain.before.iter().all(|(known, _)| *known != ticket) {
            chain.before.push((ticket, place));
        }
        chain.pending.push(Pending { ticket, limit });
    }

    fn undo(&mut self, chain: &Chain) {
        for (ticket, place) in &chain.before {
            if chain.pending.iter().all(|pending| pending.ticket != *ticket) {
                self.ledger.lift(*ticket);
            }
            self.ledger.put(*ticket, *place);
        }
    }

    /// The links of a path without room for so many more.
    fn full_links(&mut self, ticket: u64, place: usize, more: usize) -> SmallVec<[Link; 8]> {
        let Self { ledger, rooms, .. } = self;
        let links = ledger.paths(ticket).get(place).into_iter().flat_map(Path::links);
        links.filter(|link| ledger.count(link) + more > rooms.of(link)).copied().collect()
    }

    fn below(&mut self, count: usize) -> usize {
        reduce(u64::from(self.random.next_u32()) << 32, count)
    }
}

impl Rooms<'_> {
    fn of(&mut self, link: &Link) -> usize {
        let count = || (available(link, self.graph) / self.share.max(1)) as usize;
        *self.known.entry(link.src).or_insert_with(count)
    }
}
