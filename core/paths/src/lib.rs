//! Path sets over a topology, one algorithm a file.
//!
//! [`PathFinder`] holds one graph with the cost of every link, and runs every algorithm on it. [`Kind`] lists the
//! algorithms; [`PathService`] caches their answers. Paths are deterministic: the same graph, costs and question give the
//! same answer. [`DelayGate`] decides which paths can carry one stream together.
//!
//! An algorithm is a file of `algorithms/` and a line in its registry, from which names, parsing, help texts and dispatch
//! are made.
//!
//! ```
//! use std::sync::Arc;
//!
//! use braid_paths::PathFinder;
//! use braid_topology::{Graph, Link};
//! use braid_types::{DatapathId, PortNo, SwitchPort};
//!
//! let end = |dpid, port| SwitchPort::new(DatapathId(dpid), PortNo(port));
//! let links = [[end(1, 1), end(2, 1)], [end(1, 2), end(3, 1)], [end(3, 2), end(2, 2)]];
//! let directions = links.into_iter().flat_map(|[a, b]| [(a, b), (b, a)]);
//! let graph = Graph::from_links(directions.map(|(src, dst)| Link { src, dst }));
//!
//! let mut finder = PathFinder::by_hops(Arc::new(graph));
//! let paths = finder.edge_disjoint(DatapathId(1), DatapathId(2), 4);
//! assert_eq!(paths.iter().map(|path| path.hops()).collect::<Vec<_>>(), [1, 2]);
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod algorithm;
mod algorithms;
mod delay_gate;
mod finder;
mod kind;
mod latency;
mod latency_bounded;
mod network;
mod path;
mod path_set;
pub mod query;
mod request;
mod search;
mod service;
mod weight;

pub use algorithm::Properties;
pub use algorithms::{ByLength, MaxFlow, WithinHops};
pub use delay_gate::{DelayGate, DelayLimits, DelayLimitsError, Kept, Verdict};
pub use finder::{PathFinder, solve};
pub use kind::{Kind, KindError};
pub use latency::{latency, unknown_delay};
pub use path::Path;
pub use path_set::{Flow, PathSet};
pub use request::{Constraints, Request, RequestError, Terms};
pub use service::{Limits, PathService, Snapshot};
pub use weight::{Weight, WeightError};
