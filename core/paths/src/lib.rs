//! Path sets over a topology, one algorithm a file.
//!
//! [`PathFinder`] holds what is computed once a graph: the cost of every link, and room to work in. Each algorithm is
//! a method of it. Paths are deterministic: the same graph, costs and question give the same answer. [`DelayGate`] says
//! which of them can carry one stream together.
//!
//! ```
//! use std::sync::Arc;
//!
//! use braid_paths::PathFinder;
//! use braid_topology::{Graph, Link};
//! use braid_types::{DatapathId, PortNo, SwitchPort};
//!
//! let end = |dpid, port| SwitchPort::new(DatapathId(dpid), PortNo(port));
//! let cables = [[end(1, 1), end(2, 1)], [end(1, 2), end(3, 1)], [end(3, 2), end(2, 2)]];
//! let directions = cables.into_iter().flat_map(|[a, b]| [(a, b), (b, a)]);
//! let graph = Graph::from_links(directions.map(|(src, dst)| Link { src, dst }));
//!
//! let mut finder = PathFinder::by_hops(Arc::new(graph));
//! let paths = finder.edge_disjoint(DatapathId(1), DatapathId(2), 4);
//! assert_eq!(paths.iter().map(|path| path.hops()).collect::<Vec<_>>(), [1, 2]);
//! ```

mod all_shortest;
mod decompose;
mod delay_gate;
mod distances;
mod edge_disjoint;
mod finder;
mod in_time;
mod k_shortest;
mod latency;
mod max_flow;
mod node_disjoint;
mod path;
mod path_set;
pub mod query;
mod queue;
mod refill;
mod request;
mod service;
mod shortest;
mod solve;
mod take_path;
mod turn;
mod weight;
mod widest;
mod within_hops;

pub use delay_gate::{DelayGate, DelayLimits, DelayLimitsError, Kept, Verdict};
pub use finder::PathFinder;
pub use k_shortest::ByLength;
pub use latency::{latency, unknown_delay};
pub use max_flow::MaxFlow;
pub use path::Path;
pub use path_set::{Flow, PathSet};
pub use request::{Constraints, Kind, KindError, Request, RequestError, Terms};
pub use service::{Limits, PathService, Snapshot};
pub use solve::solve;
pub use weight::{Weight, WeightError};
pub use within_hops::WithinHops;
