//! Latency of paths, and the value that stands in for unknown delays.

use std::time::Duration;

use braid_topology::{EdgeIndex, Graph};

use crate::Path;

/// The delays of a path's links in sum; `unknown` stands for those that are not known. Nothing when `graph` lacks one
/// of its links.
pub fn latency(path: &Path, graph: &Graph, unknown: Duration) -> Option<Duration> {
    let delay = |edge: Option<EdgeIndex>| Some(graph.state(edge?).delay.unwrap_or(unknown));
    path.edges(graph).map(delay).try_fold(Duration::ZERO, |sum, delay| Some(sum.saturating_add(delay?)))
}

/// What stands for delays that are not known: the greatest that is, or zero when none is.
pub fn unknown_delay(graph: &Graph) -> Duration {
    graph.edges().filter_map(|edge| graph.state(edge).delay).max().unwrap_or_default()
}

/// What stands for a delay in sums: nanoseconds. (At 500 years it is cut.)
pub(crate) fn nanos(delay: Duration) -> u64 {
    u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX)
}
