//! The registry of path algorithms: one file and one line each.

mod all_shortest;
mod edge_disjoint;
mod k_shortest;
mod max_flow;
mod node_disjoint;
mod widest;
mod within_hops;

pub use k_shortest::ByLength;
pub(crate) use k_shortest::KShortest;
pub use max_flow::MaxFlow;
pub use within_hops::WithinHops;

crate::kind::registry! {
    /// Paths as short as the shortest.
    Shortest => all_shortest: AllShortest,
    /// The shortest paths that pass no switch twice.
    KShortest => k_shortest: KShortest,
    /// Paths of which no two use the same link, of least total cost.
    EdgeDisjoint => edge_disjoint: EdgeDisjoint,
    /// Paths of which no two pass the same switch, of least total cost.
    NodeDisjoint => node_disjoint: NodeDisjoint,
    /// The paths that together carry the most over the available capacity.
    MaxFlow => max_flow: Dinic,
    /// The one path with the most available capacity.
    Widest => widest: Widest,
    /// Paths of at most so many links, fewest links first.
    WithinHops(hops) => within_hops: DepthFirst,
}
