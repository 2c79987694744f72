//! The shortest path between two switches: Dijkstra's method, or breadth first from both ends where costs are equal.

use braid_topology::{EdgeIndex, NodeIndex};
use braid_types::DatapathId;

use crate::Path;
use crate::network::Network;

impl Network {
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
    /// O(V + E) when all links cost the same, from both ends at once; else O((V + E) log V).
    ///
    /// # Source
    /// E. W. Dijkstra, A Note on Two Problems in Connexion with Graphs, 1959; I. Pohl, Bi-directional Search, 1971.
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
    pub(crate) fn shortest(&mut self, ingress: DatapathId, egress: DatapathId) -> Option<Path> {
        let (from, to) = self.ends(ingress, egress)?;
        let Self { graph, lengths, distances, queue, .. } = self;
        distances.measure_between(graph, lengths, queue, (from, to));
        let edges = self.descend(from, to)?;
        Some(Path::from_edges(&self.graph, ingress, &edges))
    }

    /// The links that shortest paths take from `node`, lowest port first.
    pub(crate) fn tight_edges(&self, node: NodeIndex) -> impl Iterator<Item = EdgeIndex> {
        let tight = |edge: &EdgeIndex| self.distances.is_tight(&self.graph, &self.lengths, *edge);
        self.graph.out_edges(node).filter(tight)
    }

    fn descend(&self, from: NodeIndex, to: NodeIndex) -> Option<Vec<EdgeIndex>> {
        let mut edges = Vec::new();
        let mut node = from;
        while node != to {
            let edge = self.tight_edges(node).next()?;
            node = self.graph.head(edge);
            edges.push(edge);
        }
        Some(edges)
    }
}
