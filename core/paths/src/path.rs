//! A path: directed links from switch to switch, cheap to copy.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use braid_topology::{EdgeIndex, Graph, Link};
use braid_types::DatapathId;
use serde::Serialize;

/// A path through the network: directed links, each beginning at the switch where the one before ended.
///
/// Without links the path stays within one switch. No switch occurs twice. Copies share their links.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Path {
    ingress: DatapathId,
    links: Arc<[Link]>,
}

impl Path {
    /// The path between two ports of the same switch.
    pub fn within(switch: DatapathId) -> Self {
        Self { ingress: switch, links: Arc::default() }
    }

    /// The path over these links; `None` without links, where one does not begin where the one before it ended, or
    /// where a switch occurs twice.
    pub fn over(links: &[Link]) -> Option<Self> {
        let path = Self { ingress: links.first()?.src.dpid, links: links.into() };
        let joined =
            links.windows(2).all(|pair| matches!(pair, [one, next] if one.dst.dpid == next.src.dpid));
        let switches: BTreeSet<_> = path.switches().collect();
        (joined && switches.len() == links.len().saturating_add(1)).then_some(path)
    }

    pub(crate) fn from_edges(graph: &Graph, ingress: DatapathId, edges: &[EdgeIndex]) -> Self {
        Self { ingress, links: edges.iter().map(|edge| *graph.link(*edge)).collect() }
    }

    /// The switch where it begins.
    pub const fn ingress(&self) -> DatapathId {
        self.ingress
    }

    /// The switch where it ends.
    pub fn egress(&self) -> DatapathId {
        self.links.last().map_or(self.ingress, |link| link.dst.dpid)
    }

    /// Its links from the ingress to the egress.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// How many links it has.
    pub fn hops(&self) -> usize {
        self.links.len()
    }

    /// Its switches from the ingress to the egress: one more than links.
    pub fn switches(&self) -> impl Iterator<Item = DatapathId> {
        std::iter::once(self.ingress).chain(self.links.iter().map(|link| link.dst.dpid))
    }

    /// The edges of `graph` that are its links; `None` for each link that `graph` lacks. O(h log E).
    pub fn edges<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = Option<EdgeIndex>> + 'a {
        self.links.iter().map(|link| graph.edge(link.src).filter(|edge| graph.link(*edge) == link))
    }

    /// The same links in the other direction, whether or not that is known to exist: see
    /// [`Constraints::both_ways`](crate::Constraints::both_ways).
    pub fn reversed(&self) -> Self {
        Self { ingress: self.egress(), links: self.links.iter().rev().map(Link::reversed).collect() }
    }

    /// Whether `other` has the same links in the other direction.
    pub fn is_reverse_of(&self, other: &Self) -> bool {
        let mut links = self.links.iter().zip(other.links.iter().rev());
        self.hops() == other.hops()
            && self.ingress == other.egress()
            && links.all(|(one, two)| one.is_reverse_of(two))
    }

    /// The number of links in both, in either direction. O(h²), as paths are short.
    pub fn shared_links(&self, other: &Self) -> usize {
        let same = |one: &Link, two: &Link| one == two || one.is_reverse_of(two);
        self.links.iter().filter(|link| other.links.iter().any(|theirs| same(link, theirs))).count()
    }
}

/// The switches with the ports between them: `…01 [1-3] …02 [4-1] …05`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ingress)?;
        self.links
            .iter()
            .try_for_each(|Link { src, dst }| write!(f, " [{}-{}] {}", src.port, dst.port, dst.dpid))
    }
}
