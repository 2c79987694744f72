//! The k shortest loopless paths, one after another.

mod candidate;
mod spur;
mod tree;

use braid_topology::{EdgeIndex, NodeIndex};
use braid_types::DatapathId;

use crate::algorithm::{Algorithm, FoundSet, Problem, Properties};
use crate::latency_bounded::LatencyBound;
use crate::network::Network;
use crate::search::Queue;
use crate::{Path, PathSet};
use candidate::{Candidate, Candidates};
use spur::{Guide, SpurSearch};
use tree::{Deviation, Tree};

/// The `k` shortest paths that pass no switch twice: by cost, then by links, then by the ports through which they
/// leave each switch, from the ingress on. Parallel links make different paths.
///
/// # Arguments
/// * `ingress`, `egress`: the switches where all paths begin and end.
/// * `k`: the greatest number of paths.
///
/// # Returns
/// The paths in that order, fewer than `k` only if there are no more or the
/// [budget](crate::PathFinder::with_budget) is used up, which [`ByLength`] reports. When both switches are the same, the
/// one path without links. Nothing when either is unknown or no path exists.
///
/// # Complexity
/// O(k h (E + V log V)) for paths of h links, as Yen's. Most networks need almost none of these searches; one search
/// back from the egress remains, and O(k h d) for switches of d links, however many are parallel. Memory is O(V + k h),
/// as that of the result: a candidate is stored as the place where it leaves a found path.
///
/// # Source
/// J. Y. Yen, Finding the K Shortest Loopless Paths in a Network, 1971, with E. L. Lawler's partition, 1972. As in
/// D. Kurz and P. Mutzel, A Sidetrack-Based Algorithm, 2016, a candidate is first only a bound, and is searched
/// for, towards the egress, when no better one is left.
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// # use braid_paths::PathFinder;
/// # use braid_topology::{Graph, Link};
/// # use braid_types::{DatapathId, PortNo, SwitchPort};
/// let pairs = [(1, 2), (1, 2), (2, 3), (1, 4), (4, 3), (4, 2)];
/// let links = pairs.into_iter().zip(1..).map(|((a, b), port)| Link {
///     src: SwitchPort::new(DatapathId(a), PortNo(port)),
///     dst: SwitchPort::new(DatapathId(b), PortNo(port)),
/// });
/// let mut finder = PathFinder::by_hops(Arc::new(Graph::from_links(links)));
/// let paths = finder.k_shortest(DatapathId(1), DatapathId(3), 9);
/// assert_eq!(paths.iter().map(|path| path.hops()).collect::<Vec<_>>(), [2, 2, 2, 3]);
/// ```
#[derive(Debug, Default)]
pub(crate) struct KShortest {
    spurs: SpurSearch,
}

impl Algorithm for KShortest {
    const PROPERTIES: Properties =
        Properties { is_listing: true, ..Properties::new("ksp", "the k shortest paths without loops") };

    fn solve(&mut self, network: &mut Network, problem: Problem) -> PathSet {
        let mut all = self.first(network, (problem.ingress, problem.egress), problem.k);
        let paths = all.by_ref().collect();
        PathSet { paths, cut_short: all.is_cut_short(), ..PathSet::default() }
    }

    fn solve_bounded(&mut self, network: &mut Network, problem: Problem, bound: &LatencyBound) -> PathSet {
        bound.first_in_time(network, problem, false)
    }

    fn max_length_of_interest(found: &FoundSet<'_>) -> Option<i64> {
        found.lengths.last().copied().filter(|_| found.has_k())
    }
}

impl KShortest {
    /// The first `wanted` paths by length, each found when it is asked for.
    pub(crate) fn first<'a>(
        &'a mut self,
        network: &'a mut Network,
        (ingress, egress): (DatapathId, DatapathId),
        wanted: usize,
    ) -> ByLength<'a> {
        let ends = network.ends(ingress, egress);
        let Network { graph, lengths, distances, queue, budget } = network;
        if let Some((_, to)) = ends {
            distances.measure_all(graph, lengths, queue, to);
        }
        self.spurs.prepare(graph.nodes().len());
        let mut paths = ByLength {
            guide: Guide { graph, lengths, distances },
            queue,
            spurs: &mut self.spurs,
            ingress,
            ends,
            wanted,
            tree: Tree::default(),
            candidates: Candidates::default(),
            route: Vec::new(),
            taken: Vec::new(),
            last: None,
            length: 0,
            budget: *budget,
            cut_short: false,
        };
        paths.begin();
        paths
    }
}

/// The paths between two switches, shortest first; see [`PathFinder::by_length`](crate::PathFinder::by_length).
#[derive(Debug)]
pub struct ByLength<'a> {
    guide: Guide<'a>,
    queue: &'a mut Queue,
    spurs: &'a mut SpurSearch,
    ingress: DatapathId,
    ends: Option<(NodeIndex, NodeIndex)>,
    /// The number of paths still to find.
    wanted: usize,
    tree: Tree,
    candidates: Candidates,
    /// The links of the current path.
    route: Vec<EdgeIndex>,
    /// The links that must not be used at the current switch.
    taken: Vec<EdgeIndex>,
    /// The candidate whose shortest path is the route.
    last: Option<Candidate>,
    length: i64,
    /// The number of links that the search may still visit.
    budget: u64,
    cut_short: bool,
}

impl Iterator for ByLength<'_> {
    type Item = Path;

    fn next(&mut self) -> Option<Path> {
        let (from, to) = self.ends?;
        self.wanted = self.wanted.checked_sub(1)?;
        if from == to {
            self.wanted = 0;
            return Some(Path::within(self.ingress));
        }
        if let Some(last) = self.last.take() {
            self.branch(last, from);
            self.candidates.limit(self.wanted.saturating_add(1), &self.tree);
        }
        let found = self.shortest((from, to))?;
        self.length = found.length;
        self.last = Some(found);
        Some(Path::from_edges(self.guide.graph, self.ingress, &self.route))
    }
}

impl ByLength<'_> {
    /// Whether the [budget](crate::PathFinder::with_budget) was used up, so that there may be more paths than were given.
    pub const fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// The length of the path that was found last.
    pub(crate) const fn length(&self) -> i64 {
        self.length
    }

    /// Begins with one candidate that holds all paths.
    fn begin(&mut self) {
        let Some((from, _)) = self.ends else { return };
        self.spurs.clear_prefix();
        self.spurs.add_to_prefix(from);
        self.push(0, from, (0, 0), 0);
    }

    /// Adds the paths that deviate at `node`, at length `before` from the ingress, if there are any.
    fn push(&mut self, before: i64, node: NodeIndex, (branch, links): (u32, u32), sibling: u32) {
        if let Some((bound, edge)) = self.spurs.first_step(&self.guide, node, &self.taken) {
            let deviation = Deviation { branch, links, edge };
            let candidate = Candidate { length: before + bound, deviation, sibling, rest: Box::default() };
            self.candidates.push(candidate, &self.tree);
        }
    }

    /// Divides the other paths of a candidate whose shortest is the route: by the switch at which they leave it.
    fn branch(&mut self, last: Candidate, from: NodeIndex) {
        let spur = last.deviation.links as usize;
        let deviation = Deviation { edge: self.route[spur], ..last.deviation };
        let new = self.tree.add(deviation, last.sibling, &self.route[spur..]);
        self.spurs.clear_prefix();
        let (mut node, mut before) = (from, 0);
        for links in 0..self.route.len() {
            let edge = self.route[links];
            self.spurs.add_to_prefix(node);
            if links == spur {
                self.tree.taken(deviation, new, &mut self.taken);
                self.push(before, node, (deviation.branch, deviation.links), new);
            } else if links > spur {
                self.taken.clear();
                self.taken.push(edge);
                self.push(before, node, (new, links as u32), new);
            }
            before += self.guide.lengths.of(edge);
            node = self.guide.graph.head(edge);
        }
    }

    /// Takes the candidate with the shortest path, which becomes the route.
    fn shortest(&mut self, ends: (NodeIndex, NodeIndex)) -> Option<Candidate> {
        loop {
            let mut candidate = self.candidates.pop(&self.tree)?;
            if self.spurs.looked_at() > self.budget {
                self.cut_short = true;
                self.ends = None;
                return None;
            }
            self.tree.trace(candidate.deviation, &mut self.route);
            if candidate.is_found() {
                self.route.extend_from_slice(&candidate.rest);
                return Some(candidate);
            }
            let Some(length) = self.find(&candidate, ends) else { continue };
            let rest = &self.route[candidate.deviation.links as usize..];
            // If it is no worse than the bound, no other is better.
            if (length, rest.first()) == (candidate.length, Some(&candidate.deviation.edge)) {
                return Some(candidate);
            }
            candidate.length = length;
            candidate.deviation.edge = rest[0];
            candidate.rest = rest.into();
            self.candidates.push(candidate, &self.tree);
        }
    }

    /// Completes the route with the shortest rest of a candidate, if it has one, and measures it.
    fn find(&mut self, candidate: &Candidate, (from, to): (NodeIndex, NodeIndex)) -> Option<i64> {
        let Self { guide, queue, spurs, route, taken, .. } = self;
        spurs.clear_prefix();
        spurs.add_to_prefix(from);
        route.iter().for_each(|edge| spurs.add_to_prefix(guide.graph.head(*edge)));
        let spur = route.last().map_or(from, |edge| guide.graph.head(*edge));
        if spurs.follow_tree(guide, candidate.deviation.edge, to, route) {
            return Some(candidate.length);
        }
        self.tree.taken(candidate.deviation, candidate.sibling, taken);
        spurs.search(guide, queue, (spur, to), taken, route).then(|| guide.lengths.total(route))
    }
}
