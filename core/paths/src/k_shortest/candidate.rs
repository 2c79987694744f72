use std::cmp::Reverse;
use std::collections::BinaryHeap;

use braid_topology::EdgeIndex;
use smallvec::SmallVec;

use crate::finder::BARRED;

/// Links from the ingress on; few networks have longer paths.
pub(super) type Route = SmallVec<[EdgeIndex; 8]>;
/// Links that leave one switch, lowest port first.
pub(super) type Banned = SmallVec<[EdgeIndex; 4]>;

/// The paths that begin with the first `deviation` links of `route` and go on over none of `banned`.
///
/// While it is not `found`, the route ends there and `length` is only a bound; then they are those of the shortest.
/// The order is that in which candidates are looked at: a bound before what is as long, since it may turn out to have
/// lower ports.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) length: i64,
    pub(super) found: bool,
    pub(super) route: Route,
    pub(super) deviation: usize,
    pub(super) banned: Banned,
}

impl Candidate {
    /// All paths from an ingress that is `distance` away; nothing if there is none.
    pub(super) fn all_paths(distance: i64) -> Option<Self> {
        // Within one switch there is nothing to search.
        let found = distance == 0;
        let new = Self { length: distance, found, route: Route::new(), deviation: 0, banned: Banned::new() };
        (distance != BARRED).then_some(new)
    }

    /// What must not follow the first `links` links, so that neither this path nor one of other candidates comes again.
    pub(super) fn banned_after(&self, links: usize) -> Banned {
        let mut banned = if links == self.deviation { self.banned.clone() } else { Banned::new() };
        if let Some(edge) = self.route.get(links) {
            banned.insert(banned.partition_point(|other| other < edge), *edge);
        }
        banned
    }
}

/// Candidates, the first in their order on top.
#[derive(Debug, Default)]
pub(super) struct Candidates(BinaryHeap<Reverse<Candidate>>);

impl Candidates {
    pub(super) fn push(&mut self, candidate: Candidate) {
        self.0.push(Reverse(candidate));
    }

    pub(super) fn pop(&mut self) -> Option<Candidate> {
        self.0.pop().map(|Reverse(candidate)| candidate)
    }
}
