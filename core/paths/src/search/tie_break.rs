//! Tie breaks between equally good path sets, which spread pairs of switches over a fabric.

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::{PortNo, mix, reduce};

/// Settles ties by the two ends of a search.
///
/// Of several sets that are equally good a search finds the one over the switches that it looks at first. Were those the
/// same for all pairs of switches, a fabric's sets would meet on a few of its links. A hash of both ends spreads them, as
/// evenly as chance does. Where it can be done, they are dealt instead: of the switches around one neighbour, as the edge
/// switches of a FatTree's pod are, each has a place, and for neighbouring places the search turns to neighbouring ways. So
/// what leads to different switches of a pod comes down to it over different links, however many ends it has elsewhere.
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

    /// Where, in the order of paths that are as long, the one comes that begins at this port.
    pub(crate) const fn rank(self, port: PortNo) -> u64 {
        mix(self.ends ^ port.0 as u64)
    }

    /// Which of `count` equal ways to take first from a node that `by` led to from the ingress.
    ///
    /// Behind the ports with the same number ways are dealt by the place of the egress; elsewhere they are drawn.
    pub(crate) fn draw(self, graph: &Graph, node: NodeIndex, by: Option<EdgeIndex>, count: usize) -> usize {
        match by {
            Some(first) => {
                let shift = mix(self.around ^ u64::from(graph.link(first).src.port.0)) >> 32;
                ((shift + self.place) % count.max(1) as u64) as usize
            }
            None => reduce(mix(self.ends ^ graph.dpid(node).0), count),
        }
    }

    /// What switches' numbers are multiplied by so that their order is another.
    pub(crate) const fn factor(self) -> u32 {
        self.ends as u32 | 1
    }
}
