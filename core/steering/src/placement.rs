use std::sync::Arc;

use braid_paths::Path;

/// The path that a policy chose among its candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Its index among the candidates.
    pub index: usize,
    /// How many of its cables other streams of the transfer use, each counted once a stream.
    pub shared: usize,
}

/// Chooses a path for a stream.
pub trait Placement {
    /// Chooses among `candidates`, shortest first, for a stream whose transfer uses the paths `siblings`
    /// already. `None` if there is no candidate.
    fn place(&self, candidates: &[Arc<Path>], siblings: &[&Path]) -> Option<Choice>;
}

/// The path that shares the fewest cables with the transfer's own streams; among equals the shortest.
///
/// The first stream takes the shortest path, the next ones the others, and once all are in use the load
/// stays even: what Zannettou et al. 2016 call deterministic, without a counter to keep.
#[derive(Clone, Copy, Debug, Default)]
pub struct FewestShared;

impl Placement for FewestShared {
    fn place(&self, candidates: &[Arc<Path>], siblings: &[&Path]) -> Option<Choice> {
        let choices = candidates.iter().enumerate();
        let choices = choices.map(|(index, path)| Choice { index, shared: overlap(path, siblings) });
        choices.min_by_key(|choice| choice.shared)
    }
}

fn overlap(path: &Path, siblings: &[&Path]) -> usize {
    siblings.iter().map(|sibling| path.shared_cables(sibling)).sum()
}
