//! Link-disjoint paths of least total cost, found together. Suurballe (1974), Bhandari (1999).

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::DatapathId;

use crate::algorithm::{Algorithm, FoundSet, Problem, Properties};
use crate::network::{BARRED, Lengths, Network};
use crate::search::{Distances, Queue, TieBreak, refill, take_path};
use crate::{Path, PathSet};

/// Up to `k` paths of which no two use the same link, of least total cost; of those, of fewest links in total.
///
/// Of several equally good sets, each pair of switches chooses one of its own, so that the sets of a fabric spread over
/// it: in a FatTree, sets to different switches of a pod enter the pod over different links. The order of equally long
/// paths depends on the pair too.
///
/// A link used in opposite directions counts as shared: the replies of each stream return on its reversed path, where
/// they would meet the other stream. This costs nothing, as two paths that cross a link in opposite directions become
/// shorter when they swap tails. Paths are found together and not one after another: taking the shortest first can
/// leave no second path where two exist.
///
/// # Arguments
/// * `ingress`, `egress`: the switches where all paths begin and end.
/// * `k`: the greatest number of paths.
///
/// # Returns
/// As many paths as exist, `k` at most, shortest first. When both switches are the same, the one path without
/// links. Nothing when a switch is unknown or no path exists.
///
/// # Complexity
/// O(k (V + E) log V).
///
/// # Source
/// J. W. Suurballe, Disjoint Paths in a Network, 1974, with the potentials of Suurballe and Tarjan, 1984; for more
/// than two paths R. Bhandari, Survivable Networks, 1999: minimum-cost flow by successive shortest paths.
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// # use braid_paths::PathFinder;
/// # use braid_topology::{Graph, Link};
/// # use braid_types::{DatapathId, PortNo, SwitchPort};
/// // The shortest path 1-2-3-4 is a trap: without it, nothing is left of 1-2-5-7-4 and 1-6-8-3-4.
/// let pairs = [(1, 2), (2, 3), (3, 4), (2, 5), (5, 7), (7, 4), (1, 6), (6, 8), (8, 3)];
/// let links = pairs.into_iter().zip(1..).map(|((a, b), port)| Link {
///     src: SwitchPort::new(DatapathId(a), PortNo(port)),
///     dst: SwitchPort::new(DatapathId(b), PortNo(port)),
/// });
/// let mut finder = PathFinder::by_hops(Arc::new(Graph::from_links(links)));
/// let paths = finder.edge_disjoint(DatapathId(1), DatapathId(4), 2);
/// assert_eq!(paths.iter().map(|path| path.hops()).collect::<Vec<_>>(), [4, 4]);
/// ```
#[derive(Debug, Default)]
pub(crate) struct EdgeDisjoint {
    flow: Flow,
}

impl Algorithm for EdgeDisjoint {
    const PROPERTIES: Properties =
        Properties::new("disjoint", "up to k link-disjoint paths of minimum total cost");

    fn solve(&mut self, network: &mut Network, problem: Problem) -> PathSet {
        self.paths(network, (problem.ingress, problem.egress), problem.k).into()
    }

    fn max_length_of_interest(found: &FoundSet<'_>) -> Option<i64> {
        found.total_if_full()
    }
}

impl EdgeDisjoint {
    pub(crate) fn paths(
        &mut self,
        network: &mut Network,
        (ingress, egress): (DatapathId, DatapathId),
        k: usize,
    ) -> Vec<Path> {
        let Some((from, to)) = network.ends(ingress, egress) else { return Vec::new() };
        if from == to {
            return std::iter::repeat_n(Path::within(ingress), k.min(1)).collect();
        }
        let Network { graph, lengths, distances, queue, .. } = network;
        distances.measure_all(graph, lengths, queue, to);
        let tie_break = TieBreak::between(graph, from, to);
        let mut search =
            Search { graph, lengths, to_egress: distances, queue, flow: &mut self.flow, tie_break };
        let found = search.fill(from, to, k);
        // Their links form no cycle: every length is positive, so the flow would not be of least length. For the same
        // reason no link is used in both directions.
        let mut routes: Vec<_> =
            (0..found).map(|_| take_path(graph, &mut self.flow.used, from, to)).collect();
        let rank =
            |route: &[EdgeIndex]| route.first().map(|first| tie_break.rank(graph.link(*first).src.port));
        routes.sort_by_cached_key(|route| (lengths.total(route), rank(route)));
        routes.iter().map(|route| Path::from_edges(graph, ingress, route)).collect()
    }
}

/// A flow of one unit a path, and the state of the search for the next.
#[derive(Debug, Default)]
struct Flow {
    // By edge: a path uses it.
    used: Vec<bool>,
    // By node: how many used edges arrive.
    arrivals: Vec<u32>,
    // By node: the distance from the ingress in the residual graph, in reduced lengths.
    distances: Vec<i64>,
    // By node: what reduces lengths, so that none is negative and those towards the egress are least.
    potentials: Vec<i64>,
    // By node: the last step of the shortest augmenting path.
    steps: Vec<Option<Step>>,
}

/// One step of an augmenting path.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Along a free link.
    Use(EdgeIndex),
    /// Back over a link that an earlier path uses and now gives up.
    Release(EdgeIndex),
}

impl Flow {
    /// Without paths. The potentials are the negated distances to the egress, so the first search goes straight there.
    fn reset(&mut self, graph: &Graph, to_egress: &Distances) {
        let nodes = graph.nodes().len();
        refill(&mut self.used, graph.edges().len(), false);
        refill(&mut self.arrivals, nodes, 0);
        self.distances.resize(nodes, BARRED);
        self.steps.resize(nodes, None);
        self.potentials.clear();
        self.potentials.extend(to_egress.as_slice().iter().map(|distance| -distance));
    }

    /// Takes a step of an augmenting path, and returns the node before it.
    fn apply(&mut self, graph: &Graph, step: Step) -> NodeIndex {
        match step {
            Step::Use(edge) => {
                self.used[edge.index()] = true;
                self.arrivals[graph.head(edge).index()] += 1;
                graph.tail(edge)
            }
            Step::Release(edge) => {
                self.used[edge.index()] = false;
                self.arrivals[graph.head(edge).index()] -= 1;
                graph.head(edge)
            }
        }
    }
}

struct Search<'a> {
    graph: &'a Graph,
    lengths: &'a Lengths,
    to_egress: &'a Distances,
    queue: &'a mut Queue,
    flow: &'a mut Flow,
    tie_break: TieBreak,
}

impl Search<'_> {
    /// Adds paths to the flow until it has `k` or no more exist; returns how many it has.
    fn fill(&mut self, from: NodeIndex, to: NodeIndex, k: usize) -> usize {
        self.flow.reset(self.graph, self.to_egress);
        let mut found = 0;
        while found < k && self.measure(from, to) {
            self.raise_potentials(to);
            self.augment(from, to);
            found += 1;
        }
        found
    }

    /// Sets distances in the residual graph, in lengths reduced by the potentials, which are never negative.
    fn measure(&mut self, from: NodeIndex, to: NodeIndex) -> bool {
        self.flow.distances.fill(BARRED);
        self.flow.distances[from.index()] = 0;
        self.queue.restart_by(self.tie_break.factor(), from);
        while let Some((distance, node)) = self.queue.pop() {
            if node == to {
                return true;
            }
            if distance == self.flow.distances[node.index()] {
                let near = self.queue.near();
                self.relax_from(node, distance);
                let first = self.first_link_to(node, from);
                self.queue.rotate(near, |count| self.tie_break.draw(self.graph, node, first, count));
            }
        }
        false
    }

    /// The link from the ingress over which the search came to a node next to it.
    fn first_link_to(&self, node: NodeIndex, from: NodeIndex) -> Option<EdgeIndex> {
        match self.flow.steps[node.index()] {
            Some(Step::Use(edge)) if node != from && self.graph.tail(edge) == from => Some(edge),
            _ => None,
        }
    }

    fn relax_from(&mut self, node: NodeIndex, distance: i64) {
        let base = distance + self.flow.potentials[node.index()];
        let graph = self.graph;
        let arriving = if self.flow.arrivals[node.index()] > 0 { graph.in_edges(node) } else { &[] };
        for &(edge, tail) in arriving {
            if self.flow.used[edge.index()] {
                self.relax(tail, base - self.lengths.of(edge), Step::Release(edge));
            }
        }
        for edge in graph.out_edges(node) {
            let (length, head) = (self.lengths.of(edge), graph.head(edge));
            if !self.flow.used[edge.index()] && length != BARRED && self.to_egress.reaches(head) {
                self.relax(head, base + length, Step::Use(edge));
            }
        }
    }

    fn relax(&mut self, node: NodeIndex, unreduced: i64, step: Step) {
        let distance = unreduced - self.flow.potentials[node.index()];
        if distance < self.flow.distances[node.index()] {
            self.flow.distances[node.index()] = distance;
            self.flow.steps[node.index()] = Some(step);
            self.queue.push(distance, node);
        }
    }

    /// Keeps reduced lengths non-negative although the search stopped at `to`: nodes beyond it get the distance of `to`.
    fn raise_potentials(&mut self, to: NodeIndex) {
        let Flow { distances, potentials, .. } = &mut *self.flow;
        let reached = distances[to.index()];
        for (potential, distance) in potentials.iter_mut().zip(distances) {
            *potential += reached.min(*distance);
        }
    }

    fn augment(&mut self, from: NodeIndex, to: NodeIndex) {
        let mut node = to;
        while node != from {
            let Some(step) = self.flow.steps[node.index()] else { return };
            node = self.flow.apply(self.graph, step);
        }
    }
}
