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
    fn place(&self, candidates: &[&Path], siblings: &[&Path]) -> Option<Choice>;
}

/// The path that meets the fewest of the transfer's own streams, and on the fewest cables; among equals the shortest.
///
/// The first stream takes the shortest path, the next ones the others, and once all are in use the load
/// stays even: what Zannettou et al. 2016 call deterministic, without a counter to keep.
#[derive(Clone, Copy, Debug, Default)]
pub struct FewestShared;

impl Placement for FewestShared {
    fn place(&self, candidates: &[&Path], siblings: &[&Path]) -> Option<Choice> {
        let overlaps = candidates.iter().map(|path| overlap(path, siblings));
        let (index, (_, shared)) = overlaps.enumerate().min_by_key(|(_, overlap)| *overlap)?;
        Some(Choice { index, shared })
    }
}

/// How many siblings have a cable in common with `path`, and how many cables in all.
fn overlap(path: &Path, siblings: &[&Path]) -> (usize, usize) {
    let shared = siblings.iter().map(|sibling| path.shared_cables(sibling)).filter(|cables| *cables > 0);
    shared.fold((0, 0), |(siblings, all), cables| (siblings + 1, all + cables))
}
