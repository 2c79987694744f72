//! Tie breaks between equally good path sets, which spread pairs of switches over a fabric.

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::{PortNo, mix, reduce};

/// Breaks ties by the two ends of a search.
///
/// Of several equally good sets, a search finds the one over the switches that it visits first. If that order were
/// the same for all pairs of switches, a fabric's sets would meet on a few of its links. A hash of both ends spreads
/// them, as evenly as chance does. Where possible, sets are distributed in turn instead: each of the switches around
/// one neighbour, such as the edge switches of a FatTree's pod, has a place, and for neighbouring places the search
/// prefers neighbouring links. So paths to different switches of a pod enter it over different links, however many
/// ends they have elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TieBreak {
    ends: u64,
    // A number for all switches around the same neighbour, and the place of the egress among them.
    around: u64,
    place: u64,
}

impl TieBreak {
    /// The same for the same two switches, as long as the links of the egress's first neighbour are the same.
    pub(crate) fn between(graph: &Graph, from: NodeIndex, to: NodeIndex) -> Self {
        let ends = mix(mix(graph.dpid(from).0) ^ graph.dpid(to).0);
        let Some((into, neighbour)) = graph.in_edges(to).first().copied() else {
            return Self { ends, around: 0, place: 0 };
        };
        let place = graph.out_edges(neighbour).take_while(|edge| *edge < into).count() as u64;
        Self { ends, around: mix(graph.dpid(neighbour).0), place }
    }

    /// The rank of the path that begins at this port, among paths of the same length.
    pub(crate) const fn rank(self, port: PortNo) -> u64 {
        mix(self.ends ^ port.0 as u64)
    }

    /// The index of the first of `count` equal next links to try, at a node that the search reached over `by`.
    ///
    /// Behind ports with the same number, links are assigned by the place of the egress; elsewhere they are drawn.
    pub(crate) fn draw(self, graph: &Graph, node: NodeIndex, by: Option<EdgeIndex>, count: usize) -> usize {
        match by {
            Some(first) => {
                let shift = mix(self.around ^ u64::from(graph.link(first).src.port.0)) >> 32;
                ((shift + self.place) % count.max(1) as u64) as usize
            }
            None => reduce(mix(self.ends ^ graph.dpid(node).0), count),
        }
    }

    /// The factor of the switches' numbers, which changes their order.
    pub(crate) const fn factor(self) -> u32 {
        self.ends as u32 | 1
    }
}
