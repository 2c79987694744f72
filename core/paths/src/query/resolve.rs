//! Queries with their names resolved to switches, ports and links of one network.

use braid_topology::{EdgeIndex, Graph};
use braid_types::{DatapathId, SwitchPort};

use super::{Names, Query, QueryError};
use crate::{Constraints, Request, Terms};

/// A query in terms of one network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Where the paths begin.
    pub src: Place,
    /// Where they end.
    pub dst: Place,
    /// The greatest number of paths in the answer.
    pub k: usize,
    /// The request to solve. For kinds that list paths it asks for one path more than the answer has, to learn
    /// whether more exist; that may be one more than [`Request::MAX_PATHS`].
    pub request: Request,
}

/// A place in the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name in the query.
    pub name: String,
    /// Its switch; for a host, that of its first interface.
    pub switch: DatapathId,
    /// The switches of the host's other interfaces.
    pub others: Vec<DatapathId>,
}

impl Resolved {
    /// The switches where the paths begin and end.
    pub const fn switches(&self) -> [DatapathId; 2] {
        [self.src.switch, self.dst.switch]
    }
}

impl Query {
    /// Resolves the names.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] if nothing has such a name; [`QueryError::Invalid`] for a number of paths out of
    /// range, or for a greatest latency where no delay is known.
    pub fn resolve(&self, graph: &Graph, names: &impl Names) -> Result<Resolved, QueryError> {
        let [src, dst] = [place("src", &self.src, names)?, place("dst", &self.dst, names)?];
        let terms = Terms { weight: self.weight, constraints: self.constraints(graph, names)? };
        let request = Request { kind: self.mode, k: self.k, terms };
        request.check().map_err(|error| QueryError::invalid("k", error))?;
        if self.max_latency.is_some() && knows_no_delay(graph) {
            let reason = "no delay is known in this network; leave out max_latency";
            return Err(QueryError::invalid("max_latency", reason));
        }
        let is_listing = self.mode.properties().is_listing;
        let request = Request { k: self.k.saturating_add(is_listing.into()), ..request };
        Ok(Resolved { src, dst, k: self.k, request })
    }

    fn constraints(&self, graph: &Graph, names: &impl Names) -> Result<Constraints, QueryError> {
        let mut constraints = Constraints {
            min_capacity: self.min_capacity,
            max_latency: self.max_latency.map(|latency| latency.0),
            ..Constraints::default()
        };
        if self.without.len() > Self::MAX_WITHOUT {
            let reason = format!("it is given {} times; at most {}", self.without.len(), Self::MAX_WITHOUT);
            return Err(QueryError::invalid("without", reason));
        }
        for text in &self.without {
            exclude(&mut constraints, text, graph, names)
                .map_err(|reason| QueryError::NotFound { parameter: "without", reason })?;
        }
        Ok(constraints)
    }
}

/// Whether there are links, but none of known delay.
pub(super) fn knows_no_delay(graph: &Graph) -> bool {
    graph.edges().len() > 0 && graph.edges().all(|edge| graph.state(edge).delay.is_none())
}

fn place(parameter: &'static str, name: &str, names: &impl Names) -> Result<Place, QueryError> {
    let missing = |reason| QueryError::NotFound { parameter, reason };
    let switches = names.locate(name).map_err(missing)?;
    let (first, others) = switches.split_first().ok_or_else(|| missing(format!("{name:?} is nowhere")))?;
    Ok(Place { name: name.to_owned(), switch: *first, others: others.to_vec() })
}

/// Adds the items that a text names to the exclusions. A name takes precedence over the other readings.
fn exclude(
    constraints: &mut Constraints,
    text: &str,
    graph: &Graph,
    names: &impl Names,
) -> Result<(), String> {
    if let Some(switch) = names.switch(text) {
        constraints.without_switches.insert(switch);
        return Ok(());
    }
    let ports = match (between(text, names), names.port(text)) {
        (Some([a, b]), _) => links_between(graph, a, b),
        (None, Some(at)) => link_at(graph, at),
        (None, None) => return Err(unknown(text, names)),
    };
    if ports.is_empty() {
        return Err(format!("there is no link at {text}"));
    }
    constraints.without_ports.extend(ports);
    Ok(())
}

fn unknown(text: &str, names: &impl Names) -> String {
    let what = format!("{text:?} is no switch, no port NODE:PORT, and not A--B between two switches");
    match names.locate(text) {
        Ok(_) => format!("{what}, but a host"),
        Err(reason) => format!("{what}: {reason}"),
    }
}

/// Names may have hyphens of their own.
fn between(text: &str, names: &impl Names) -> Option<[DatapathId; 2]> {
    let mut splits = text.match_indices("--");
    splits.find_map(|(at, _)| Some([names.switch(&text[..at])?, names.switch(&text[at + 2..])?]))
}

fn links_between(graph: &Graph, a: DatapathId, b: DatapathId) -> Vec<SwitchPort> {
    let towards = |from, to| {
        let edges = graph.node(from).into_iter().flat_map(|node| graph.out_edges(node));
        edges.map(|edge| *graph.link(edge)).filter(move |link| link.dst.dpid == to).map(|link| link.src)
    };
    towards(a, b).chain(towards(b, a)).collect()
}

fn link_at(graph: &Graph, at: SwitchPort) -> Vec<SwitchPort> {
    let arrives = |edge: EdgeIndex| graph.link(edge).dst == at;
    let into = graph.node(at.dpid).map(|node| graph.in_edges(node)).unwrap_or_default();
    let any = graph.edge(at).is_some() || into.iter().any(|(edge, _)| arrives(*edge));
    any.then_some(at).into_iter().collect()
}
