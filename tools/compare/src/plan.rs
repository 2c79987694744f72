//! Plans for a direction's connections: the planner's, in a network without other traffic.

use std::sync::Arc;

use braid_assign::{Distribution, StreamModel};
use braid_paths::{Constraints, Path, PathFinder, Terms};
use braid_planner::{EffectivePolicy, Unloaded, next_path, stream_weights, useful_paths};
use braid_sim::testbed::SprayPlans;
use braid_topology::Graph;
use braid_types::SwitchPair;

/// The assignment of announced streams.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Assigning {
    /// The number of paths requested.
    pub paths: usize,
    /// The distribution of streams over them.
    pub distribution: Distribution,
    /// The expected number of streams, if announced.
    pub expected: Option<usize>,
    /// The model of the streams that paths can use.
    pub model: StreamModel,
}

/// Links that exist in both directions, as the controller uses them: packets return by the same links.
fn finder(graph: &Arc<Graph>) -> PathFinder {
    let constraints = Constraints { both_ways: true, ..Constraints::default() };
    Terms { constraints, ..Terms::default() }.finder(graph)
}

/// The spray plans of two edges; `None` if no two paths can be used together, or none exists in one direction.
pub fn spray(graph: &Arc<Graph>, ends: SwitchPair, policy: EffectivePolicy) -> Option<SprayPlans> {
    let mut finder = finder(graph);
    let mut plan = |ends| policy.spray().plan(&mut finder, ends, |edge| graph.state(edge).capacity, |_| true);
    let [forward, reverse] = [ends, ends.reversed()].map(&mut plan);
    let is_possible = forward.is_multipath() || reverse.is_multipath();
    let is_whole = !forward.members.is_empty() && !reverse.members.is_empty();
    (is_possible && is_whole).then_some(SprayPlans { forward, reverse, resequence: policy.resequence })
}

/// The paths that are set aside for streams.
pub fn assigned_paths(graph: &Arc<Graph>, ends: SwitchPair, assigning: &Assigning) -> Vec<Path> {
    if ends.src == ends.dst {
        return Vec::new();
    }
    let on = Unloaded { graph, model: assigning.model };
    useful_paths(&on, assigning.paths, |k| finder(graph).k_shortest(ends.src, ends.dst, k))
}

/// The path of each of so many streams that come one after the other; `None` for those that find no path and take the
/// scheme's.
pub fn distribute(graph: &Graph, paths: &[Path], assigning: &Assigning, streams: usize) -> Vec<Option<Path>> {
    let on = Unloaded { graph, model: assigning.model };
    let Assigning { distribution, expected, .. } = *assigning;
    let weights = stream_weights(&on, distribution, paths, expected).weights;
    let mut held = vec![0; paths.len()];
    let mut next = || {
        let index = next_path(distribution, weights.clone(), &held, |_| true)?;
        *held.get_mut(index)? += 1;
        paths.get(index).cloned()
    };
    (0..streams).map(|_| next()).collect()
}
