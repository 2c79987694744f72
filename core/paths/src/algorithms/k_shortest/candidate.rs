//! Candidates of the k-shortest search: classes of paths that share a deviation, in a bounded heap.

use std::cmp::Ordering;

use braid_topology::EdgeIndex;

use super::tree::{Branch, Deviation, Tree};

/// The least number of candidates at which pruning pays off.
const MIN_TO_PRUNE: usize = 64;

/// The paths that deviate somewhere from a path of the tree, over none of the links that paths of the tree take there.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The length of the shortest path; a lower bound until that path is found.
    pub(super) length: i64,
    /// With the first link of the shortest path. Until that is found, no shortest path of this length has a lower one.
    pub(super) deviation: Deviation,
    /// The path that deviated there last; the parent if none did.
    pub(super) sibling: Branch,
    /// The links of the shortest path from the deviation on, once that is found.
    pub(super) rest: Box<[EdgeIndex]>,
}

impl Candidate {
    pub(super) const fn is_found(&self) -> bool {
        !self.rest.is_empty()
    }

    fn order(&self, other: &Self, tree: &Tree) -> Ordering {
        self.length.cmp(&other.length).then_with(|| tree.order(self.deviation, other.deviation))
    }
}

/// A heap of candidates with the first in their order on top. The order needs the tree, so `std`'s heap does not fit.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    heap: Vec<Candidate>,
    found: usize,
    // The number of candidates after the last pruning.
    kept: usize,
}

impl Candidates {
    pub(super) fn push(&mut self, candidate: Candidate, tree: &Tree) {
        self.found += usize::from(candidate.is_found());
        let mut at = self.heap.len();
        self.heap.push(candidate);
        while let Some(parent) = at.checked_sub(1).map(|at| at / 2) {
            if !self.is_before(at, parent, tree) {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    pub(super) fn pop(&mut self, tree: &Tree) -> Option<Candidate> {
        if self.heap.is_empty() {
            return None;
        }
        let first = self.heap.swap_remove(0);
        self.found -= usize::from(first.is_found());
        self.sink(tree);
        Some(first)
    }

    /// Prunes the candidates beyond the first `wanted`.
    pub(super) fn limit(&mut self, wanted: usize, tree: &Tree) {
        if self.found <= wanted || self.heap.len() < MIN_TO_PRUNE.max(2 * self.kept) {
            return;
        }
        // A sorted vector is a heap as well.
        self.heap.sort_unstable_by(|a, b| a.order(b, tree));
        let mut found = 0;
        self.heap.retain(|candidate| {
            let keep = found < wanted;
            found += usize::from(keep && candidate.is_found());
            keep
        });
        (self.found, self.kept) = (found, self.heap.len());
    }

    fn sink(&mut self, tree: &Tree) {
        let mut at = 0;
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.is_before(child, least, tree) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    fn is_before(&self, one: usize, other: usize, tree: &Tree) -> bool {
        self.heap[one].order(&self.heap[other], tree).is_lt()
    }
}
