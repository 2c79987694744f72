//! The answer to a query as JSON: paths with costs, delays and rates, warnings and reasons.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph, Link, LinkState};
use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPort};

use super::latency::{known_latency, micros};
use super::resolve::knows_no_delay;
use super::{NoPath, Place, Resolved, SprayingView};
use crate::{Kind, Path, PathSet, Request, Weight, unknown_delay};

/// The answer to a path query.
#[derive(Debug, Clone, PartialEq)]
pub struct PathsView {
    /// Where the paths begin.
    pub src: EndView,
    /// Where they end.
    pub dst: EndView,
    /// The kind of path set.
    pub mode: String,
    /// The requested number of paths.
    pub k: usize,
    /// The cost of a link.
    pub weight: String,
    /// The paths, best first.
    pub paths: Vec<PathView>,
    /// Whether there are more than requested, for `shortest`, `ksp` and `within:HOPS`.
    pub truncated: bool,
    /// Whether the search was exhaustive. If not, there may be more paths, and better ones among those in time.
    pub complete: bool,
    /// The maximum flow between two different switches, if requested and no path of it was dropped as late.
    pub max_flow_bps: Option<u64>,
    /// Whether several paths of known delays can carry one stream together.
    pub spraying: Option<SprayingView>,
    /// Why there is no path.
    pub reason: Option<NoPath>,
    /// The same as a part of a sentence.
    pub explanation: Option<String>,
    /// Caveats of the answer.
    pub warnings: Vec<String>,
}

/// Where paths begin or end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndView {
    /// Its name in the query.
    pub name: String,
    /// The name of its switch.
    pub node: String,
    /// Its switch.
    pub dpid: DatapathId,
    /// The switches of the host's other interfaces. Paths there need another query.
    pub also_at: Vec<String>,
}

/// A path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathView {
    /// The names of its switches.
    pub nodes: Vec<String>,
    /// Its links.
    pub links: Vec<LinkView>,
    /// How many links it has.
    pub hops: usize,
    /// Its cost, in the unit of the weight; `None` if that is latency and no delay is known.
    pub cost: Option<u64>,
    /// The propagation delay in microseconds, if known for all its links.
    pub delay_us: Option<f64>,
    /// The available capacity of its links, or its share of the maximum flow. `None` for a path without links.
    pub rate_bps: Option<u64>,
    /// The number of its links that better paths use as well, in either direction.
    pub shared_links: usize,
}

/// A link of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkView {
    /// Where it leaves.
    pub src: PortView,
    /// Where it arrives.
    pub dst: PortView,
    /// Whether it has parallel links between the same two switches.
    pub parallel: bool,
}

/// An end of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortView {
    /// The name of the switch.
    pub node: String,
    /// The switch.
    pub dpid: DatapathId,
    /// Its port.
    pub port: PortNo,
}

impl PathsView {
    /// The answer `set` to a query in this graph. A switch without a name is shown by its datapath id.
    pub fn new<'a>(
        graph: &Arc<Graph>,
        resolved: &Resolved,
        set: &PathSet,
        name: impl Fn(DatapathId) -> Option<&'a str>,
    ) -> Self {
        let Resolved { src, dst, k, request } = resolved;
        let name = &|dpid: DatapathId| name(dpid).map_or_else(|| dpid.to_string(), str::to_owned);
        let greatest = set.flow.as_ref().filter(|flow| src.switch != dst.switch && !flow.late);
        let paths = Viewer::new(graph, request.terms.weight, name).paths(set, *k);
        let [src, dst] = [EndView::new(src, name), EndView::new(dst, name)];
        let reason = set.paths.is_empty().then(|| NoPath::find(graph, resolved));
        Self {
            mode: request.kind.to_string(),
            k: *k,
            truncated: set.paths.len() > *k,
            complete: !set.cut_short,
            weight: request.terms.weight.to_string(),
            spraying: SprayingView::of(graph, &set.paths, &paths),
            paths,
            max_flow_bps: greatest.map(|flow| flow.greatest.0),
            explanation: reason.map(|reason| reason.explain(request, [&src, &dst])),
            reason,
            warnings: warnings(graph, request, set, [&src, &dst]),
            src,
            dst,
        }
    }
}

fn warnings(graph: &Graph, request: &Request, set: &PathSet, ends: [&EndView; 2]) -> Vec<String> {
    let weight = request.terms.weight;
    let by_unknown = weight.latency > 0 && knows_no_delay(graph);
    let is_vain = request.kind == Kind::MaxFlow && weight != Weight::HOPS;
    let warnings = [
        by_unknown.then_some("the delay of no link is known: all count as equally fast"),
        is_vain.then_some("what links cost does not matter for maxflow: the weight changes nothing"),
        set.cut_short.then_some("the search was ended early: there may be more paths, or better ones"),
    ];
    let warnings = warnings.into_iter().flatten().map(str::to_owned);
    warnings.chain(ends.into_iter().filter_map(EndView::other_switches)).collect()
}

impl EndView {
    fn new(place: &Place, name: &impl Fn(DatapathId) -> String) -> Self {
        Self {
            name: place.name.clone(),
            node: name(place.switch),
            dpid: place.switch,
            also_at: place.others.iter().map(|dpid| name(*dpid)).collect(),
        }
    }

    fn other_switches(&self) -> Option<String> {
        let Self { name, node, also_at, .. } = self;
        let others = also_at.join(", ");
        let is_one = also_at.is_empty();
        (!is_one)
            .then(|| format!("{name} is attached to {node} and to {others}: these paths are those of {node}"))
    }
}

/// Converts one path after the other.
struct Viewer<'a, N> {
    graph: &'a Graph,
    weight: Weight,
    name: &'a N,
    unknown: Duration,
    /// Whether the costs of paths are known.
    costs: bool,
    /// The links of the previous paths.
    used: BTreeSet<SwitchPort>,
}

impl<'a, N: Fn(DatapathId) -> String> Viewer<'a, N> {
    fn new(graph: &'a Graph, weight: Weight, name: &'a N) -> Self {
        let only_latency = Weight { latency: 0, ..weight } == Weight { hops: 0, latency: 0, load: 0 };
        let costs = !only_latency || !knows_no_delay(graph);
        Self { graph, weight, name, unknown: unknown_delay(graph), costs, used: BTreeSet::new() }
    }

    fn paths(mut self, set: &PathSet, k: usize) -> Vec<PathView> {
        let shares = set.flow.iter().flat_map(|flow| &flow.rates).map(|rate| Some(*rate));
        let shares = shares.chain(std::iter::repeat(None));
        set.paths.iter().take(k).zip(shares).map(|(path, share)| self.path(path, share)).collect()
    }

    fn path(&mut self, path: &Path, share: Option<BitsPerSec>) -> PathView {
        // A path of another graph would be a mistake of the caller; links that this graph lacks are ignored.
        let edges: Vec<_> = path.edges(self.graph).flatten().collect();
        let states = || edges.iter().map(|edge| self.graph.state(*edge));
        let costs = states().map(|state| u64::from(self.weight.cost(state, self.unknown)));
        let delay = known_latency(path, self.graph);
        let spare = states().map(LinkState::available).min();
        PathView {
            nodes: path.switches().map(self.name).collect(),
            hops: path.hops(),
            cost: self.costs.then(|| costs.sum()),
            delay_us: delay.map(micros),
            rate_bps: spare.map(|spare| share.unwrap_or(spare).0),
            links: edges.iter().map(|edge| self.link(*edge)).collect(),
            shared_links: edges.iter().filter(|edge| !self.is_new_link(**edge)).count(),
        }
    }

    fn link(&self, edge: EdgeIndex) -> LinkView {
        let Link { src, dst } = *self.graph.link(edge);
        let siblings = self.graph.out_edges(self.graph.tail(edge));
        let port = |at: SwitchPort| PortView { node: (self.name)(at.dpid), dpid: at.dpid, port: at.port };
        LinkView {
            src: port(src),
            dst: port(dst),
            parallel: siblings.filter(|other| self.graph.head(*other) == self.graph.head(edge)).count() > 1,
        }
    }

    /// Whether no previous path uses it; marks it as used.
    fn is_new_link(&mut self, edge: EdgeIndex) -> bool {
        let Link { src, dst } = *self.graph.link(edge);
        self.used.insert(src.min(dst))
    }
}
