//! The `fewest-shared` policy: the path that shares the fewest links with the transfer's own streams.

use super::registry::Registered;
use super::{Meets, Placement, PlacementPolicy, PlacementRequest};

/// The path that meets the fewest of the transfer's own streams, and on the fewest links; among equals the shortest.
///
/// The first stream takes the shortest path, the next ones the others. Once all are in use, the load stays even: the
/// deterministic method of Zannettou et al. 2016, without a counter to keep.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FewestShared;

impl Registered for FewestShared {
    const NAME: &'static str = "fewest-shared";
    const SUMMARY: &'static str = "the path that shares links with the fewest streams of its transfer";
}

impl PlacementPolicy for FewestShared {
    fn place(&mut self, request: &PlacementRequest<'_>) -> Option<Placement> {
        if request.siblings.is_empty() && request.opening.is_empty() {
            let is_path = !request.candidates.is_empty();
            return is_path.then_some(Placement { index: 0, shared: 0, moves: Vec::new() });
        }
        let meets = request.candidates.iter().map(|path| Meets::of(path, request));
        let (index, least) = meets.enumerate().min_by_key(|(_, meets)| *meets)?;
        Some(Placement { index, shared: least.siblings.links, moves: Vec::new() })
    }
}
