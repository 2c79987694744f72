//! Path requests: kind of path set, the number of paths, link costs and constraints.

use std::collections::BTreeSet;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph};
use braid_types::{BitsPerSec, DatapathId, SwitchPort};

use crate::{Kind, PathFinder, Weight, unknown_delay};

/// Which paths are wanted between two switches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request {
    /// How the paths are chosen.
    pub kind: Kind,
    /// How many at most, 1 to [`Request::MAX_PATHS`].
    pub k: usize,
    /// What links cost, and which may be used.
    pub terms: Terms,
}

/// What links cost, and which may be used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Terms {
    /// What links cost.
    pub weight: Weight,
    /// What every path must be like.
    pub constraints: Constraints,
}

/// What every path must be like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Constraints {
    /// The cables at these ports are not used, in either direction.
    pub without_ports: BTreeSet<SwitchPort>,
    /// These switches are not passed.
    pub without_switches: BTreeSet<DatapathId>,
    /// Every link has at least this capacity.
    pub min_capacity: BitsPerSec,
    /// The delays of a path's links sum up to no more.
    pub max_latency: Option<Duration>,
    /// Every link is known in the other direction as well, so that replies can return on the same path.
    pub both_ways: bool,
}

/// A request that cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Nobody asks for no path.
    #[error("k is 0; ask for 1 path or more")]
    NoPaths,
    /// Time and memory are bounded.
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

    /// Whether it can be answered.
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
    /// The latency of whole paths is not its concern: see [`solve`](crate::solve).
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
