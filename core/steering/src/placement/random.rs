//! The `random` policy: any path with equal probability, as ECMP hashing has it.

use braid_types::reduce;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Choice, Placement, Question};

/// Any path, whatever others take, as hashing of addresses and ports has it (ECMP): what the others are measured against.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The same choices for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }
}

impl Placement for Random {
    fn place(&mut self, question: &Question<'_>) -> Option<Choice> {
        let index = reduce(self.0.next_u64(), question.candidates.len());
        let path = question.candidates.get(index)?;
        let shared = question.siblings.iter().map(|sibling| path.shared_cables(sibling)).sum();
        Some(Choice { index, shared, moves: Vec::new() })
    }
}
