//! Path queries answered in a network file, without a controller.

use std::sync::Arc;

use braid_api::PathSet;
use braid_controller::path_set;
use braid_paths::query::{PathsView, Query, QueryError};
use braid_paths::solve;
use braid_topology::Blueprint;

use crate::exit::{self, Code};

/// Answers a query in a network from a file or generator.
pub(crate) fn in_blueprint(network: &Blueprint, query: &Query) -> anyhow::Result<PathSet> {
    let graph = Arc::new(network.graph());
    let resolved = query.resolve(&graph, network).map_err(|error| refuse(&error))?;
    let [src, dst] = resolved.switches();
    let set = solve(&mut resolved.request.terms.finder(&graph), src, dst, &resolved.request);
    Ok(path_set(PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid))))
}

fn refuse(error: &QueryError) -> anyhow::Error {
    let code = match error {
        QueryError::Invalid { .. } => Code::Usage,
        QueryError::NotFound { .. } => Code::NotFound,
    };
    exit::error(code, error)
}
