mod candidate;
mod detour;

use braid_topology::NodeIndex;
use braid_types::DatapathId;

use crate::{Path, PathFinder};
use candidate::{Candidate, Candidates, Route};

use detour::Network;

pub(crate) use detour::Detours;

impl PathFinder {
    /// The `k` shortest paths that pass no switch twice: by cost, then by links, then by the ports through which they
    /// leave each switch, from the ingress on. Parallel links make different paths.
    ///
    /// # Arguments
    /// * `ingress`, `egress`: the switches where all paths begin and end.
    /// * `k`: how many paths are wanted.
    ///
    /// # Returns
    /// The paths in that order, fewer than `k` only if there are no more. When both switches are the same, the one
    /// path without links. Nothing when either is unknown or no path exists.
    ///
    /// # Complexity
    /// O(k h (E + V log V)) for paths of h links, as Yen's; in most networks nearly all searches are spared, and what
    /// remains is one search back from the egress and O(k h d) for switches of d links, however many are parallel.
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
    pub fn k_shortest(&mut self, ingress: DatapathId, egress: DatapathId, k: usize) -> Vec<Path> {
        self.by_length(ingress, egress).take(k).collect()
    }

    /// All paths that pass no switch twice, in the order of [`k_shortest`](Self::k_shortest), each found when it is
    /// asked for.
    pub fn by_length(&mut self, ingress: DatapathId, egress: DatapathId) -> ByLength<'_> {
        let ends = self.ends(ingress, egress);
        let mut candidates = Candidates::default();
        if let Some((from, to)) = ends {
            self.distances.measure_all(&self.graph, &self.lengths, &mut self.queue, to);
            if let Some(all) = Candidate::all_paths(self.distances.of(from)) {
                candidates.push(all);
            }
        }
        ByLength { finder: self, ingress, ends, candidates, last: None }
    }
}

/// The paths between two switches, shortest first; see [`PathFinder::by_length`].
#[derive(Debug)]
pub struct ByLength<'a> {
    finder: &'a mut PathFinder,
    ingress: DatapathId,
    ends: Option<(NodeIndex, NodeIndex)>,
    candidates: Candidates,
    last: Option<Candidate>,
}

impl Iterator for ByLength<'_> {
    type Item = Path;

    fn next(&mut self) -> Option<Path> {
        let (from, to) = self.ends?;
        if let Some(last) = self.last.take() {
            self.branch(&last, from);
        }
        loop {
            let candidate = self.candidates.pop()?;
            if candidate.found {
                let path = Path::from_edges(&self.finder.graph, self.ingress, &candidate.route);
                self.last = Some(candidate);
                return Some(path);
            }
            if let Some(found) = self.resolve(candidate, from, to) {
                self.candidates.push(found);
            }
        }
    }
}

impl ByLength<'_> {
    /// The length of the path that was found last.
    pub(crate) fn length(&self) -> i64 {
        self.last.as_ref().map_or(0, |last| last.length)
    }

    /// Divides the other paths of a candidate whose shortest was taken: by the switch at which they leave it.
    fn branch(&mut self, taken: &Candidate, from: NodeIndex) {
        let PathFinder { graph, lengths, distances, detours, .. } = &mut *self.finder;
        let net = Network { graph, lengths, distances };
        detours.clear_prefix();
        let (mut node, mut length) = (from, 0);
        for (links, edge) in taken.route.iter().enumerate() {
            detours.add_to_prefix(node);
            if links >= taken.deviation {
                let banned = taken.banned_after(links);
                if let Some((bound, _)) = detours.first_step(&net, node, &banned) {
                    let route = Route::from_slice(&taken.route[..links]);
                    let length = length + bound;
                    self.candidates.push(Candidate { length, found: false, route, deviation: links, banned });
                }
            }
            length += lengths.of(*edge);
            node = graph.head(*edge);
        }
    }

    /// The candidate with its shortest path, if it has one.
    fn resolve(&mut self, candidate: Candidate, from: NodeIndex, to: NodeIndex) -> Option<Candidate> {
        let PathFinder { graph, lengths, distances, queue, detours, .. } = &mut *self.finder;
        let net = Network { graph, lengths, distances };
        let Candidate { route: mut prefix, deviation, banned, .. } = candidate;
        detours.clear_prefix();
        detours.add_to_prefix(from);
        prefix.iter().for_each(|edge| detours.add_to_prefix(graph.head(*edge)));
        let spur = prefix.last().map_or(from, |edge| graph.head(*edge));
        let direct = detours.follow_tree(&net, (spur, to), &banned);
        let rest = direct.or_else(|| detours.search(&net, queue, (spur, to), &banned))?;
        prefix.extend(rest);
        let length = lengths.total(&prefix);
        Some(Candidate { length, found: true, route: prefix, deviation, banned })
    }
}
