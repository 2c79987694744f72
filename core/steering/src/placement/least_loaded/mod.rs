//! The `least-loaded` policy: the path with the most headroom, with other streams rerouted where that helps.

mod ledger;
mod walk;

use std::time::Duration;

use braid_paths::Path;
use braid_topology::{Graph, Link};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use smallvec::SmallVec;

use self::ledger::Ledger;
use self::walk::Walks;
use super::registry::Registered;
use super::{Meets, Placement, PlacementPolicy, PlacementRequest};
use crate::StreamId;

/// The time until the counters of ports show the rate of a new stream.
const UNSEEN: Duration = Duration::from_secs(5);
/// The part of the most headroom, in percent, that counts as equal: loads are not measured more exactly than that.
const AS_GOOD: u128 = 90;

/// Of the paths that meet the fewest of the transfer's own streams, the one with the most headroom in the whole network;
/// among those with about as much, the shortest. If recently placed streams are in the way, some of them move.
///
/// The measured headroom of a path is that of its narrowest link in either direction, since it is not known which
/// direction of the stream will carry more. Streams placed in the last seconds do not show there. So the headroom of
/// a link is divided among those streams and the new one. Only streams opened in the same direction count: if all
/// carry data from the host that opened them, or all towards it, those are the ones that compete.
///
/// When the new stream would get less than if one other stream left each link, chains of moves are tried: it takes a
/// path, those in its way take others, and so on. A chain is kept if all of them fit then; see [`walk`] for its bounds. A
/// moved stream never meets more of its own transfer than before. Placing each stream once, where it fits best,
/// leaves a quarter of the capacity unused for some permutations of a FatTree's hosts; moves find the rest.
#[derive(Debug)]
pub(super) struct LeastLoaded {
    ledger: Ledger,
    random: ChaCha8Rng,
}

impl Default for LeastLoaded {
    fn default() -> Self {
        Self { ledger: Ledger::default(), random: ChaCha8Rng::seed_from_u64(0) }
    }
}

impl Registered for LeastLoaded {
    const NAME: &'static str = "least-loaded";
    const SUMMARY: &'static str = "of those, the path with the most headroom, cross traffic included";
}

impl PlacementPolicy for LeastLoaded {
    fn place(&mut self, request: &PlacementRequest<'_>) -> Option<Placement> {
        self.ledger.forget_before(request.now - UNSEEN);
        if let Some((_, stream)) = request.stream {
            self.ledger.forget(stream);
        }
        let meets: SmallVec<[_; 8]> =
            request.candidates.iter().map(|path| Meets::of(path, request)).collect();
        let least = *meets.iter().min()?;
        let apart: SmallVec<[usize; 16]> =
            (0..meets.len()).filter(|index| meets.get(*index) == Some(&least)).collect();
        let (place, share) = self.best(request, &apart)?;
        let hoped = self.hoped(request, &apart);
        let ticket = self.ledger.enter(request, &apart, place);
        let moves = match u128::from(share) * 100 < u128::from(hoped) * AS_GOOD {
            true => Walks::new(&mut self.ledger, request.graph, hoped, &mut self.random).make_room(ticket),
            false => Vec::new(),
        };
        let index = *apart.get(self.ledger.place_of(ticket)?)?;
        Some(Placement { index, shared: least.siblings.links, moves })
    }

    fn ended(&mut self, stream: StreamId) {
        self.ledger.forget(stream);
    }
}

impl LeastLoaded {
    /// The index among `apart` of the best path at present, and the rate that a stream may expect there.
    fn best(&self, request: &PlacementRequest<'_>, apart: &[usize]) -> Option<(usize, u64)> {
        let paths = apart.iter().filter_map(|index| request.candidates.get(*index));
        let shares: SmallVec<[u64; 16]> = paths.map(|path| self.share(path, request.graph, 1)).collect();
        let most = *shares.iter().max()?;
        let enough = |share: &u64| u128::from(*share) * 100 >= u128::from(most) * AS_GOOD;
        let place = shares.iter().position(enough)?;
        Some((place, *shares.get(place)?))
    }

    /// The rate on the best of these paths if one other stream left each link.
    fn hoped(&self, request: &PlacementRequest<'_>, apart: &[usize]) -> u64 {
        let paths = apart.iter().filter_map(|index| request.candidates.get(*index));
        paths.map(|path| self.share(path, request.graph, 0)).max().unwrap_or(0)
    }

    /// The rate of each stream on the narrowest link of a path with so many `more`.
    fn share(&self, path: &Path, graph: &Graph, more: usize) -> u64 {
        let share = |link: &Link| available(link, graph) / (self.ledger.count(link) + more).max(1) as u64;
        path.links().iter().map(share).min().unwrap_or(u64::MAX)
    }
}

/// The headroom of a link, in the direction that has less.
fn available(link: &Link, graph: &Graph) -> u64 {
    let left = |link: &Link| graph.edge(link.src).map(|edge| graph.state(edge).available().0);
    left(link).into_iter().chain(left(&link.reversed())).min().unwrap_or_default()
}
