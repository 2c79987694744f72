//! Distribution of announced connections over paths, as the controller does it.

use std::sync::Arc;

use braid_assign::{CANDIDATES, Candidate, StreamModel, useful};
use braid_lab::scenario::Assign;
use braid_paths::{Path, PathFinder};
use braid_topology::Graph;
use braid_types::{BitsPerSec, DatapathId, SwitchPort};

/// The path of each of so many announced connections between two switches, as the controller deals them to who is alone in the
/// network; nothing where there is no path.
pub(super) fn deal(
    graph: &Arc<Graph>,
    (from, to): (DatapathId, DatapathId),
    (assign, model): (Assign, StreamModel),
    streams: usize,
) -> Vec<Option<Path>> {
    let paths = useful_paths(graph, (from, to), usize::from(assign.paths));
    let candidates: Vec<_> = paths.iter().map(|path| candidate(graph, path, model)).collect();
    let weights = assign.distribution.plan(&candidates, Some(streams)).weights;
    let mut held = vec![0; paths.len()];
    let mut next = || {
        let index = assign.distribution.next(&weights, &held)?;
        held[index] += 1;
        paths.get(index).cloned()
    };
    (0..streams).map(|_| next()).collect()
}

fn useful_paths(graph: &Arc<Graph>, (from, to): (DatapathId, DatapathId), wanted: usize) -> Vec<Path> {
    let paths = PathFinder::by_hops(graph.clone()).k_shortest(from, to, wanted * CANDIDATES);
    let links: Vec<_> = paths.iter().map(|path| rooms(graph, path)).collect();
    useful(&links, wanted).into_iter().map(|index| paths[index].clone()).collect()
}

fn candidate(graph: &Graph, path: &Path, model: StreamModel) -> Candidate {
    let both = path.links().iter().flat_map(|link| [link.src, link.dst]);
    let delays = both.filter_map(|port| graph.state(graph.edge(port)?).delay);
    Candidate { links: rooms(graph, path), round_trip: delays.sum(), model }
}

/// Each cable, and what it carries in the direction that has less.
fn rooms(graph: &Graph, path: &Path) -> Vec<(SwitchPort, BitsPerSec)> {
    let capacity = |port| graph.edge(port).map_or(BitsPerSec(0), |edge| graph.state(edge).capacity);
    let links = path.links().iter();
    links.map(|link| (link.src.min(link.dst), capacity(link.src).min(capacity(link.dst)))).collect()
}

#[cfg(test)]
mod tests {
    use braid_assign::Distribution;
    use braid_topology::generate::{huang_a, huang_b};

    use super::*;

    fn hops(graph: &Arc<Graph>, assign: Assign, streams: usize) -> Vec<Vec<u64>> {
        let dealt = deal(graph, (DatapathId(1), DatapathId(6)), (assign, StreamModel::default()), streams);
        dealt.into_iter().flatten().map(|path| path.switches().map(|switch| switch.0).collect()).collect()
    }

    #[test]
    fn four_streams_get_the_four_paths_of_topology_a() {
        let graph = Arc::new(huang_a().unwrap().graph());
        let mut all = hops(&graph, Assign { paths: 4, distribution: Distribution::Weight }, 4);
        all.sort();
        all.dedup();
        assert_eq!((all.len(), all.iter().all(|path| path.len() == 3)), (4, true));
        assert_eq!(
            hops(&graph, Assign { paths: 4, distribution: Distribution::Shortest }, 3),
            vec![vec![1, 2, 6]; 3]
        );
        assert!(hops(&graph, Assign { paths: 4, distribution: Distribution::Path(9) }, 2).is_empty());
    }

    #[test]
    fn streams_are_dealt_in_turn_over_the_three_paths_of_topology_b() {
        let graph = Arc::new(huang_b().unwrap().graph());
        let dealt = hops(&graph, Assign { paths: 3, distribution: Distribution::RoundRobin }, 6);
        let counts = [vec![1, 5, 6], vec![1, 2, 3, 6], vec![1, 2, 4, 6]]
            .map(|path| dealt.iter().filter(|it| **it == path).count());
        assert_eq!(counts, [2, 2, 2], "{dealt:?}");
        let weighted = hops(&graph, Assign { paths: 3, distribution: Distribution::Weight }, 22);
        assert_eq!(weighted.iter().filter(|path| path.len() == 3).count(), 18, "{weighted:?}");
    }
}
