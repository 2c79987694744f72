//! All paths of at most so many links, within a budget of work.

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::DatapathId;
use serde::Serialize;

use super::KShortest;
use crate::algorithm::{Algorithm, Problem, Properties};
use crate::latency_bounded::LatencyBound;
use crate::network::{Lengths, Network};
use crate::search::refill;
use crate::{Path, PathSet};

/// More hops than any path has.
const FAR: u32 = u32::MAX;
/// The number of visits to links, in multiples of all links, that each found path allows.
const MAX_SCANS_PER_PATH: u64 = 4;
/// The number of paths whose visits are allowed in advance.
const FREE_PATHS: u64 = 16;

/// The paths of a limited number of links.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WithinHops {
    /// The paths, those of the fewest links first.
    pub paths: Vec<Path>,
    /// Whether there are more of them than requested.
    pub cut_off: bool,
    /// Whether the [budget](crate::PathFinder::with_budget) was used up before all requested paths were found.
    pub cut_short: bool,
}

/// All paths of `max_hops` links or less, those of the fewest links first; of those, by the ports from the ingress
/// on. Costs do not matter, but barred links are not used.
///
/// # Arguments
/// * `ingress`, `egress`: the switches where all paths begin and end.
/// * `max_hops`: the greatest number of links of a path. Paths visit no switch twice, so more than V − 1 change nothing.
/// * `limit`: the greatest number of paths. The number of paths can grow exponentially with `max_hops`.
///
/// # Returns
/// The paths, and whether there are more beyond the limit. When both switches are the same, the one path without links.
/// None when a switch is unknown or no path is short enough.
///
/// # Complexity
/// Usually O(h d) for each path of h links past switches of d links, and O(V) memory beside the result. If dead ends
/// make the search visit more than O(V + E) links a path, it yields to [`KShortest`] with equal link costs: at most
/// O(h (E + V log V)) for each path, and as much memory as the result.
///
/// # Source
/// Depth-first search, as in S. Zannettou, M. Sirivianos, F. Papadopoulos, Exploiting Path Diversity in Datacenters
/// Using MPTCP-Aware SDN, 2016, which sorts all paths afterwards; here lengths are tried one after another (R. E.
/// Korf, Depth-First Iterative-Deepening, 1985). Switches at dead ends carry a barrier: Y. Peng et al., Towards Bridging
/// Theory and Practice: Hop-Constrained s-t Simple Path Enumeration, 2019. Barriers bound the work for one length. But
/// where a large part of the network leads nowhere, most lengths may have no path. Then J. Y. Yen's search is faster,
/// which never enters the same dead end twice from one deviation.
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// # use braid_paths::PathFinder;
/// # use braid_topology::{Graph, Link};
/// # use braid_types::{DatapathId, PortNo, SwitchPort};
/// let pairs = [(1, 2), (2, 4), (1, 3), (3, 4), (2, 3), (1, 4)];
/// let links = pairs.into_iter().zip(1..).map(|((a, b), port)| Link {
///     src: SwitchPort::new(DatapathId(a), PortNo(port)),
///     dst: SwitchPort::new(DatapathId(b), PortNo(port)),
/// });
/// let mut finder = PathFinder::by_hops(Arc::new(Graph::from_links(links)));
/// let [from, to] = [1, 4].map(DatapathId);
/// let short = finder.within_hops(from, to, 2, 9);
/// assert_eq!(short.paths.iter().map(|path| path.hops()).collect::<Vec<_>>(), [1, 2, 2]);
/// assert!(!short.cut_off);
/// assert!(finder.within_hops(from, to, 3, 3).cut_off);
/// ```
#[derive(Debug, Default)]
pub(crate) struct DepthFirst {
    barriers: Barriers,
    /// The search that takes over when this one meets too many dead ends.
    by_length: KShortest,
}

impl Algorithm for DepthFirst {
    const PROPERTIES: Properties = Properties {
        parameter: Some("HOPS"),
        is_listing: true,
        ..Properties::new("within", "up to k paths of at most this many links, such as within:4")
    };

    fn solve(&mut self, network: &mut Network, problem: Problem) -> PathSet {
        let ends = (problem.ingress, problem.egress);
        let found = self.paths(network, ends, problem.parameter as usize, problem.k);
        PathSet { paths: found.paths, cut_short: found.cut_short, ..PathSet::default() }
    }

    fn solve_bounded(&mut self, network: &mut Network, problem: Problem, bound: &LatencyBound) -> PathSet {
        let Problem { ingress, egress, k, parameter } = problem;
        let found = self.paths(network, (ingress, egress), parameter as usize, bound.candidates(k));
        let ended_early = found.cut_off || found.cut_short;
        let mut paths = bound.drop_late(found.paths.into()).paths;
        let cut_short = paths.len() < k && ended_early;
        if paths.is_empty() {
            paths.extend(bound.fastest_within(network, problem, parameter.into()));
        }
        paths.truncate(k);
        PathSet { paths, cut_short, ..PathSet::default() }
    }
}

impl DepthFirst {
    pub(crate) fn paths(
        &mut self,
        network: &Network,
        (ingress, egress): (DatapathId, DatapathId),
        max_hops: usize,
        limit: usize,
    ) -> WithinHops {
        let Some((from, to)) = network.ends(ingress, egress) else { return WithinHops::default() };
        if from == to {
            return WithinHops {
                paths: vec![Path::within(ingress); limit.min(1)],
                cut_off: limit == 0,
                cut_short: false,
            };
        }
        let longest = network.graph.nodes().len() - 1;
        let max_hops = max_hops.min(longest);
        let found = self.search(network, (from, to), max_hops as u32, limit);
        found.unwrap_or_else(|| self.by_hops(network, (ingress, egress), max_hops, limit))
    }

    /// `None` if the search meets too many dead ends.
    fn search(
        &mut self,
        network: &Network,
        (from, to): (NodeIndex, NodeIndex),
        max_hops: u32,
        limit: usize,
    ) -> Option<WithinHops> {
        let Network { graph, lengths, budget, .. } = network;
        let mut search = Search {
            graph,
            lengths,
            barriers: &mut self.barriers,
            from,
            to,
            bound: 0,
            longer: FAR,
            limit,
            looked_at: 0,
            allowance: FREE_PATHS * MAX_SCANS_PER_PATH * size(graph),
            budget: *budget,
            found: WithinHops::default(),
        };
        search.run(max_hops);
        (!search.is_in_vain()).then_some(search.found)
    }

    fn by_hops(
        &mut self,
        network: &Network,
        ends: (DatapathId, DatapathId),
        max_hops: usize,
        limit: usize,
    ) -> WithinHops {
        let mut by_hops = network.with_costs(|_| 1);
        let mut all = self.by_length.first(&mut by_hops, ends, limit.saturating_add(1));
        let mut short = all.by_ref().take_while(|path| path.hops() <= max_hops);
        let paths = short.by_ref().take(limit).collect();
        let cut_off = short.next().is_some();
        WithinHops { paths, cut_off, cut_short: all.is_cut_short() }
    }
}

/// The state of the depth-first search.
#[derive(Debug, Default)]
struct Barriers {
    // By node: the least number of hops to the egress, past switches that are not on the route. Invariant: along a link
    // between two such switches it falls by one at most.
    barriers: Vec<u32>,
    on_route: Vec<bool>,
    route: Vec<Stop>,
    // The links between the stops.
    edges: Vec<EdgeIndex>,
    spreading: Vec<NodeIndex>,
}

/// A switch on the route.
#[derive(Debug, Clone, Copy)]
struct Stop {
    node: NodeIndex,
    /// How many of its links have been tried.
    tried: u32,
    /// Whether any of them led to the egress.
    led_on: bool,
}

struct Search<'a> {
    graph: &'a Graph,
    lengths: &'a Lengths,
    barriers: &'a mut Barriers,
    from: NodeIndex,
    to: NodeIndex,
    /// The number of links of the paths being collected.
    bound: u32,
    /// A lower bound of the number of links of the next longer paths.
    longer: u32,
    limit: usize,
    /// The number of links visited.
    looked_at: u64,
    /// The number of visits after which the search gives up.
    allowance: u64,
    budget: u64,
    found: WithinHops,
}

impl Search<'_> {
    fn run(&mut self, max_hops: u32) {
        self.measure_hops();
        self.longer = self.barriers.barriers[self.from.index()];
        while self.longer <= max_hops && !self.is_over() {
            self.bound = std::mem::replace(&mut self.longer, FAR);
            self.collect();
        }
        self.found.cut_short = !self.found.cut_off && self.looked_at > self.budget;
    }

    fn is_over(&self) -> bool {
        self.found.cut_off || self.looked_at > self.budget || self.is_in_vain()
    }

    /// Whether another search is faster.
    const fn is_in_vain(&self) -> bool {
        self.looked_at > self.allowance
    }

    fn measure_hops(&mut self) {
        let nodes = self.graph.nodes().len();
        refill(&mut self.barriers.barriers, nodes, FAR);
        refill(&mut self.barriers.on_route, nodes, false);
        self.barriers.route.clear();
        self.barriers.edges.clear();
        self.barriers.barriers[self.to.index()] = 0;
        self.spread(self.to);
    }

    /// Finds the paths of `bound` links, in order, up to the limit. Shorter ones are passed again.
    fn collect(&mut self) {
        self.stop_at(self.from);
        while !self.barriers.route.is_empty() && !self.is_over() {
            match self.next_edge() {
                Some(edge) => {
                    self.barriers.edges.push(edge);
                    self.follow(self.graph.head(edge));
                }
                None => self.turn_back(),
            }
        }
    }

    /// The next link of the last stop from which the egress may be close enough.
    fn next_edge(&mut self) -> Option<EdgeIndex> {
        let Barriers { barriers, on_route, route, edges, .. } = &mut *self.barriers;
        let hops = edges.len() as u32 + 1;
        let stop = route.last_mut()?;
        for edge in self.graph.out_edges(stop.node).skip(stop.tried as usize) {
            stop.tried += 1;
            let head = self.graph.head(edge).index();
            if self.lengths.is_barred(edge) || on_route[head] {
                continue;
            }
            let least = hops.saturating_add(barriers[head]);
            if least <= self.bound {
                return Some(edge);
            }
            self.longer = self.longer.min(least);
        }
        None
    }

    fn follow(&mut self, node: NodeIndex) {
        if node != self.to {
            self.stop_at(node);
            return;
        }
        if self.barriers.edges.len() as u32 == self.bound {
            self.keep();
        }
        self.barriers.edges.pop();
        self.mark_led_on();
    }

    fn keep(&mut self) {
        self.found.cut_off = self.found.paths.len() == self.limit;
        if !self.found.cut_off {
            let ingress = self.graph.dpid(self.from);
            self.found.paths.push(Path::from_edges(self.graph, ingress, &self.barriers.edges));
            self.allowance += MAX_SCANS_PER_PATH * size(self.graph);
        }
    }

    fn stop_at(&mut self, node: NodeIndex) {
        self.looked_at += self.graph.out_edges(node).len() as u64;
        self.barriers.on_route[node.index()] = true;
        self.barriers.route.push(Stop { node, tried: 0, led_on: false });
    }

    fn mark_led_on(&mut self) {
        if let Some(stop) = self.barriers.route.last_mut() {
            stop.led_on = true;
        }
    }

    fn turn_back(&mut self) {
        let Some(stop) = self.barriers.route.pop() else { return };
        let hops = self.barriers.edges.len() as u32;
        self.barriers.edges.pop();
        self.barriers.on_route[stop.node.index()] = false;
        if stop.led_on {
            self.lower(stop.node);
            self.mark_led_on();
        } else {
            self.barriers.barriers[stop.node.index()] = self.bound - hops + 1;
        }
    }

    /// Sets the barrier of a switch that has left the route; those behind it may have lost theirs while it was there.
    fn lower(&mut self, node: NodeIndex) {
        let Barriers { barriers, on_route, .. } = &mut *self.barriers;
        self.looked_at += self.graph.out_edges(node).len() as u64;
        let usable = |edge: &EdgeIndex| !self.lengths.is_barred(*edge);
        let heads = self.graph.out_edges(node).filter(usable).map(|edge| self.graph.head(edge).index());
        let least = heads.filter(|head| !on_route[*head]).map(|head| barriers[head]).min();
        barriers[node.index()] = least.unwrap_or(FAR).saturating_add(1);
        self.spread(node);
    }

    /// Lowers the barriers of all switches from which the path over `node` is shorter.
    fn spread(&mut self, node: NodeIndex) {
        let Barriers { barriers, on_route, spreading, .. } = &mut *self.barriers;
        spreading.clear();
        spreading.push(node);
        let mut next = 0;
        while let Some(node) = spreading.get(next).copied() {
            self.looked_at += self.graph.in_edges(node).len() as u64;
            let barrier = barriers[node.index()].saturating_add(1);
            for (edge, tail) in self.graph.in_edges(node) {
                let known = &mut barriers[tail.index()];
                if *known > barrier && !on_route[tail.index()] && !self.lengths.is_barred(*edge) {
                    *known = barrier;
                    spreading.push(*tail);
                }
            }
            next += 1;
        }
    }
}

fn size(graph: &Graph) -> u64 {
    (graph.nodes().len() + graph.edges().len()) as u64
}
