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

/// The input of a policy that chooses the path of a stream.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRequest<'a> {
    /// When the stream opens.
    pub now: Time,
    /// The stream and its transfer; without them, the stream cannot move later.
    pub stream: Option<(TransferId, StreamId)>,
    /// The candidate paths, shortest first.
    pub candidates: &'a [&'a Path],
    /// The paths of the other streams of its transfer.
    pub siblings: &'a [&'a Path],
    /// The paths of siblings that may still be refused: they count among otherwise equal paths.
    pub opening: &'a [&'a Path],
    /// The state of the links of all these.
    pub graph: &'a Graph,
}

/// The path that a policy chose among its candidates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// Its index among the candidates.
    pub index: usize,
    /// How many of its links other streams of the transfer use, each counted once a stream.
    pub shared: usize,
    /// The moves that the choice requires: each stream once, away from the path that it was placed on.
    pub moves: Vec<Move>,
}

/// A stream that makes room for another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// The stream.
    pub stream: StreamId,
    /// One of the candidates that it was placed among.
    pub path: Path,
}

/// Chooses a path for a stream.
pub trait PlacementPolicy: fmt::Debug + Send {
    /// Chooses among the candidates; `None` if there is none. The choice counts for later ones.
    fn place(&mut self, request: &PlacementRequest<'_>) -> Option<Placement>;

    /// Notes the end of a stream: it no longer counts.
    fn ended(&mut self, _stream: StreamId) {}
}

/// The policies, by name: `fewest-shared`, `least-loaded`, `deterministic`, `random`.
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

    /// A new policy, without previous choices.
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

/// The overlap of a path with the other streams of a transfer; the least is the best.
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

/// How many siblings share a link with `path`, and how many links in all.
fn overlap(path: &Path, siblings: &[&Path]) -> (usize, usize) {
    let shared = siblings.iter().map(|sibling| path.shared_links(sibling)).filter(|links| *links > 0);
    shared.fold((0, 0), |(siblings, all), links| (siblings + 1, all + links))
}
