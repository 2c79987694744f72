//! The path of least cost with a bounded number of links. Hansen (1980).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;

use braid_topology::{EdgeIndex, NodeIndex};
use braid_types::DatapathId;

use crate::Path;
use crate::network::{BARRED, Network};

impl Network {
    /// The path of least cost with at most so many links.
    ///
    /// # Complexity
    /// O(h E log (h E)), where h is the lesser of `max_hops` and V; usually close to that of one search by cost, since
    /// partial paths that cannot reach the egress with the remaining links are dropped.
    ///
    /// # Source
    /// Dijkstra's method on pairs of switch and hops, of which only those are kept that no other beats in both cost and
    /// hops: P. Hansen, Bicriterion Path Problems, 1980.
    pub(crate) fn shortest_within(
        &self,
        ingress: DatapathId,
        egress: DatapathId,
        max_hops: u64,
    ) -> Option<Path> {
        let (from, to) = self.ends(ingress, egress)?;
        let hops_to = self.hops_to(to);
        let mut search = Search::new(from, hops_to.len());
        while let Some(Reverse((_, hops, label))) = search.queue.pop() {
            let node = search.labels[label].node;
            if node == to {
                return Some(Path::from_edges(&self.graph, ingress, &search.route(label)));
            }
            let hops_left = max_hops.saturating_sub(hops);
            if search.improves(node, hops) {
                let usable = |edge: &EdgeIndex| {
                    hops_to[self.graph.head(*edge).index()].is_some_and(|hops| hops < hops_left)
                        && !self.lengths.is_barred(*edge)
                };
                self.graph.out_edges(node).filter(usable).for_each(|edge| search.follow(self, label, edge));
            }
        }
        None
    }

    /// By node: the fewest links to `to`.
    fn hops_to(&self, to: NodeIndex) -> Vec<Option<u64>> {
        let mut by_hops = self.with_costs(|_| 1);
        let lengths = by_hops.lengths_to(to).to_vec();
        lengths.into_iter().map(|length| (length != BARRED).then(|| by_hops.lengths.cost(length))).collect()
    }
}

/// A partial path, from the ingress to a switch.
struct Label {
    node: NodeIndex,
    hops: u64,
    length: i64,
    // The partial path that it extends, and the link.
    last: Option<(usize, EdgeIndex)>,
}

struct Search {
    labels: Vec<Label>,
    // By length, then hops.
    queue: BinaryHeap<Reverse<(i64, u64, usize)>>,
    // By node: the hops of the last partial path extended from there. A longer one is useful only with fewer hops.
    fewest: Vec<u64>,
}

impl Search {
    fn new(from: NodeIndex, nodes: usize) -> Self {
        let first = Label { node: from, hops: 0, length: 0, last: None };
        let queue = [Reverse((0, 0, 0))].into();
        Self { labels: vec![first], queue, fewest: vec![u64::MAX; nodes] }
    }

    /// Whether a partial path of so many hops has fewer than all shorter ones.
    fn improves(&mut self, node: NodeIndex, hops: u64) -> bool {
        let fewest = &mut self.fewest[node.index()];
        let better = hops < *fewest;
        *fewest = hops.min(*fewest);
        better
    }

    fn follow(&mut self, network: &Network, label: usize, edge: EdgeIndex) {
        let Label { hops, length, .. } = self.labels[label];
        let node = network.graph.head(edge);
        let next = Label {
            node,
            hops: hops + 1,
            length: length + network.lengths.of(edge),
            last: Some((label, edge)),
        };
        if next.hops < self.fewest[node.index()] {
            self.queue.push(Reverse((next.length, next.hops, self.labels.len())));
            self.labels.push(next);
        }
    }

    fn route(&self, label: usize) -> Vec<EdgeIndex> {
        let before = |(label, _): &(usize, EdgeIndex)| self.labels[*label].last;
        let mut route: Vec<_> =
            iter::successors(self.labels[label].last, before).map(|(_, edge)| edge).collect();
        route.reverse();
        route
    }
}
