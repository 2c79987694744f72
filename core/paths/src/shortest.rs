use braid_topology::{EdgeIndex, NodeIndex};
use braid_types::DatapathId;

use crate::finder::BARRED;
use crate::{Path, PathFinder};

impl PathFinder {
    /// One path of least cost; of those, of fewest links; of those, the one that leaves each switch, from the ingress
    /// on, through the lowest port.
    ///
    /// # Arguments
    /// * `ingress`, `egress`: the switches where it begins and ends.
    ///
    /// # Returns
    /// The path, without links when both switches are the same; nothing when either is unknown or no path exists.
    ///
    /// # Complexity
    /// O((V + E) log V).
    ///
    /// # Source
    /// E. W. Dijkstra, A Note on Two Problems in Connexion with Graphs, 1959.
    ///
    /// # Example
    /// ```
    /// # use std::sync::Arc;
    /// # use braid_paths::PathFinder;
    /// # use braid_topology::{Graph, Link, LinkState};
    /// # use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPort};
    /// let link = |src, port, dst, bits| {
    ///     let [src, dst] = [src, dst].map(|dpid| SwitchPort::new(DatapathId(dpid), PortNo(port)));
    ///     (Link { src, dst }, LinkState::of_capacity(BitsPerSec(bits)))
    /// };
    /// let graph = Arc::new(Graph::new(0, [], [link(1, 1, 3, 10), link(1, 2, 2, 100), link(2, 3, 3, 100)]));
    /// let (from, to) = (DatapathId(1), DatapathId(3));
    ///
    /// let direct = PathFinder::by_hops(graph.clone()).shortest(from, to).unwrap();
    /// assert_eq!(direct.hops(), 1);
    /// let slowness = |edge| Some(1_000 / graph.state(edge).capacity.0 as u32);
    /// let wide = PathFinder::new(graph.clone(), slowness).shortest(from, to).unwrap();
    /// assert_eq!(wide.hops(), 2);
    /// ```
    pub fn shortest(&mut self, ingress: DatapathId, egress: DatapathId) -> Option<Path> {
        let (from, to) = self.ends(ingress, egress)?;
        self.measure_distances_to(to, from);
        let edges = self.descend(from, to)?;
        Some(Path::from_edges(&self.graph, ingress, &edges))
    }

    /// Sets `distances` of the nodes that are as near to `to` as `until` is, or nearer.
    fn measure_distances_to(&mut self, to: NodeIndex, until: NodeIndex) {
        let Self { graph, lengths, distances, queue, .. } = self;
        distances.fill(BARRED);
        distances[to.index()] = 0;
        queue.restart(to);
        while let Some((distance, node)) = queue.pop() {
            if node == until {
                return;
            }
            if distance > distances[node.index()] {
                continue;
            }
            for (edge, tail) in graph.in_edges(node).iter().copied() {
                let through = distance.saturating_add(lengths[edge.index()]);
                if through < distances[tail.index()] {
                    distances[tail.index()] = through;
                    queue.push(through, tail);
                }
            }
        }
    }

    fn descend(&self, from: NodeIndex, to: NodeIndex) -> Option<Vec<EdgeIndex>> {
        let mut edges = Vec::new();
        let mut node = from;
        while node != to {
            let edge = self.graph.out_edges(node).find(|edge| self.is_tight(*edge))?;
            node = self.graph.head(edge);
            edges.push(edge);
        }
        Some(edges)
    }

    fn is_tight(&self, edge: EdgeIndex) -> bool {
        let [tail, head] =
            [self.graph.tail(edge), self.graph.head(edge)].map(|node| self.distances[node.index()]);
        tail != BARRED && tail == head.saturating_add(self.lengths[edge.index()])
    }
}
