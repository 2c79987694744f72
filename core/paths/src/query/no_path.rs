use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use braid_topology::Graph;
use braid_types::DatapathId;
use serde::{Deserialize, Serialize};

use super::Resolved;
use crate::{Constraints, Kind, Request, Terms, Weight, latency, unknown_delay};

/// Why there is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoPath {
    /// No links lead from one switch to the other.
    Disconnected,
    /// They do, but all of them pass what is not to be used, or lack capacity.
    Barred,
    /// Those that may be used take too long.
    Late,
    /// They have more links than were asked for.
    Far,
    /// All capacity is in use, or none is known.
    Full,
}

impl NoPath {
    /// Finds the reason by dropping one demand after the other; to be asked when there is no path. O((V + E) log V).
    pub(super) fn find(graph: &Arc<Graph>, resolved: &Resolved) -> Self {
        let Request { kind, terms: Terms { constraints, .. }, .. } = &resolved.request;
        let free = Constraints { both_ways: constraints.both_ways, ..Constraints::default() };
        let Some(_) = fastest(graph, resolved, free) else { return Self::Disconnected };
        let at_any_time = Constraints { max_latency: None, ..constraints.clone() };
        let Some(least) = fastest(graph, resolved, at_any_time) else { return Self::Barred };
        let late = constraints.max_latency.map(|limit| least > limit);
        match (kind, late) {
            (_, Some(true)) => Self::Late,
            (Kind::WithinHops(_), _) => Self::Far,
            _ => Self::Full,
        }
    }
}

/// The least latency from one end to the other.
fn fastest(graph: &Arc<Graph>, resolved: &Resolved, constraints: Constraints) -> Option<Duration> {
    let ends: [DatapathId; 2] = resolved.switches();
    if ends.iter().any(|end| constraints.without_switches.contains(end)) {
        return None;
    }
    let mut finder = Terms { weight: Weight::LATENCY, constraints }.finder(graph);
    let path = finder.shortest(ends[0], ends[1])?;
    latency(&path, graph, unknown_delay(graph))
}

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disconnected => "no links lead there",
            Self::Barred => "all that lead there pass what is not to be used, or have too little capacity",
            Self::Late => "all that lead there take too long",
            Self::Far => "all that lead there have more hops",
            Self::Full => "no capacity is left on the way, or none is known",
        })
    }
}
