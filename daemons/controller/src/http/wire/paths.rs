//! Path sets as types of the API.

use braid_api::{PathEnd, PathLink, PathPort, PathSet, RankedPath, Spraying};
use braid_paths::query::{
    EndView, LinkView, NoPath, PathView, PathsView, PortView, SprayVerdict, SprayingView,
};

/// The answer to a query, as the API and `braid paths --json` give it.
#[must_use]
pub fn path_set(view: PathsView) -> PathSet {
    PathSet {
        src: end(view.src),
        dst: end(view.dst),
        mode: view.mode,
        k: view.k,
        weight: view.weight,
        paths: view.paths.into_iter().map(path).collect(),
        truncated: view.truncated,
        complete: view.complete,
        max_flow_bps: view.max_flow_bps,
        spraying: view.spraying.map(spraying),
        reason: view.reason.map(reason),
        explanation: view.explanation,
        warnings: view.warnings,
    }
}

fn end(view: EndView) -> PathEnd {
    let EndView { name, node, dpid, also_at } = view;
    PathEnd { name, node, dpid, also_at }
}

fn path(view: PathView) -> RankedPath {
    let PathView { nodes, links, hops, cost, delay_us, rate_bps, shared_links } = view;
    let links = links.into_iter().map(link).collect();
    RankedPath { nodes, links, hops, cost, delay_us, rate_bps, shared_links }
}

fn link(view: LinkView) -> PathLink {
    PathLink { src: port(view.src), dst: port(view.dst), parallel: view.parallel }
}

fn port(view: PortView) -> PathPort {
    let PortView { node, dpid, port } = view;
    PathPort { node, dpid, port }
}

fn spraying(view: SprayingView) -> Spraying {
    let SprayingView { verdict, mdi, delay_difference_us, best_paths } = view;
    let verdict = match verdict {
        SprayVerdict::InOrder => braid_api::SprayVerdict::InOrder,
        SprayVerdict::Resequenced => braid_api::SprayVerdict::Resequenced,
        SprayVerdict::Unsuitable => braid_api::SprayVerdict::Unsuitable,
    };
    Spraying { verdict, mdi, delay_difference_us, best_paths }
}

const fn reason(reason: NoPath) -> braid_api::NoPath {
    match reason {
        NoPath::Disconnected => braid_api::NoPath::Disconnected,
        NoPath::Excluded => braid_api::NoPath::Excluded,
        NoPath::LatencyExceeded => braid_api::NoPath::LatencyExceeded,
        NoPath::HopsExceeded => braid_api::NoPath::HopsExceeded,
        NoPath::NoCapacity => braid_api::NoPath::NoCapacity,
    }
}
