use std::sync::Arc;

use braid_paths::query::{PathsView, Query};
use braid_paths::solve;
use braid_topology::Blueprint;

use crate::commands::paths::refuse;

/// Answers a question in a network that is drawn or written down.
pub(crate) fn in_blueprint(network: &Blueprint, query: &Query) -> anyhow::Result<PathsView> {
    let graph = Arc::new(network.graph());
    let resolved = query.resolve(&graph, network).map_err(|error| refuse(&error))?;
    let [src, dst] = resolved.switches();
    let set = solve(&mut resolved.request.terms.finder(&graph), src, dst, &resolved.request);
    Ok(PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid)))
}
