//! Maximum flow between two switches by Dinic's algorithm, and the widest paths that it consists of.

mod decompose;

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::{BitsPerSec, DatapathId};
use serde::Serialize;

use crate::algorithm::{Algorithm, Problem, Properties};
use crate::latency_bounded::LatencyBound;
use crate::network::Network;
use crate::search::refill;
use crate::{Flow, Path, PathSet};
use decompose::Decomposition;

/// The level of a node from which the egress is not known to be reached.
const FAR: u32 = u32::MAX;

/// The maximum rate between two switches, and paths that carry it together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MaxFlow {
    /// The maximum flow.
    pub rate: BitsPerSec,
    /// Paths with the rate of each, widest first.
    pub paths: Vec<(Path, BitsPerSec)>,
}

impl MaxFlow {
    /// The total rate of the paths: the maximum flow, unless it needs more paths than requested.
    pub fn carried(&self) -> BitsPerSec {
        BitsPerSec(self.paths.iter().map(|(_, rate)| rate.0).sum())
    }
}

/// The maximum flow between two switches, and the `k` widest of the paths that it is made of.
///
/// All paths are used at the same time: together they exceed no link's rate, no path visits a switch twice, and
/// no link is used in both directions. Costs do not matter, but barred links are not used.
///
/// # Arguments
/// * `ingress`, `egress`: the switches where all paths begin and end.
/// * `k`: the greatest number of paths. Without a limit there are at most as many as links.
/// * `rate`: the capacity that each link offers, such as its available bandwidth. Called once for each link.
///
/// # Returns
/// The flow, and paths by falling rate, then by hops, then by the ports from the ingress on. Sums saturate at
/// `u64::MAX` bits per second. When both switches are the same, the one path without links, at an unlimited rate. No flow
/// when a switch is unknown or no path exists.
///
/// # Complexity
/// O(V² E); where all rates are the same, O(√E E). Then O(k F) for the paths, F links having flow.
///
/// # Source
/// E. A. Dinic, Algorithm for Solution of a Problem of Maximum Flow in Networks with Power Estimation, 1970. Paths
/// are taken out of the flow greedily by width: T. Hartman, A. Hassidim, H. Kaplan, D. Raz, M. Segalov, How to
/// Split a Flow?, 2012.
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// # use braid_paths::PathFinder;
/// # use braid_topology::{Graph, Link, LinkState};
/// # use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPort};
/// let link = |src, port, dst, mbits: u64| {
///     let [src, dst] = [src, dst].map(|dpid| SwitchPort::new(DatapathId(dpid), PortNo(port)));
///     (Link { src, dst }, LinkState::of_capacity(BitsPerSec(mbits * 1_000_000)))
/// };
/// let links = [link(1, 1, 4, 10), link(1, 2, 2, 30), link(2, 3, 4, 20), link(2, 4, 3, 5), link(3, 5, 4, 50)];
/// let graph = Arc::new(Graph::new(0, [], links));
/// let available = |edge| graph.state(edge).available();
///
/// let mut finder = PathFinder::by_hops(graph.clone());
/// let flow = finder.max_flow(DatapathId(1), DatapathId(4), usize::MAX, available);
/// assert_eq!(flow.rate, BitsPerSec(35_000_000));
/// let rates: Vec<_> = flow.paths.iter().map(|(path, rate)| (path.hops(), rate.to_string())).collect();
/// assert_eq!(rates, [(2, "20Mbit".into()), (1, "10Mbit".into()), (3, "5Mbit".into())]);
/// ```
#[derive(Debug, Default)]
pub(crate) struct Dinic {
    residual: Residual,
    decomposition: Decomposition,
}

impl Algorithm for Dinic {
    const PROPERTIES: Properties =
        Properties { by_capacity: true, ..Properties::new("maxflow", "up to k paths of a maximum flow") };

    fn solve(&mut self, network: &mut Network, problem: Problem) -> PathSet {
        let available = |edge| network.available(edge);
        let found = self.flow(network, (problem.ingress, problem.egress), problem.k, available);
        let (paths, rates) = found.paths.into_iter().unzip();
        let flow = Flow { greatest: found.rate, rates, late: false };
        PathSet { paths, flow: Some(flow), cut_short: false }
    }

    /// The paths in time of the greatest flow.
    fn solve_bounded(&mut self, network: &mut Network, problem: Problem, bound: &LatencyBound) -> PathSet {
        let candidates = Problem { k: bound.candidates(problem.k), ..problem };
        let PathSet { mut paths, flow, .. } = bound.drop_late(self.solve(network, candidates));
        let mut flow = flow.unwrap_or_default();
        if paths.is_empty() {
            let open = network.restricted(|edge| network.available(edge).0 > 0);
            paths.extend(bound.fastest(&open, problem));
            flow.rates = paths.iter().filter_map(|path| narrowest(network, path)).collect();
        }
        paths.truncate(problem.k);
        flow.rates.truncate(problem.k);
        PathSet { paths, flow: Some(flow), cut_short: false }
    }
}

fn narrowest(network: &Network, path: &Path) -> Option<BitsPerSec> {
    path.edges(&network.graph).flatten().map(|edge| network.available(edge)).min()
}

impl Dinic {
    pub(crate) fn flow(
        &mut self,
        network: &Network,
        (ingress, egress): (DatapathId, DatapathId),
        k: usize,
        rate: impl Fn(EdgeIndex) -> BitsPerSec,
    ) -> MaxFlow {
        let Some((from, to)) = network.ends(ingress, egress) else { return MaxFlow::default() };
        if from == to {
            let rate = BitsPerSec(u64::MAX);
            return MaxFlow { rate, paths: vec![(Path::within(ingress), rate); k.min(1)] };
        }
        let Network { graph, lengths, .. } = network;
        let Self { residual, decomposition } = self;
        let barred = |edge| lengths.is_barred(edge);
        residual.reset(graph, |edge| if barred(edge) { 0 } else { rate(edge).0 });
        let total = Search { graph, from, to, residual }.run();
        let paths = decomposition.paths(graph, &mut residual.flow, from, to).take(k);
        let paths = paths.map(|(edges, rate)| (Path::from_edges(graph, ingress, &edges), BitsPerSec(rate)));
        MaxFlow { rate: BitsPerSec(total), paths: paths.collect() }
    }
}

/// The residual graph, and the state of its search.
#[derive(Debug, Default)]
struct Residual {
    // By edge: its spare rate, and the rate it carries. Both directions of a link may carry some.
    spare: Vec<u64>,
    flow: Vec<u64>,
    // By node: the number of steps to the egress.
    levels: Vec<u32>,
    // By node: how many of its out-edges, and then of its in-edges, cannot be the next step.
    cursors: Vec<u32>,
    // By node: whether an augmenting path passed it, so that there may be flow to take back.
    passed: Vec<bool>,
    nearest: Vec<NodeIndex>,
    route: Vec<Step>,
}

/// One step of an augmenting path.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Along a link with spare rate.
    Add(EdgeIndex),
    /// Against a link, which then carries less.
    TakeBack(EdgeIndex),
}

impl Step {
    fn begin(self, graph: &Graph) -> NodeIndex {
        match self {
            Self::Add(edge) => graph.tail(edge),
            Self::TakeBack(edge) => graph.head(edge),
        }
    }

    fn end(self, graph: &Graph) -> NodeIndex {
        match self {
            Self::Add(edge) => graph.head(edge),
            Self::TakeBack(edge) => graph.tail(edge),
        }
    }
}

impl Residual {
    fn reset(&mut self, graph: &Graph, rate: impl Fn(EdgeIndex) -> u64) {
        let (nodes, edges) = (graph.nodes().len(), graph.edges().len());
        self.spare.clear();
        self.spare.extend(graph.edges().map(rate));
        refill(&mut self.flow, edges, 0);
        refill(&mut self.passed, nodes, false);
    }

    fn room(&self, step: Step) -> u64 {
        match step {
            Step::Add(edge) => self.spare[edge.index()],
            Step::TakeBack(edge) => self.flow[edge.index()],
        }
    }

    /// Moves `amount`, which must fit.
    fn push(&mut self, step: Step, amount: u64) {
        match step {
            Step::Add(edge) => {
                self.spare[edge.index()] -= amount;
                self.flow[edge.index()] += amount;
            }
            Step::TakeBack(edge) => {
                self.spare[edge.index()] += amount;
                self.flow[edge.index()] -= amount;
            }
        }
    }
}

struct Search<'a> {
    graph: &'a Graph,
    from: NodeIndex,
    to: NodeIndex,
    residual: &'a mut Residual,
}

impl Search<'_> {
    /// Returns the maximum flow, saturated at `u64::MAX`.
    fn run(&mut self) -> u64 {
        // The links at either end are often the minimum cut. Then no search has to prove that the flow is maximal.
        let bound = self.spare_at_ends();
        let mut total = 0;
        while total < bound && self.measure_levels() {
            total += self.block(bound - total);
        }
        total
    }

    fn spare_at_ends(&self) -> u64 {
        let sum = |sum: u64, edge: EdgeIndex| sum.saturating_add(self.residual.spare[edge.index()]);
        let out = self.graph.out_edges(self.from).fold(0, sum);
        let into = self.graph.in_edges(self.to).iter().map(|(edge, _)| *edge).fold(0, sum);
        out.min(into)
    }

    /// Sets the levels of all nodes that are nearer to the egress than the ingress; `false` if the ingress is not
    /// reached.
    fn measure_levels(&mut self) -> bool {
        let Residual { spare, flow, levels, passed, nearest, .. } = &mut *self.residual;
        refill(levels, self.graph.nodes().len(), FAR);
        levels[self.to.index()] = 0;
        nearest.clear();
        nearest.push(self.to);
        let mut next = 0;
        while let Some(node) = nearest.get(next).copied() {
            let level = levels[node.index()] + 1;
            let mut reach = |before: NodeIndex, room: u64| {
                if levels[before.index()] == FAR && room > 0 {
                    levels[before.index()] = level;
                    nearest.push(before);
                }
            };
            for (edge, tail) in self.graph.in_edges(node) {
                reach(*tail, spare[edge.index()]);
            }
            if passed[node.index()] {
                for edge in self.graph.out_edges(node) {
                    reach(self.graph.head(edge), flow[edge.index()]);
                }
            }
            if levels[self.from.index()] != FAR {
                return true;
            }
            next += 1;
        }
        false
    }

    /// Adds flow until no path leads downwards through the levels or `wanted` is reached; returns how much.
    fn block(&mut self, wanted: u64) -> u64 {
        refill(&mut self.residual.cursors, self.graph.nodes().len(), 0);
        self.residual.route.clear();
        let mut added = 0;
        let mut node = self.from;
        while added < wanted {
            if node == self.to {
                added += self.augment(wanted - added);
                node = self.residual.route.last().map_or(self.from, |step| step.end(self.graph));
            } else if let Some(step) = self.next_step(node) {
                self.residual.route.push(step);
                node = step.end(self.graph);
            } else if let Some(step) = self.residual.route.pop() {
                self.residual.levels[node.index()] = FAR;
                node = step.begin(self.graph);
            } else {
                break;
            }
        }
        added
    }

    /// Pushes as much as fits along the route, and cuts the route before the first step that has no more room.
    fn augment(&mut self, wanted: u64) -> u64 {
        let Self { graph, residual, .. } = self;
        let route = std::mem::take(&mut residual.route);
        let amount = route.iter().fold(wanted, |room, step| room.min(residual.room(*step)));
        for step in &route {
            residual.push(*step, amount);
            residual.passed[step.begin(graph).index()] = true;
        }
        let open = route.iter().take_while(|step| residual.room(**step) > 0).count();
        residual.route = route;
        residual.route.truncate(open);
        amount
    }

    fn next_step(&mut self, node: NodeIndex) -> Option<Step> {
        let Residual { spare, flow, levels, cursors, .. } = &mut *self.residual;
        let below = levels[node.index()].checked_sub(1)?;
        let cursor = &mut cursors[node.index()];
        let out_edges = self.graph.out_edges(node);
        let outs = out_edges.len() as u32;
        let mut forth = (0..outs).zip(out_edges).skip(*cursor as usize);
        let leads =
            |edge: EdgeIndex| levels[self.graph.head(edge).index()] == below && spare[edge.index()] > 0;
        if let Some((at, edge)) = forth.find(|(_, edge)| leads(*edge)) {
            *cursor = at;
            return Some(Step::Add(edge));
        }
        let back = (outs..).zip(self.graph.in_edges(node)).skip(cursor.saturating_sub(outs) as usize);
        let leads =
            |edge: EdgeIndex, tail: NodeIndex| levels[tail.index()] == below && flow[edge.index()] > 0;
        let (at, (edge, _)) = back.into_iter().find(|(_, (edge, tail))| leads(*edge, *tail))?;
        *cursor = at;
        Some(Step::TakeBack(*edge))
    }
}
