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
    /// Those as short as the shortest.
    Shortest => all_shortest: AllShortest,
    /// The shortest that pass no switch twice.
    KShortest => k_shortest: KShortest,
    /// No two over the same cable, of least total cost.
    EdgeDisjoint => edge_disjoint: EdgeDisjoint,
    /// No two past the same switch, of least total cost.
    NodeDisjoint => node_disjoint: NodeDisjoint,
    /// Those that carry the most together over the available capacity.
    MaxFlow => max_flow: Dinic,
    /// The one path with the most capacity available.
    Widest => widest: Widest,
    /// Those of so many links at most, fewest links first.
    WithinHops(hops) => within_hops: DepthFirst,
}
