//! The `random` policy: any path with equal probability, as ECMP hashing has it.

use braid_types::reduce;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::registry::Registered;
use super::{Placement, PlacementPolicy, PlacementRequest};

/// Any path, whatever others use, as ECMP hashing of addresses and ports chooses it: the baseline of the other policies.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// A policy whose choices depend on the seed alone.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }
}

/// With the seed 0.
impl Default for Random {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Registered for Random {
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "a random path, as ECMP";
}

impl PlacementPolicy for Random {
    fn place(&mut self, request: &PlacementRequest<'_>) -> Option<Placement> {
        let index = reduce(self.0.next_u64(), request.candidates.len());
        let path = request.candidates.get(index)?;
        let shared = request.siblings.iter().map(|sibling| path.shared_links(sibling)).sum();
        Some(Placement { index, shared, moves: Vec::new() })
    }
}
