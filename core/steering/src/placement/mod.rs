//! Placement of streams on paths: the policy trait, its request and result, and the policies by name.

mod deterministic;
mod fewest_shared;
mod least_loaded;
mod random;

use std::fmt;
use std::str::FromStr;

use braid_paths::Path;
use braid_topology::Graph;
use braid_types::Time;

use crate::{StreamId, TransferId};

pub use deterministic::Deterministic;
pub use fewest_shared::FewestShared;
pub use least_loaded::LeastLoaded;
pub use random::Random;

/// What a policy knows when it chooses the path of a stream.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRequest<'a> {
    /// When the stream opens.
    pub now: Time,
    /// The stream and its transfer; without, nothing is placed that could move later.
    pub stream: Option<(TransferId, StreamId)>,
    /// The paths that it may take, shortest first.
    pub candidates: &'a [&'a Path],
    /// The paths of the other streams of its transfer.
    pub siblings: &'a [&'a Path],
    /// The paths of those that may be refused yet: they count among paths that are equal otherwise.
    pub opening: &'a [&'a Path],
    /// What is known of the links of all these.
    pub graph: &'a Graph,
}

/// The path that a policy chose among its candidates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// Its index among the candidates.
    pub index: usize,
    /// How many of its cables other streams of the transfer use, each counted once a stream.
    pub shared: usize,
    /// What the choice is made for: streams that are to move, each once, from the paths that they were placed on.
    pub moves: Vec<Move>,
}

/// A stream that makes room for another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// Which stream.
    pub stream: StreamId,
    /// One of the candidates that it was placed among.
    pub path: Path,
}

/// Chooses a path for a stream.
pub trait PlacementPolicy: fmt::Debug + Send {
    /// Chooses among the candidates; `None` if there is none. What was chosen counts for the next choices.
    fn place(&mut self, request: &PlacementRequest<'_>) -> Option<Placement>;

    /// A stream has ended: it no longer counts.
    fn ended(&mut self, _stream: StreamId) {}
}

/// The policies that there are, by name: `fewest-shared`, `least-loaded`, `deterministic`, `random`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Policy {
    /// See [`FewestShared`].
    #[default]
    FewestShared,
    /// See [`LeastLoaded`].
    LeastLoaded,
    /// See [`Deterministic`].
    Deterministic,
    /// See [`Random`].
    Random,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::FewestShared, Self::LeastLoaded, Self::Deterministic, Self::Random];

    /// The policy, which has not chosen anything yet.
    pub fn placement(self) -> Box<dyn PlacementPolicy> {
        match self {
            Self::FewestShared => Box::new(FewestShared),
            Self::LeastLoaded => Box::new(LeastLoaded::default()),
            Self::Deterministic => Box::new(Deterministic),
            Self::Random => Box::new(Random::new(0)),
        }
    }

    /// Whether only streams between the same two addresses count as siblings.
    pub const fn is_by_address_pair(self) -> bool {
        matches!(self, Self::Deterministic)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FewestShared => "fewest-shared",
            Self::LeastLoaded => "least-loaded",
            Self::Deterministic => "deterministic",
            Self::Random => "random",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Text that names no policy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not fewest-shared, least-loaded, deterministic or random")]
pub struct PolicyError(String);

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        Self::ALL.into_iter().find(|policy| policy.name() == text).ok_or_else(|| PolicyError(text.to_owned()))
    }
}

/// How a path meets the other streams of a transfer; the least is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Meets {
    siblings: (usize, usize),
    opening: (usize, usize),
}

impl Meets {
    fn of(path: &Path, request: &PlacementRequest<'_>) -> Self {
        Self { siblings: overlap(path, request.siblings), opening: overlap(path, request.opening) }
    }
}

/// How many siblings have a cable in common with `path`, and how many cables in all.
fn overlap(path: &Path, siblings: &[&Path]) -> (usize, usize) {
    let shared = siblings.iter().map(|sibling| path.shared_cables(sibling)).filter(|cables| *cables > 0);
    shared.fold((0, 0), |(siblings, all), cables| (siblings + 1, all + cables))
}
