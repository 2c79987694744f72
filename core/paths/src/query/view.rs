use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph, Link, LinkState};
use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPort};
use serde::{Deserialize, Serialize};

use super::{NoPath, Place, Resolved, TogetherView};
use crate::{Path, PathSet, Weight, unknown_delay};

/// The answer to a question for paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathsView {
    /// Where the paths begin.
    pub src: EndView,
    /// Where they end.
    pub dst: EndView,
    /// How they were chosen.
    pub mode: String,
    /// How many were asked for.
    pub k: usize,
    /// What links cost.
    pub weight: String,
    /// The paths, best first.
    pub paths: Vec<PathView>,
    /// The greatest flow between two different switches, if it was asked for and no path of it was left out as late.
    pub max_flow_bps: Option<u64>,
    /// Whether several paths of known delays can carry one stream together.
    pub together: Option<TogetherView>,
    /// Why there is no path.
    pub reason: Option<NoPath>,
    /// What makes the answer mean less than it seems to.
    pub warnings: Vec<String>,
}

/// Where paths begin or end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndView {
    /// What it was called in the question.
    pub name: String,
    /// The name of its switch.
    pub node: String,
    /// Its switch.
    pub dpid: DatapathId,
    /// The switches to which the host is attached as well. Paths there are another question.
    pub also_at: Vec<String>,
}

/// A path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathView {
    /// The names of its switches.
    pub nodes: Vec<String>,
    /// Its links.
    pub links: Vec<LinkView>,
    /// How many links it has.
    pub hops: usize,
    /// What it costs, in the unit of the weight.
    pub cost: u64,
    /// How long a bit travels, in microseconds, if that is known of all its links.
    pub delay_us: Option<u64>,
    /// What its links have to spare, or its share of the greatest flow. Nothing limits a path without links.
    pub rate_bps: Option<u64>,
    /// How many of its cables are used by better paths as well, in whichever direction.
    pub shared_cables: usize,
}

/// A link of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkView {
    /// Where it leaves.
    pub src: PortView,
    /// Where it arrives.
    pub dst: PortView,
    /// Whether others lead from the same switch to the same switch.
    pub parallel: bool,
}

/// An end of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortView {
    /// The name of the switch.
    pub node: String,
    /// The switch.
    pub dpid: DatapathId,
    /// Its port.
    pub port: PortNo,
}

impl PathsView {
    /// The answer `set` to a question in this graph. A switch without a name is called by its datapath id.
    pub fn new<'a>(
        graph: &Arc<Graph>,
        resolved: &Resolved,
        set: &PathSet,
        name: impl Fn(DatapathId) -> Option<&'a str>,
    ) -> Self {
        let Resolved { src, dst, request } = resolved;
        let name = &|dpid: DatapathId| name(dpid).map_or_else(|| dpid.to_string(), str::to_owned);
        let greatest = set.flow.as_ref().filter(|flow| src.switch != dst.switch && !flow.late);
        let paths = Viewer::new(graph, request.terms.weight, name).paths(set);
        Self {
            src: EndView::new(src, name),
            dst: EndView::new(dst, name),
            mode: request.kind.to_string(),
            k: request.k,
            weight: request.terms.weight.to_string(),
            together: TogetherView::of(&paths),
            paths,
            max_flow_bps: greatest.map(|flow| flow.greatest.0),
            reason: set.paths.is_empty().then(|| NoPath::find(graph, resolved)),
            warnings: warnings(graph, resolved),
        }
    }
}

fn warnings(graph: &Graph, resolved: &Resolved) -> Vec<String> {
    let terms = &resolved.request.terms;
    let by_delay = terms.weight.latency > 0 || terms.constraints.max_latency.is_some();
    let none_known = graph.edges().all(|edge| graph.state(edge).delay.is_none());
    let warning = "the delay of no link is known: all count as equally fast";
    if by_delay && none_known { vec![warning.to_owned()] } else { Vec::new() }
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
}

/// Looks at one path after the other.
struct Viewer<'a, N> {
    graph: &'a Graph,
    weight: Weight,
    name: &'a N,
    unknown: Duration,
    /// The cables of the paths before.
    used: BTreeSet<SwitchPort>,
}

impl<'a, N: Fn(DatapathId) -> String> Viewer<'a, N> {
    fn new(graph: &'a Graph, weight: Weight, name: &'a N) -> Self {
        Self { graph, weight, name, unknown: unknown_delay(graph), used: BTreeSet::new() }
    }

    fn paths(mut self, set: &PathSet) -> Vec<PathView> {
        let shares = set.flow.iter().flat_map(|flow| &flow.rates).map(|rate| Some(*rate));
        let shares = shares.chain(std::iter::repeat(None));
        set.paths.iter().zip(shares).map(|(path, share)| self.path(path, share)).collect()
    }

    fn path(&mut self, path: &Path, share: Option<BitsPerSec>) -> PathView {
        // A path of another graph would be a mistake of the caller; what is not there counts nothing.
        let edges: Vec<_> = path.edges(self.graph).flatten().collect();
        let states = || edges.iter().map(|edge| self.graph.state(*edge));
        let costs = states().map(|state| u64::from(self.weight.cost(state, self.unknown)));
        let delay = states().try_fold(Duration::ZERO, |sum, state| Some(sum.saturating_add(state.delay?)));
        let spare = states().map(LinkState::available).min();
        PathView {
            nodes: path.switches().map(self.name).collect(),
            hops: path.hops(),
            cost: costs.sum(),
            delay_us: delay.map(|delay| u64::try_from(delay.as_micros()).unwrap_or(u64::MAX)),
            rate_bps: spare.map(|spare| share.unwrap_or(spare).0),
            links: edges.iter().map(|edge| self.link(*edge)).collect(),
            shared_cables: edges.iter().filter(|edge| !self.is_new_cable(**edge)).count(),
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

    /// Whether no path before has it; now one does.
    fn is_new_cable(&mut self, edge: EdgeIndex) -> bool {
        let Link { src, dst } = *self.graph.link(edge);
        self.used.insert(src.min(dst))
    }
}
