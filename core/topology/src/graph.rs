//! Frozen graphs of switches and links, in compressed sparse rows for algorithms.

use std::ops::Range;

use braid_types::{DatapathId, SwitchPort};

use crate::{Link, LinkState};

/// A switch of one [`Graph`]: 0, 1, … in the order of datapath ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(u32);

/// A link of one [`Graph`]: 0, 1, … in the order of the ports they leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeIndex(u32);

/// A snapshot of switches and links as dense arrays for algorithms.
///
/// Links are directed, parallel links are separate, and self-loops are skipped. The links out of a switch have
/// consecutive indices (compressed sparse rows). Indices are valid in one graph only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    version: u64,
    nodes: Vec<DatapathId>,
    links: Vec<Link>,
    states: Vec<LinkState>,
    tails: Vec<NodeIndex>,
    heads: Vec<NodeIndex>,
    reverses: Vec<Option<EdgeIndex>>,
    // Out-edges of node n: first_out[n]..first_out[n + 1]. In-edges: into[first_in[n]..first_in[n + 1]], with their tails.
    first_out: Vec<u32>,
    first_in: Vec<u32>,
    into: Vec<(EdgeIndex, NodeIndex)>,
}

impl NodeIndex {
    /// The index as a position in an array of [`Graph::nodes`] elements.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl EdgeIndex {
    /// The index as a position in an array of [`Graph::edges`] elements.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Graph {
    /// The graph of these links without states, version 0.
    pub fn from_links(links: impl IntoIterator<Item = Link>) -> Self {
        Self::new(0, [], links.into_iter().map(|link| (link, LinkState::default())))
    }

    /// The graph of these switches and links; ends of links are added to the switches. Of links that leave the same port the
    /// last counts. O((V + E) log (V + E)).
    pub fn new(
        version: u64,
        switches: impl IntoIterator<Item = DatapathId>,
        links: impl IntoIterator<Item = (Link, LinkState)>,
    ) -> Self {
        let between = |(link, _): &(Link, LinkState)| link.src.dpid != link.dst.dpid;
        let mut known: Vec<_> = links.into_iter().collect();
        // Last first, since the first of each port is kept.
        known.reverse();
        known.sort_by_key(|(link, _)| link.src);
        known.dedup_by_key(|(link, _)| link.src);
        let (links, states): (Vec<_>, Vec<_>) = known.into_iter().filter(between).unzip();
        let ends = links.iter().flat_map(|link| [link.src.dpid, link.dst.dpid]);
        let mut nodes: Vec<_> = switches.into_iter().chain(ends).collect();
        nodes.sort_unstable();
        nodes.dedup();
        Self::index(version, nodes, links, states)
    }

    /// The topology's version at the time of the snapshot.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// All switches.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeIndex> + use<> {
        (0..self.nodes.len() as u32).map(NodeIndex)
    }

    /// All links.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = EdgeIndex> + use<> {
        (0..self.links.len() as u32).map(EdgeIndex)
    }

    /// The index of a switch. O(log V).
    pub fn node(&self, dpid: DatapathId) -> Option<NodeIndex> {
        self.nodes.binary_search(&dpid).ok().map(|index| NodeIndex(index as u32))
    }

    /// The index of the link that leaves this port. O(log E).
    pub fn edge(&self, src: SwitchPort) -> Option<EdgeIndex> {
        find(&self.links, src)
    }

    /// The switch at an index.
    pub fn dpid(&self, node: NodeIndex) -> DatapathId {
        self.nodes[node.index()]
    }

    /// The link at an index.
    pub fn link(&self, edge: EdgeIndex) -> &Link {
        &self.links[edge.index()]
    }

    /// The state of the link at an index.
    pub fn state(&self, edge: EdgeIndex) -> &LinkState {
        &self.states[edge.index()]
    }

    /// The switch at which a link begins.
    pub fn tail(&self, edge: EdgeIndex) -> NodeIndex {
        self.tails[edge.index()]
    }

    /// The switch at which a link ends.
    pub fn head(&self, edge: EdgeIndex) -> NodeIndex {
        self.heads[edge.index()]
    }

    /// The other direction of the same link.
    pub fn reverse(&self, edge: EdgeIndex) -> Option<EdgeIndex> {
        self.reverses[edge.index()]
    }

    /// The links that leave a switch, in the order of its ports.
    pub fn out_edges(&self, node: NodeIndex) -> impl ExactSizeIterator<Item = EdgeIndex> + use<> {
        let Range { start, end } = row(&self.first_out, node);
        (start as u32..end as u32).map(EdgeIndex)
    }

    /// The links that arrive at a switch with their source switches, in the order of the links' indices.
    pub fn in_edges(&self, node: NodeIndex) -> &[(EdgeIndex, NodeIndex)] {
        &self.into[row(&self.first_in, node)]
    }

    fn index(version: u64, nodes: Vec<DatapathId>, links: Vec<Link>, states: Vec<LinkState>) -> Self {
        let position = |dpid| NodeIndex(nodes.partition_point(|known| *known < dpid) as u32);
        let tails: Vec<_> = links.iter().map(|link| position(link.src.dpid)).collect();
        let heads: Vec<_> = links.iter().map(|link| position(link.dst.dpid)).collect();
        let reverse =
            |link: &Link| find(&links, link.dst).filter(|edge| links[edge.index()].is_reverse_of(link));
        let reverses = links.iter().map(reverse).collect();
        let mut into: Vec<_> = (0..).map(EdgeIndex).zip(tails.iter().copied()).collect();
        into.sort_by_key(|(edge, _)| heads[edge.index()]);
        let first_out = first_of_rows(nodes.len(), &tails);
        let first_in = first_of_rows(nodes.len(), &heads);
        Self { version, nodes, links, states, tails, heads, reverses, first_out, first_in, into }
    }
}

fn find(links: &[Link], src: SwitchPort) -> Option<EdgeIndex> {
    links.binary_search_by_key(&src, |link| link.src).ok().map(|index| EdgeIndex(index as u32))
}

fn row(firsts: &[u32], node: NodeIndex) -> Range<usize> {
    firsts[node.index()] as usize..firsts[node.index() + 1] as usize
}

fn first_of_rows(nodes: usize, members: &[NodeIndex]) -> Vec<u32> {
    let mut firsts = vec![0; nodes + 1];
    for node in members {
        firsts[node.index() + 1] += 1;
    }
    for index in 0..nodes {
        firsts[index + 1] += firsts[index];
    }
    firsts
}
