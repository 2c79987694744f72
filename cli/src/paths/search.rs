use std::sync::Arc;

use anyhow::Context;
use braid_paths::query::{PathsView, Query};
use braid_paths::solve;
use braid_topology::generate::{Links, Spec};
use braid_topology::{Blueprint, import};
use braid_types::BitsPerSec;

use crate::commands::paths::refuse;
use crate::exit::{Code, ExitWith};

/// Answers a question in a network that is drawn or written down.
pub(crate) fn in_blueprint(source: &str, query: &Query) -> anyhow::Result<PathsView> {
    let network = load(source)?;
    let graph = Arc::new(network.graph());
    let resolved = query.resolve(&graph, &network).map_err(|error| refuse(&error))?;
    let [src, dst] = resolved.switches();
    let set = solve(&mut resolved.request.terms.finder(&graph), src, dst, &resolved.request);
    Ok(PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid)))
}

fn load(source: &str) -> anyhow::Result<Blueprint> {
    if Spec::is_meant_by(source) {
        let spec: Spec = source.parse().exit_with(Code::Usage)?;
        return spec.generate(Links::default()).exit_with(Code::Usage);
    }
    let text =
        std::fs::read_to_string(source).with_context(|| source.to_owned()).exit_with(Code::NotFound)?;
    let read = if source.ends_with(".graphml") { import::graphml } else { import::json };
    Ok(read(&text, source, BitsPerSec(1_000_000_000))?.blueprint)
}
