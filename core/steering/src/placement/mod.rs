//! Placement of streams on paths: the policy trait, its request and result, and the registry: a file and a line each.

mod deterministic;
mod fewest_shared;
mod least_loaded;
mod random;
mod registry;

use std::fmt;

use braid_paths::Path;
use braid_topology::Graph;
use braid_types::Time;

use crate::{StreamId, TransferId};

pub use registry::PolicyError;

registry::registry! {
    /// The path that shares links with the fewest streams of its transfer.
    #[default]
    FewestShared => fewest_shared,
    /// The path with the most headroom; some recent streams may move for it.
    LeastLoaded => least_loaded,
    /// The path that the fewest streams between the same two addresses take. Zannettou et al. 2016.
    Deterministic => deterministic,
    /// Any path, as ECMP.
    Random => random,
}

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

/// The overlap of a path with the other streams of a transfer; the least is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Meets {
    siblings: Overlap,
    opening: Overlap,
}

impl Meets {
    fn of(path: &Path, request: &PlacementRequest<'_>) -> Self {
        Self { siblings: Overlap::of(path, request.siblings), opening: Overlap::of(path, request.opening) }
    }
}

/// What a path shares with other streams: fewer streams are better, then fewer links.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Overlap {
    streams: usize,
    links: usize,
}

impl Overlap {
    fn of(path: &Path, others: &[&Path]) -> Self {
        let shared = others.iter().map(|other| path.shared_links(other)).filter(|links| *links > 0);
        shared.fold(Self::default(), |Self { streams, links }, more| Self {
            streams: streams + 1,
            links: links + more,
        })
    }
}
