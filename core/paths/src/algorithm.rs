//! The trait of path algorithms, and the properties that the rest of the crate needs to know of each.

use braid_topology::NodeIndex;
use braid_types::DatapathId;

use crate::PathSet;
use crate::latency_bounded::LatencyBound;
use crate::network::Network;

/// Chooses a set of paths between two switches. A value holds the memory that its searches reuse, empty at first.
pub(crate) trait Algorithm: Default {
    /// The name, and the properties that caches, queries and users rely on.
    const PROPERTIES: Properties;

    /// Up to `k` paths, best first. The same network and problem have the same answer, whatever was solved before.
    fn solve(&mut self, network: &mut Network, problem: Problem) -> PathSet;

    /// The same among the paths that `bound` admits. Every link of `network` is on such a path.
    ///
    /// Unless an algorithm overrides this, late paths are dropped from the set. If none remains, the fastest path is the
    /// answer.
    fn solve_bounded(&mut self, network: &mut Network, problem: Problem, bound: &LatencyBound) -> PathSet {
        let mut set = bound.drop_late(self.solve(network, problem));
        bound.or_fastest(&mut set.paths, network, problem);
        set
    }

    /// The greatest length of a new path that can change a set found before; `None` if a path of any length can.
    fn max_length_of_interest(_found: &FoundSet<'_>) -> Option<i64> {
        None
    }
}

/// Up to `k` paths from one switch to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem {
    pub(crate) ingress: DatapathId,
    pub(crate) egress: DatapathId,
    pub(crate) k: usize,
    /// The number that belongs to the kind, if it has a [`Properties::parameter`].
    pub(crate) parameter: u32,
}

/// Properties of a kind of path set, for users, caches and queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Properties {
    /// The name in commands, URLs and policy files, such as `disjoint`.
    pub name: &'static str,
    /// The name of the whole number that follows after a colon, such as `HOPS`; `None` if none does.
    pub parameter: Option<&'static str>,
    /// The paths, as a part of a sentence for help texts.
    pub summary: &'static str,
    /// Whether paths are listed one after another, so that one path beyond `k` shows that there are more.
    pub is_listing: bool,
    /// Whether the available capacity of links decides.
    pub by_capacity: bool,
}

impl Properties {
    /// The properties of a kind by cost, without a number, whose paths are found together.
    pub(crate) const fn new(name: &'static str, summary: &'static str) -> Self {
        Self { name, parameter: None, summary, is_listing: false, by_capacity: false }
    }

    /// How the kind is written: `disjoint`, `within:HOPS`.
    pub fn syntax(&self) -> String {
        self.parameter.map_or_else(|| self.name.to_owned(), |parameter| format!("{}:{parameter}", self.name))
    }
}

/// A set that was found before, whose paths still exist.
#[derive(Debug)]
pub(crate) struct FoundSet<'a> {
    pub(crate) network: &'a Network,
    pub(crate) ends: (NodeIndex, NodeIndex),
    pub(crate) k: usize,
    /// The lengths of its paths now, in their order; at least one.
    pub(crate) lengths: Vec<i64>,
}

impl FoundSet<'_> {
    /// Whether it has as many paths as requested.
    pub(crate) const fn has_k(&self) -> bool {
        self.lengths.len() >= self.k
    }

    /// The total length of its paths, if no disjoint set can have more paths: `k`, or one for each link of an end. The
    /// other paths of a better set have some length as well.
    pub(crate) fn total_if_full(&self) -> Option<i64> {
        let is_full = self.has_k() || self.degree() == self.lengths.len();
        is_full.then(|| self.lengths.iter().sum())
    }

    /// The links that leave the ingress, or arrive at the egress if these are fewer.
    fn degree(&self) -> usize {
        let Network { graph, lengths, .. } = self.network;
        let (from, to) = self.ends;
        let leaving = graph.out_edges(from).filter(|edge| !lengths.is_barred(*edge));
        let arriving = graph.in_edges(to).iter().filter(|(edge, _)| !lengths.is_barred(*edge));
        leaving.count().min(arriving.count())
    }
}
