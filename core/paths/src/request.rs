//! Path requests: kind of path set, the number of paths, link costs and constraints.

use std::collections::BTreeSet;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph};
use braid_types::{BitsPerSec, DatapathId, SwitchPort};

use crate::{Kind, PathFinder, Weight, unknown_delay};

/// A request for paths between two switches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request {
    /// The kind of path set.
    pub kind: Kind,
    /// The greatest number of paths, 1 to [`Request::MAX_PATHS`].
    pub k: usize,
    /// The cost of links, and the links that may be used.
    pub terms: Terms,
}

/// The cost of links, and the links that may be used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Terms {
    /// The cost of a link.
    pub weight: Weight,
    /// The requirements on every path.
    pub constraints: Constraints,
}

/// The requirements on every path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Constraints {
    /// The links at these ports are not used, in either direction.
    pub without_ports: BTreeSet<SwitchPort>,
    /// These switches are not passed.
    pub without_switches: BTreeSet<DatapathId>,
    /// Every link has at least this capacity.
    pub min_capacity: BitsPerSec,
    /// The greatest sum of the delays of a path's links.
    pub max_latency: Option<Duration>,
    /// Every link is known in the other direction as well, so that replies can return on the same path.
    pub both_ways: bool,
}

/// A request that cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No path was requested.
    #[error("k is 0; ask for 1 path or more")]
    NoPaths,
    /// More paths than time and memory allow.
    #[error("k is {0}; ask for at most {max}", max = Request::MAX_PATHS)]
    TooManyPaths(usize),
}

impl Request {
    /// The most paths that a request may ask for.
    pub const MAX_PATHS: usize = 4_096;

    /// Up to `k` paths of this kind by hops, over any links.
    pub fn new(kind: Kind, k: usize) -> Self {
        Self { kind, k, terms: Terms::default() }
    }

    /// Whether the request is valid.
    ///
    /// # Errors
    /// [`RequestError`].
    pub const fn check(&self) -> Result<(), RequestError> {
        match self.k {
            0 => Err(RequestError::NoPaths),
            1..=Self::MAX_PATHS => Ok(()),
            k => Err(RequestError::TooManyPaths(k)),
        }
    }
}

impl Terms {
    /// A finder with these costs, for paths over the links that may be used. O(V + E).
    ///
    /// It ignores the latency of whole paths: see [`solve`](crate::solve).
    pub fn finder(&self, graph: &std::sync::Arc<Graph>) -> PathFinder {
        let unknown = unknown_delay(graph);
        PathFinder::new(graph.clone(), |edge| {
            let cost = || self.weight.cost(graph.state(edge), unknown);
            self.constraints.allow(graph, edge).then(cost)
        })
    }
}

impl Constraints {
    /// Whether paths may use a link.
    pub fn allow(&self, graph: &Graph, edge: EdgeIndex) -> bool {
        let link = graph.link(edge);
        let [from, to] = [link.src, link.dst];
        let shut =
            |at: &SwitchPort| self.without_ports.contains(at) || self.without_switches.contains(&at.dpid);
        !shut(&from)
            && !shut(&to)
            && graph.state(edge).capacity >= self.min_capacity
            && (!self.both_ways || graph.reverse(edge).is_some())
    }
}
