//! The `random` policy: any path with equal probability, as ECMP hashing has it.

use braid_types::reduce;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::registry::Registered;
use super::{Placement, PlacementPolicy, PlacementRequest};

/// Any path, whatever others use, as ECMP hashing of addresses and ports chooses it: the baseline of the other policies.
#[derive(Clone, Debug)]
pub(super) struct Random(ChaCha8Rng);

impl Random {
    /// A policy whose choices depend on the seed alone.
    fn new(seed: u64) -> Self {
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

#[cfg(test)]
mod tests {
    use braid_paths::Path;
    use braid_topology::Graph;
    use braid_types::{DatapathId, Time};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Within five standard deviations of as many on each path.
        #[test]
        fn random_is_uniform_and_the_same_for_the_same_seed(seed in any::<u64>()) {
            let (ways, graph) = ([1, 2, 3, 4].map(|it| Path::within(DatapathId(it))), Graph::from_links([]));
            let candidates: Vec<_> = ways.iter().collect();
            let request = PlacementRequest { now: Time::ZERO, stream: None, candidates: &candidates, siblings: &[], opening: &[], graph: &graph };
            let draw = |policy: &mut Random| policy.place(&request).expect("a placement").index;
            let (mut one, mut other) = (Random::new(seed), Random::new(seed));
            let mut counts = [0_i32; 4];
            for _ in 0..1_000 {
                let index = draw(&mut one);
                prop_assert_eq!(index, draw(&mut other));
                counts[index] += 1;
            }
            prop_assert!(counts.iter().all(|count| (count - 250).abs() < 69), "{:?}", counts);
        }
    }
}
