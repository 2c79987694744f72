//! The answer to a path request: paths, the flow over them, and whether the search was complete.

use braid_types::BitsPerSec;

use crate::Path;

/// The paths that answer a request, best first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathSet {
    /// The paths; empty when there is none.
    pub paths: Vec<Path>,
    /// How the greatest flow uses them: the rate of each path. Only [`Kind::MaxFlow`](crate::Kind::MaxFlow) has it.
    pub flow: Option<Flow>,
    /// Whether the search was ended early, so that there may be more paths: see
    /// [`PathFinder::with_budget`](crate::PathFinder::with_budget) and [`solve`](crate::solve).
    pub cut_short: bool,
}

/// A flow over a set of paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flow {
    /// The maximum flow of the network, which may need more paths than the set has.
    pub greatest: BitsPerSec,
    /// The rate of each path of the set. All of them fit at the same time.
    pub rates: Vec<BitsPerSec>,
    /// Whether late paths were dropped. Then the flow in time may be more than these paths carry, and less than the
    /// greatest.
    pub late: bool,
}

impl PathSet {
    /// The total number of links of its paths.
    pub fn links(&self) -> usize {
        self.paths.iter().map(Path::hops).sum()
    }
}

impl From<Vec<Path>> for PathSet {
    fn from(paths: Vec<Path>) -> Self {
        Self { paths, ..Self::default() }
    }
}
