//! Path queries of people and API clients, and their answers: the same on the command line and over HTTP.
//!
//! ```
//! use std::sync::Arc;
//!
//! use braid_paths::query::{PathsView, Query};
//! use braid_paths::solve;
//! use braid_topology::generate::{Links, fat_tree};
//!
//! let network = fat_tree(4, Links::default())?;
//! let graph = Arc::new(network.graph());
//!
//! let parameters = [("src", "h1"), ("dst", "h16"), ("mode", "disjoint"), ("without", "core2")];
//! let query = Query::from_parameters(parameters.map(|(name, value)| (name.into(), value.into())))?;
//! let resolved = query.resolve(&graph, &network)?;
//! let [src, dst] = resolved.switches();
//! let set = solve(&mut resolved.request.terms.finder(&graph), src, dst, &resolved.request);
//!
//! let view = PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid));
//! assert_eq!(view.paths.len(), 2);
//! assert!(view.paths.iter().all(|path| path.nodes.len() == 5 && path.nodes[2] != "core2"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod latency;
mod names;
mod no_path;
mod parameters;
mod resolve;
mod spraying;
mod view;

use braid_types::BitsPerSec;

use crate::{Kind, Weight};

pub use latency::Latency;
pub use names::Names;
pub use no_path::NoPath;
pub use resolve::{Place, Resolved};
pub use spraying::{SprayVerdict, SprayingView};
pub use view::{EndView, LinkView, PathView, PathsView, PortView};

/// A path query, in the user's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Where the paths begin: a switch or a host.
    pub src: String,
    /// Where they end.
    pub dst: String,
    /// The kind of path set.
    pub mode: Kind,
    /// The greatest number of paths.
    pub k: usize,
    /// The cost of a link.
    pub weight: Weight,
    /// Excluded switches, as `NODE`; the link at a port, as `NODE:PORT`; all links between two switches, as `A--B`.
    pub without: Vec<String>,
    /// The least capacity of every link.
    pub min_capacity: BitsPerSec,
    /// The greatest latency of a path.
    pub max_latency: Option<Latency>,
}

/// A query that cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// A parameter makes no sense.
    #[error("{parameter}: {reason}")]
    Invalid {
        /// Its name.
        parameter: String,
        /// Why it is invalid.
        reason: String,
    },
    /// The network has nothing of this name.
    #[error("{reason}")]
    NotFound {
        /// The name of the parameter.
        parameter: &'static str,
        /// What is missing.
        reason: String,
    },
}

impl Query {
    /// The default number of paths.
    pub const DEFAULT_K: usize = 16;
    /// The greatest number of exclusions.
    pub const MAX_WITHOUT: usize = 256;

    /// A query for the shortest paths by hops.
    pub fn new(src: impl Into<String>, dst: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            dst: dst.into(),
            mode: Kind::Shortest,
            k: Self::DEFAULT_K,
            weight: Weight::HOPS,
            without: Vec::new(),
            min_capacity: BitsPerSec(0),
            max_latency: None,
        }
    }
}

impl QueryError {
    /// The parameter in error.
    pub fn parameter(&self) -> &str {
        match self {
            Self::Invalid { parameter, .. } => parameter,
            Self::NotFound { parameter, .. } => parameter,
        }
    }

    fn invalid(parameter: impl Into<String>, reason: impl ToString) -> Self {
        Self::Invalid { parameter: parameter.into(), reason: reason.to_string() }
    }
}
