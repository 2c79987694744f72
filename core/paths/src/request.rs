//! Path requests: the kind of path set, the number of paths, link costs and constraints.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph};
use braid_types::{BitsPerSec, DatapathId, SwitchPort};

use crate::{PathFinder, Weight, unknown_delay};

/// Which paths are wanted between two switches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request {
    /// How they are chosen.
    pub kind: Kind,
    /// How many at most, 1 to [`Request::MAX_PATHS`].
    pub k: usize,
    /// What links cost, and which may be used.
    pub terms: Terms,
}

/// How a set of paths is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Those as short as the shortest: [`PathFinder::all_shortest`].
    Shortest,
    /// The shortest that pass no switch twice: [`PathFinder::k_shortest`].
    KShortest,
    /// No two over the same cable, of least total cost: [`PathFinder::edge_disjoint`].
    EdgeDisjoint,
    /// No two past the same switch, of least total cost: [`PathFinder::node_disjoint`].
    NodeDisjoint,
    /// Those of so many links at most, fewest links first: [`PathFinder::within_hops`].
    WithinHops(u32),
    /// What carries the most over the available capacity: [`PathFinder::max_flow`].
    MaxFlow,
    /// The one path with the most capacity available: [`PathFinder::widest`].
    Widest,
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

const NAMES: [(&str, Kind); 6] = [
    ("shortest", Kind::Shortest),
    ("ksp", Kind::KShortest),
    ("disjoint", Kind::EdgeDisjoint),
    ("node-disjoint", Kind::NodeDisjoint),
    ("maxflow", Kind::MaxFlow),
    ("widest", Kind::Widest),
];
const WITHIN: &str = "within:";

/// Text that is not a kind of path set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    /// No kind is called so.
    #[error("{0:?} is not one of {names} or {WITHIN}HOPS", names = Kind::names().collect::<Vec<_>>().join(", "))]
    Unknown(String),
    /// A limit that is no number of hops.
    #[error("HOPS is a whole number, such as {WITHIN}4")]
    Hops,
}

impl Kind {
    /// What a text begins with that limits the hops, whose number follows.
    pub const WITHIN: &str = WITHIN;

    /// The names of the kinds that need no number.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().map(|(name, _)| name)
    }
}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        if let Some(hops) = text.strip_prefix(WITHIN) {
            return hops.parse().map(Self::WithinHops).map_err(|_| KindError::Hops);
        }
        let named = NAMES.into_iter().find(|(name, _)| *name == text).map(|(_, kind)| kind);
        named.ok_or_else(|| KindError::Unknown(text.to_owned()))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (NAMES.into_iter().find(|(_, kind)| kind == self), self) {
            (_, Self::WithinHops(hops)) => write!(f, "{WITHIN}{hops}"),
            (Some((name, _)), _) => f.write_str(name),
            (None, _) => Ok(()),
        }
    }
}
