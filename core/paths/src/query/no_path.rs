//! The reason why a query has no path, found by dropping one constraint after another.

use std::sync::Arc;
use std::time::Duration;

use braid_topology::Graph;
use braid_types::DatapathId;

use super::{EndView, Resolved};
use crate::{Constraints, Kind, Request, Terms, Weight, latency, unknown_delay};

/// Why there is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoPath {
    /// No links lead from one switch to the other.
    Disconnected,
    /// Paths exist, but all of them use something excluded, or lack capacity.
    Excluded,
    /// The allowed paths take too long.
    LatencyExceeded,
    /// The allowed paths have too many links.
    HopsExceeded,
    /// All capacity is in use, or none is known.
    NoCapacity,
}

impl NoPath {
    /// Finds the reason by dropping one constraint after the other. Called when there is no path. O((V + E) log V).
    pub(super) fn find(graph: &Arc<Graph>, resolved: &Resolved) -> Self {
        let Request { kind, terms: Terms { constraints, .. }, .. } = &resolved.request;
        let free = Constraints { both_ways: constraints.both_ways, ..Constraints::default() };
        let Some(_) = fastest(graph, resolved, free) else { return Self::Disconnected };
        let at_any_time = Constraints { max_latency: None, ..constraints.clone() };
        let Some(least) = fastest(graph, resolved, at_any_time) else { return Self::Excluded };
        let late = constraints.max_latency.map(|limit| least > limit);
        match (kind, late) {
            (_, Some(true)) => Self::LatencyExceeded,
            (Kind::WithinHops(_), _) => Self::HopsExceeded,
            _ => Self::NoCapacity,
        }
    }
}

impl NoPath {
    /// The reason as a part of a sentence, which names only the constraints of the request.
    pub(super) fn explain(self, request: &Request, ends: [&EndView; 2]) -> String {
        let in_time = if request.terms.constraints.max_latency.is_some() { " in time" } else { "" };
        match self {
            Self::Disconnected => "no links lead there".to_owned(),
            Self::Excluded => bars(request, ends),
            Self::LatencyExceeded => "all that lead there take too long".to_owned(),
            Self::HopsExceeded => format!("all that lead there{in_time} have more hops"),
            Self::NoCapacity => format!("no capacity is left on the way{in_time}, or none is known"),
        }
    }
}

/// The least latency from one end to the other.
fn fastest(graph: &Arc<Graph>, resolved: &Resolved, constraints: Constraints) -> Option<Duration> {
    let [ingress, egress]: [DatapathId; 2] = resolved.switches();
    if [ingress, egress].iter().any(|end| constraints.without_switches.contains(end)) {
        return None;
    }
    let unknown = unknown_delay(graph);
    let allowed = Terms { weight: Weight::HOPS, constraints }.finder(graph);
    let path = allowed.by_latency(unknown).shortest(ingress, egress)?;
    latency(&path, graph, unknown)
}

/// The constraints of the request that rule out all paths.
fn bars(request: &Request, [src, dst]: [&EndView; 2]) -> String {
    let Constraints { without_ports, without_switches, min_capacity, .. } = &request.terms.constraints;
    for (end, what) in [(src, "begin"), (dst, "end")] {
        if without_switches.contains(&end.dpid) {
            return format!("{} is where the paths {what}, and is not to be used", end.node);
        }
    }
    let without = !without_ports.is_empty() || !without_switches.is_empty();
    match (without, min_capacity.0 > 0) {
        (true, true) => "all that lead there pass what is not to be used, or have too little capacity",
        (true, false) => "all that lead there pass what is not to be used",
        (false, true) => "all that lead there have too little capacity",
        (false, false) => "no links that lead there are known in both directions",
    }
    .to_owned()
}
