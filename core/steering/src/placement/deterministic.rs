//! The `deterministic` policy: the path with the fewest siblings. Zannettou et al. (2016).

use braid_paths::Path;

use super::registry::Registered;
use super::{Placement, PlacementPolicy, PlacementRequest};

/// The path that the fewest of the siblings use; among equals the first, which is the shortest.
///
/// Zannettou et al. 2016, algorithm 1: the initial subflow takes the shortest path, each further one the next of the set,
/// and beyond the size of the set all paths get equally many. Their counter of each connection and address pair
/// equals the number of siblings on each path, if siblings are those between the same two addresses. Unlike with
/// [`FewestShared`](super::Policy::FewestShared), shared links do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deterministic;

impl Registered for Deterministic {
    const NAME: &'static str = "deterministic";
    const SUMMARY: &'static str =
        "the path with the fewest streams between the same two addresses (Zannettou et al. 2016)";
    const IS_BY_ADDRESS_PAIR: bool = true;
}

impl PlacementPolicy for Deterministic {
    fn place(&mut self, request: &PlacementRequest<'_>) -> Option<Placement> {
        let takes = |path, streams: &[&Path]| streams.iter().filter(|taken| **taken == path).count();
        let takers = |path| (takes(path, request.siblings), takes(path, request.opening));
        let (index, path) = request.candidates.iter().enumerate().min_by_key(|(_, path)| takers(**path))?;
        let shared = request.siblings.iter().map(|sibling| path.shared_links(sibling)).sum();
        Some(Placement { index, shared, moves: Vec::new() })
    }
}
