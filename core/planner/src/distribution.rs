//! Distribution of announced streams: which paths are worth setting aside, their weights, and the path of the next stream.

use std::time::Duration;

use braid_assign::{CANDIDATES, Candidate, Distribution, Plan, StreamModel, useful};
use braid_paths::Path;
use braid_topology::{Graph, Link};
use braid_types::{BitsPerSec, SwitchPort};

/// The state of links and paths, for the distribution of streams.
pub trait LinkConditions {
    /// The rate that others leave free in one direction of a link.
    fn left(&self, link: &Link) -> BitsPerSec;

    /// The number of owners that share a link, the requesting one included; one at least.
    fn sharers(&self, link: &Link) -> usize;

    /// The delay of one direction of a link, if known.
    fn delay(&self, link: &Link) -> Option<Duration>;

    /// The model of the streams that a path can use.
    fn model(&self, path: &Path) -> StreamModel;
}

/// A network without other users.
#[derive(Clone, Copy, Debug)]
pub struct Unloaded<'a> {
    /// Its links.
    pub graph: &'a Graph,
    /// The model of the streams that paths can use, the same for all.
    pub model: StreamModel,
}

impl LinkConditions for Unloaded<'_> {
    fn left(&self, link: &Link) -> BitsPerSec {
        self.graph.edge(link.src).map_or(BitsPerSec(0), |edge| self.graph.state(edge).capacity)
    }

    fn sharers(&self, _: &Link) -> usize {
        1
    }

    fn delay(&self, link: &Link) -> Option<Duration> {
        self.graph.state(self.graph.edge(link.src)?).delay
    }

    fn model(&self, _: &Path) -> StreamModel {
        self.model
    }
}

/// Up to `wanted` paths, those that add most to the total capacity, shortest first.
///
/// `shortest` gives as many of the shortest paths as requested; some of them may be dropped. See [`useful`].
pub fn useful_paths(
    on: &impl LinkConditions,
    wanted: usize,
    shortest: impl FnOnce(usize) -> Vec<Path>,
) -> Vec<Path> {
    let paths = shortest(wanted.saturating_mul(CANDIDATES));
    let links: Vec<_> = paths.iter().map(|path| rooms(on, path)).collect();
    useful(&links, wanted).into_iter().filter_map(|index| paths.get(index).cloned()).collect()
}

/// The weights of these paths, given shortest first, for so many `expected` streams; and the rate of each path beside the
/// others. By path.
pub fn stream_weights(
    on: &impl LinkConditions,
    distribution: Distribution,
    paths: &[Path],
    expected: Option<usize>,
) -> Plan {
    let candidate = |path: &Path| Candidate {
        links: rooms(on, path),
        round_trip: round_trip(on, path),
        model: on.model(path),
    };
    let candidates: Vec<_> = paths.iter().map(candidate).collect();
    distribution.plan(&candidates, expected)
}

/// The path of the next stream, where `held[i]` streams are on path i; `None` if no allowed path is left.
pub fn next_path(
    distribution: Distribution,
    mut weights: Vec<f64>,
    held: &[usize],
    is_usable: impl Fn(usize) -> bool,
) -> Option<usize> {
    let barred = weights.iter_mut().enumerate().filter(|(index, _)| !is_usable(*index));
    barred.for_each(|(_, weight)| *weight = 0.0);
    distribution.next(&weights, held)
}

/// The round-trip time of a path, as far as the delays of its links are known.
pub fn round_trip(on: &impl LinkConditions, path: &Path) -> Duration {
    path.links().iter().flat_map(|link| [on.delay(link), on.delay(&link.reversed())]).flatten().sum()
}

/// The links of a path by the lower of their ends, with the rate that each has for its streams.
fn rooms(on: &impl LinkConditions, path: &Path) -> Vec<(SwitchPort, BitsPerSec)> {
    path.links().iter().map(|link| (link.src.min(link.dst), room(on, link))).collect()
}

/// The lesser of both directions: the direction of the data is unknown.
fn room(on: &impl LinkConditions, link: &Link) -> BitsPerSec {
    let left = on.left(link).min(on.left(&link.reversed()));
    BitsPerSec(left.0 / on.sharers(link).max(1) as u64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use braid_paths::PathFinder;
    use braid_topology::generate::{huang_a, huang_b};
    use braid_types::DatapathId;

    use super::*;

    /// The switches on the path of each of so many streams, in topologies A and B of Huang et al. (2017).
    fn distributed(graph: Graph, distribution: Distribution, wanted: usize, streams: usize) -> Vec<Vec<u64>> {
        let graph = Arc::new(graph);
        let on = Unloaded { graph: &graph, model: StreamModel::default() };
        let mut finder = PathFinder::by_hops(graph.clone());
        let paths = useful_paths(&on, wanted, |k| finder.k_shortest(DatapathId(1), DatapathId(6), k));
        let weights = stream_weights(&on, distribution, &paths, Some(streams)).weights;
        let mut held = vec![0; paths.len()];
        let mut next = || {
            let index = next_path(distribution, weights.clone(), &held, |_| true)?;
            held[index] += 1;
            Some(paths[index].switches().map(|switch| switch.0).collect())
        };
        (0..streams).filter_map(|_| next()).collect()
    }

    fn topology_a() -> Graph {
        huang_a().expect("a topology").graph()
    }

    fn topology_b() -> Graph {
        huang_b().expect("a topology").graph()
    }

    #[test]
    fn four_streams_get_the_four_paths_of_topology_a() {
        let mut all = distributed(topology_a(), Distribution::Weight, 4, 4);
        all.sort();
        all.dedup();
        assert_eq!((all.len(), all.iter().all(|path| path.len() == 3)), (4, true));
        assert_eq!(distributed(topology_a(), Distribution::Shortest, 4, 3), vec![vec![1, 2, 6]; 3]);
        assert!(distributed(topology_a(), Distribution::Path(9), 4, 2).is_empty());
    }

    #[test]
    fn streams_are_distributed_in_turn_or_by_weight_over_the_three_paths_of_topology_b() {
        let in_turn = distributed(topology_b(), Distribution::RoundRobin, 3, 6);
        let counts = [vec![1, 5, 6], vec![1, 2, 3, 6], vec![1, 2, 4, 6]]
            .map(|path| in_turn.iter().filter(|it| **it == path).count());
        assert_eq!(counts, [2, 2, 2], "{in_turn:?}");
        let weighted = distributed(topology_b(), Distribution::Weight, 3, 22);
        assert_eq!(weighted.iter().filter(|path| path.len() == 3).count(), 18, "{weighted:?}");
    }

    #[test]
    fn owners_that_share_a_link_have_equal_parts_of_what_its_fuller_direction_leaves() {
        struct Shared;
        impl LinkConditions for Shared {
            fn left(&self, link: &Link) -> BitsPerSec {
                BitsPerSec(if link.src.dpid < link.dst.dpid { 90_000_000 } else { 30_000_000 })
            }
            fn sharers(&self, _: &Link) -> usize {
                3
            }
            fn delay(&self, _: &Link) -> Option<Duration> {
                None
            }
            fn model(&self, _: &Path) -> StreamModel {
                StreamModel::default()
            }
        }
        let path = PathFinder::by_hops(Arc::new(topology_a())).k_shortest(DatapathId(1), DatapathId(6), 1);
        let plan = stream_weights(&Shared, Distribution::Weight, &path, None);
        assert_eq!(plan.rates, [10_000_000.0]);
        assert_eq!(round_trip(&Shared, &path[0]), Duration::ZERO);
    }

    #[test]
    fn no_stream_takes_a_path_that_is_not_usable() {
        let next = |distribution| next_path(distribution, vec![1.0; 3], &[0; 3], |index| index == 1);
        let all =
            [Distribution::Weight, Distribution::RoundRobin, Distribution::Shortest, Distribution::Path(1)];
        assert_eq!(all.map(next), [Some(1); 4]);
        assert_eq!(next(Distribution::Path(0)), None);
    }
}
