//! The conditions of paths: which are suspended, and how degraded the others are.

use std::collections::VecDeque;

use braid_paths::{Path, PathSet};
use braid_topology::{Degradation, Graph};
use braid_types::Time;

use crate::label::MEMBERS;

/// Suspended paths are few, or a whole group. Beyond this, the oldest are resumed early.
const MAX_SUSPENDED: usize = 2 * MEMBERS as usize;

/// Paths that are suspended, in both directions, and until when.
#[derive(Debug, Default)]
pub(super) struct SuspendedPaths(VecDeque<(Path, Time)>);

impl SuspendedPaths {
    /// Suspends a path until `until`.
    pub(super) fn push(&mut self, path: Path, until: Time) {
        if self.0.len() >= MAX_SUSPENDED {
            self.0.pop_front();
        }
        self.0.push_back((path, until));
    }

    fn contains(&self, path: &Path, now: Time) -> bool {
        let same = |suspended: &Path| suspended == path || suspended.is_reverse_of(path);
        self.0.iter().any(|(suspended, until)| *until > now && same(suspended))
    }
}

/// Which paths can be used at a moment.
#[derive(Clone, Copy)]
pub(crate) struct PathConditions<'a> {
    pub(super) now: Time,
    pub(super) graph: &'a Graph,
    pub(super) suspended: &'a SuspendedPaths,
    /// Whether a link of the graph is degraded, which is rare.
    pub(super) has_degraded: bool,
}

impl<'a> PathConditions<'a> {
    /// The paths of a set that are not suspended. Where some have degraded links, the least degraded ones.
    pub(crate) fn usable(self, set: &'a PathSet) -> impl Iterator<Item = &'a Path> {
        let paths = move || set.paths.iter().filter(move |path| !self.is_suspended(path));
        let least = self.has_degraded.then(|| paths().map(|path| self.degradation(path)).min()).flatten();
        paths().filter(move |path| least.is_none_or(|least| self.degradation(path) == least))
    }

    /// The degradation of a path's worst link, in either direction: replies return on the same links.
    pub(crate) fn degradation(self, path: &Path) -> Degradation {
        if !self.has_degraded {
            return Degradation::NONE;
        }
        let edges = path.links().iter().filter_map(|link| self.graph.edge(link.src));
        edges.map(|edge| self.graph.state(edge).degradation).max().unwrap_or_default()
    }

    /// Whether a path is suspended.
    pub(crate) fn is_suspended(self, path: &Path) -> bool {
        self.suspended.contains(path, self.now)
    }
}
