//! Node-disjoint paths of least total cost, on a graph whose switches are split in two. Suurballe (1974).

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::DatapathId;

use crate::algorithm::{Algorithm, FoundSet, Problem, Properties};
use crate::network::{BARRED, Lengths, Network};
use crate::search::{Queue, TieBreak, refill, take_path};
use crate::{Path, PathSet};

/// Up to `k` paths of which no two meet in a switch, other than at the ends, of least total cost; of those, of
/// fewest links in total.
///
/// They share no link either. Parallel links that join both ends directly are paths of their own. As with
/// [`EdgeDisjoint`](super::edge_disjoint::EdgeDisjoint), paths are found together, since taking the shortest first can
/// leave no second one.
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
/// J. W. Suurballe, Disjoint Paths in a Network, 1974: minimum-cost flow by successive shortest paths, past switches
/// that are split into an entry and an exit, joined by a link that carries one path.
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// # use braid_paths::PathFinder;
/// # use braid_topology::{Graph, Link};
/// # use braid_types::{DatapathId, PortNo, SwitchPort};
/// // 1-2-3-6 and 1-4-3-5-6 share no link, but switch 3; 1-7-8-9-6 meets neither.
/// let pairs = [(1, 2), (2, 3), (3, 6), (1, 4), (4, 3), (3, 5), (5, 6), (1, 7), (7, 8), (8, 9), (9, 6)];
/// let links = pairs.into_iter().zip(1..).map(|((a, b), port)| Link {
///     src: SwitchPort::new(DatapathId(a), PortNo(port)),
///     dst: SwitchPort::new(DatapathId(b), PortNo(port)),
/// });
/// let mut finder = PathFinder::by_hops(Arc::new(Graph::from_links(links)));
/// let [from, to] = [1, 6].map(DatapathId);
/// let hops = |paths: Vec<braid_paths::Path>| paths.iter().map(|path| path.hops()).collect::<Vec<_>>();
/// assert_eq!(hops(finder.edge_disjoint(from, to, 9)), [3, 4, 4]);
/// assert_eq!(hops(finder.node_disjoint(from, to, 9)), [3, 4]);
/// ```
#[derive(Debug, Default)]
pub(crate) struct NodeDisjoint {
    split: Split,
}

impl Algorithm for NodeDisjoint {
    const PROPERTIES: Properties =
        Properties::new("node-disjoint", "up to k paths without a common switch, of minimum total cost");

    fn solve(&mut self, network: &mut Network, problem: Problem) -> PathSet {
        self.paths(network, (problem.ingress, problem.egress), problem.k).into()
    }

    fn max_length_of_interest(found: &FoundSet<'_>) -> Option<i64> {
        found.total_if_full()
    }
}

impl NodeDisjoint {
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
        let reached = distances.of(from);
        if reached == BARRED {
            return Vec::new();
        }
        let split = &mut self.split;
        split.reset(graph, distances.as_slice(), reached);
        let tie_break = TieBreak::between(graph, from, to);
        let mut search = Search { graph, lengths, queue, split, from, to, tie_break };
        let found = (0..k).take_while(|_| search.add_path()).count();
        // They form no cycle, as no switch carries two paths.
        let mut routes: Vec<_> = (0..found).map(|_| take_path(graph, &mut split.used, from, to)).collect();
        let rank =
            |route: &[EdgeIndex]| route.first().map(|first| tie_break.rank(graph.link(*first).src.port));
        routes.sort_by_cached_key(|route| (lengths.total(route), rank(route)));
        routes.iter().map(|route| Path::from_edges(graph, ingress, route)).collect()
    }
}

/// A flow past switches that are split into an entry and an exit, and the state of the search for the next path.
#[derive(Debug, Default)]
struct Split {
    // By edge: a path uses it.
    used: Vec<bool>,
    // By node: the used edge that arrives there.
    arrivals: Vec<Option<EdgeIndex>>,
    entries: Vec<Side>,
    exits: Vec<Side>,
}

/// The entry or the exit of a switch.
#[derive(Debug, Clone, Copy)]
struct Side {
    /// From the ingress, in lengths reduced by the potentials, which are never negative.
    distance: i64,
    /// The distance from the ingress in the residual graph of the round before, less a constant.
    potential: i64,
    /// The last one of the shortest augmenting path.
    step: Step,
}

/// One step of an augmenting path.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Along a free link, from an exit to an entry.
    Use(EdgeIndex),
    /// Back over a link that an earlier path uses and now gives up, from an entry to an exit.
    Release(EdgeIndex),
    /// Past a free switch from its entry to its exit, or back past one that an earlier path gives up.
    Within,
}

impl Split {
    /// Sets the first potentials: the distances to the egress, up to `reached`, so that the search heads for it.
    fn reset(&mut self, graph: &Graph, to_egress: &[i64], reached: i64) {
        let side = |left: &i64| Side { distance: BARRED, potential: -reached.min(*left), step: Step::Within };
        refill(&mut self.used, graph.edges().len(), false);
        refill(&mut self.arrivals, graph.nodes().len(), None);
        self.entries.clear();
        self.entries.extend(to_egress.iter().map(side));
        self.exits.clone_from(&self.entries);
    }
}

impl Side {
    /// Keeps `step` if it gives the shortest path so far; returns whether it does.
    fn improve(&mut self, unreduced: i64, step: Step) -> bool {
        let distance = unreduced - self.potential;
        let better = distance < self.distance;
        if better {
            (self.distance, self.step) = (distance, step);
        }
        better
    }
}

struct Search<'a> {
    graph: &'a Graph,
    lengths: &'a Lengths,
    queue: &'a mut Queue,
    split: &'a mut Split,
    from: NodeIndex,
    to: NodeIndex,
    tie_break: TieBreak,
}

impl Search<'_> {
    /// Makes the flow one path more, of the least total length; false when no more exist.
    fn add_path(&mut self) -> bool {
        let found = self.measure();
        if found {
            self.raise_potentials();
            self.augment();
        }
        found
    }

    /// Sets distances. Only exits are queued, and the entry of the egress: from all other entries one step leads on.
    fn measure(&mut self) -> bool {
        for side in self.split.entries.iter_mut().chain(&mut self.split.exits) {
            side.distance = BARRED;
        }
        self.split.exits[self.from.index()].distance = 0;
        self.queue.restart_by(self.tie_break.factor(), self.from);
        while let Some((distance, node)) = self.queue.pop() {
            if distance >= self.split.entries[self.to.index()].distance {
                return true;
            }
            if distance == self.split.exits[node.index()].distance {
                let near = self.queue.near();
                self.relax_from(node);
                let first = self.first_link_to(node);
                self.queue.rotate(near, |count| self.tie_break.draw(self.graph, node, first, count));
            }
        }
        false
    }

    /// The link from the ingress over which the search came to a switch next to it.
    fn first_link_to(&self, node: NodeIndex) -> Option<EdgeIndex> {
        match self.split.entries[node.index()].step {
            Step::Use(edge) if node != self.from && self.graph.tail(edge) == self.from => Some(edge),
            _ => None,
        }
    }

    fn relax_from(&mut self, node: NodeIndex) {
        let exit = self.split.exits[node.index()];
        let unreduced = exit.distance + exit.potential;
        for edge in self.graph.out_edges(node) {
            let length = self.lengths.of(edge);
            let head = self.graph.head(edge);
            if !self.split.used[edge.index()] && length != BARRED && head != self.from {
                self.enter(head, unreduced + length, Step::Use(edge));
            }
        }
        if self.split.arrivals[node.index()].is_some() {
            self.enter(node, unreduced, Step::Within);
        }
    }

    fn enter(&mut self, node: NodeIndex, unreduced: i64, step: Step) {
        let entry = &mut self.split.entries[node.index()];
        if !entry.improve(unreduced, step) {
            return;
        }
        if node == self.to {
            self.queue.push(entry.distance, node);
            return;
        }
        match self.split.arrivals[node.index()] {
            None => self.leave(node, unreduced, Step::Within),
            Some(edge) => {
                let length = self.lengths.of(edge);
                self.leave(self.graph.tail(edge), unreduced - length, Step::Release(edge));
            }
        }
    }

    fn leave(&mut self, node: NodeIndex, unreduced: i64, step: Step) {
        let exit = &mut self.split.exits[node.index()];
        if exit.improve(unreduced, step) {
            self.queue.push(exit.distance, node);
        }
    }

    /// Keeps reduced lengths non-negative although the search stopped at the egress: nodes beyond it get its distance.
    fn raise_potentials(&mut self) {
        let reached = self.split.entries[self.to.index()].distance;
        for side in self.split.entries.iter_mut().chain(&mut self.split.exits) {
            side.potential += reached.min(side.distance);
        }
    }

    /// Follows the augmenting path back from the egress, from an entry to an exit to an entry.
    fn augment(&mut self) {
        let Split { used, arrivals, entries, exits } = &mut *self.split;
        let mut node = self.to;
        loop {
            if let Step::Use(edge) = entries[node.index()].step {
                used[edge.index()] = true;
                arrivals[node.index()] = Some(edge);
                node = self.graph.tail(edge);
            }
            if node == self.from {
                return;
            }
            if let Step::Release(edge) = exits[node.index()].step {
                node = self.graph.head(edge);
                used[edge.index()] = false;
                arrivals[node.index()] = None;
            }
        }
    }
}
