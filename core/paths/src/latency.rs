//! Latency of paths, and the value that stands in for unknown delays.

use std::time::Duration;

use braid_topology::{EdgeIndex, Graph};

use crate::Path;

/// The sum of the delays of a path's links; `unknown` replaces unknown ones. `None` when `graph` lacks one of the links.
pub fn latency(path: &Path, graph: &Graph, unknown: Duration) -> Option<Duration> {
    let delay = |edge: Option<EdgeIndex>| Some(graph.state(edge?).delay.unwrap_or(unknown));
    path.edges(graph).map(delay).try_fold(Duration::ZERO, |sum, delay| Some(sum.saturating_add(delay?)))
}

/// The value that replaces unknown delays: the greatest known delay, or zero when none is known.
pub fn unknown_delay(graph: &Graph) -> Duration {
    graph.edges().filter_map(|edge| graph.state(edge).delay).max().unwrap_or_default()
}

/// A delay in nanoseconds, for sums. (Saturates at 500 years.)
pub(crate) fn nanos(delay: Duration) -> u64 {
    u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX)
}
