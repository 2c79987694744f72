//! Common parts of the graph importers: conversion of nodes and edges to switches, hosts and links.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_types::{BitsPerSec, DatapathId};

use super::names::Names;
use super::problem::{Warnings, remedy};
use super::{ImportProblem, Imported};
use crate::LinkState;
use crate::blueprint::{Blueprint, BlueprintError, Builder, NewInterface, NewSwitch, Plug, Position};

/// The graph of a file.
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    /// Whether the file declares a graph without parallel edges.
    pub(super) simple: bool,
}

/// A node, which becomes a switch or a host.
pub(super) struct Node {
    /// One line of text, not empty.
    pub(super) label: String,
    pub(super) host: bool,
    pub(super) dpid: Option<DatapathId>,
    pub(super) position: Option<Position>,
    pub(super) group: Option<String>,
}

/// An edge, which becomes a link, or one direction of it.
pub(super) struct Edge {
    /// Indices in [`Draft::nodes`].
    pub(super) ends: [usize; 2],
    /// Whether the edge has only the direction from the first end to the second.
    pub(super) directed: bool,
    /// The key that the two directions of a link share; without keys they are matched in order.
    pub(super) key: Option<String>,
    pub(super) capacity: Option<BitsPerSec>,
    pub(super) delay: Option<Duration>,
}

/// An item of a document, as an index in a list of [`Draft`].
#[derive(Clone, Copy)]
pub(super) enum Origin {
    Node(usize),
    Edge(usize),
}

/// A document that can locate its items.
pub(super) trait Document {
    fn file(&self) -> &str;

    /// The line and column, if known, and a description.
    fn locate(&self, origin: Origin) -> (Option<(usize, usize)>, String);

    fn problem(&self, origin: Origin, what: impl Into<String>, remedy: &str) -> ImportProblem {
        let (at, place) = self.locate(origin);
        ImportProblem::new(self.file(), at, place, what, remedy)
    }
}

/// A link between nodes.
struct Strand {
    ends: [usize; 2],
    states: [Option<LinkState>; 2],
    origin: Origin,
}

impl Draft {
    /// The network. Edges without a capacity have `capacity`. Edges without a delay have that of a straight fibre between
    /// their ends, if these have positions.
    pub(super) fn assemble(
        self,
        document: &impl Document,
        capacity: BitsPerSec,
    ) -> Result<Imported, ImportProblem> {
        let mut warnings = Warnings::default();
        let strands = self.strands(document, capacity, &mut warnings)?;
        self.warn_of_gaps(document, capacity, &mut warnings);
        let names = self.names(document, &mut warnings);
        let mut builder = Blueprint::builder(self.name);
        let indices = add_switches(&mut builder, self.nodes, &names, document)?;
        let mut interfaces: BTreeMap<usize, Vec<NewInterface>> = BTreeMap::new();
        for strand in strands {
            if let Some((host, interface)) = attach(&mut builder, &indices, strand, document)? {
                interfaces.entry(host).or_default().push(interface);
            }
        }
        add_hosts(&mut builder, &indices, &names, interfaces, document, &mut warnings)?;
        Ok(Imported { blueprint: builder.build(), warnings: warnings.into_vec(document.file()) })
    }

    /// The links in the order of the edges, with the two directed edges of a link joined.
    fn strands(
        &self,
        document: &impl Document,
        capacity: BitsPerSec,
        warnings: &mut Warnings,
    ) -> Result<Vec<Strand>, ImportProblem> {
        let mut strands: Vec<Strand> = Vec::with_capacity(self.edges.len());
        let mut pairs = Pairs::default();
        for (index, edge) in self.edges.iter().enumerate() {
            let origin = Origin::Edge(index);
            let [a, b] = edge.ends;
            if a == b {
                let what = format!("it leads from {:?} back to itself", self.nodes[a].label);
                warnings.add(|| document.problem(origin, what, "it is left out"));
                continue;
            }
            self.check_simple(edge, origin, &mut pairs, document)?;
            let state = Some(self.state(edge, capacity));
            if !edge.directed {
                strands.push(Strand { ends: [a, b], states: [state; 2], origin });
                continue;
            }
            match pairs.partner(edge, strands.len()) {
                Some(place) if strands[place].ends == [b, a] && strands[place].states[1].is_none() => {
                    strands[place].states[1] = state;
                }
                Some(_) => {
                    let what = format!("there is an edge with the key {} already", key_text(edge));
                    return Err(document.problem(origin, what, "give each parallel edge its own"));
                }
                None => strands.push(Strand { ends: [a, b], states: [state, None], origin }),
            }
        }
        Ok(strands)
    }

    fn check_simple(
        &self,
        edge: &Edge,
        origin: Origin,
        pairs: &mut Pairs,
        document: &impl Document,
    ) -> Result<(), ImportProblem> {
        let [a, b] = edge.ends;
        let ends = if edge.directed { (a, b) } else { (a.min(b), a.max(b)) };
        if !self.simple || pairs.seen.insert(ends) {
            return Ok(());
        }
        let [a, b] = [a, b].map(|end| &self.nodes[end].label);
        let what = format!("{a:?} and {b:?} are joined already, and this is no multigraph");
        let remedy = "for parallel links set \"multigraph\" to true, for two directions \"directed\"";
        Err(document.problem(origin, what, remedy))
    }

    fn state(&self, edge: &Edge, capacity: BitsPerSec) -> LinkState {
        let delay = edge.delay.or_else(|| self.fibre_delay(edge));
        LinkState { delay, ..LinkState::of_capacity(edge.capacity.unwrap_or(capacity)) }
    }

    fn fibre_delay(&self, edge: &Edge) -> Option<Duration> {
        let [a, b] = edge.ends.map(|end| self.nodes[end].position);
        Some(a?.fibre_delay_to(b?))
    }

    fn warn_of_gaps(&self, document: &impl Document, capacity: BitsPerSec, warnings: &mut Warnings) {
        let summary = |what, remedy| ImportProblem::new(document.file(), None, "", what, remedy);
        let of = self.edges.len();
        let unknown = self.edges.iter().filter(|edge| edge.capacity.is_none()).count();
        if unknown > 0 {
            let what = format!("{unknown} of {of} edges say nothing of their capacity");
            warnings.add(|| summary(what, format!("{capacity} is assumed")));
        }
        // Hosts are near their switch.
        let far = |edge: &&Edge| edge.ends.iter().all(|end| !self.nodes[*end].host);
        let of = self.edges.iter().filter(far).count();
        let without = |edge: &&Edge| edge.delay.is_none() && self.fibre_delay(edge).is_none();
        let unknown = self.edges.iter().filter(far).filter(without).count();
        let lost = self.nodes.iter().find(|node| node.position.is_none() && !node.host);
        if let Some(lost) = lost.filter(|_| unknown > 0 && unknown < of) {
            let what = format!(
                "{unknown} of {of} edges between switches have no delay and an end without a position"
            );
            let remedy =
                format!("give positions, such as that of {:?}; until then the delay is unknown", lost.label);
            warnings.add(|| summary(what, remedy));
        }
    }

    /// A unique name for each node.
    fn names(&self, document: &impl Document, warnings: &mut Warnings) -> Vec<String> {
        let mut unique = Names::new(self.nodes.iter().map(|node| node.label.as_str()));
        let mut names = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let name = unique.unique(&node.label);
            if name != node.label {
                let what = format!("the label {:?} is given again", node.label);
                let remedy = format!("it is called {name:?}");
                warnings.add(|| document.problem(Origin::Node(index), what, &remedy));
            }
            names.push(name);
        }
        names
    }
}

/// Matches the two directed edges of a link by ends and key, or by ends and order.
#[derive(Default)]
struct Pairs {
    seen: BTreeSet<(usize, usize)>,
    /// The number of edges without a key from one node to another.
    count: BTreeMap<(usize, usize), usize>,
    open: BTreeMap<(usize, usize, Key), usize>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Given(String),
    Nth(usize),
}

impl Pairs {
    /// The index of this edge's strand; a new strand gets `next`.
    fn partner(&mut self, edge: &Edge, next: usize) -> Option<usize> {
        let [a, b] = edge.ends;
        let key = match &edge.key {
            Some(key) => Key::Given(key.clone()),
            None => {
                let count = self.count.entry((a, b)).or_default();
                *count += 1;
                Key::Nth(*count)
            }
        };
        let place = *self.open.entry((a.min(b), a.max(b), key)).or_insert(next);
        (place != next).then_some(place)
    }
}

fn key_text(edge: &Edge) -> &str {
    edge.key.as_deref().unwrap_or("of its place")
}

/// Adds the nodes that are switches. Returns the index of each, `None` for hosts.
fn add_switches(
    builder: &mut Builder,
    nodes: Vec<Node>,
    names: &[String],
    document: &impl Document,
) -> Result<Vec<Option<usize>>, ImportProblem> {
    let mut indices = Vec::with_capacity(nodes.len());
    for (index, (node, name)) in nodes.into_iter().zip(names).enumerate() {
        let Node { host, dpid, position, group, .. } = node;
        let new = NewSwitch { name: name.clone(), dpid, position, group };
        let switch = (!host).then(|| builder.switch(new)).transpose();
        indices.push(switch.map_err(|error| refuse(document, Origin::Node(index), &error))?);
    }
    Ok(indices)
}

/// Adds a link between switches; a link to a host is returned with the host's node index.
fn attach(
    builder: &mut Builder,
    indices: &[Option<usize>],
    strand: Strand,
    document: &impl Document,
) -> Result<Option<(usize, NewInterface)>, ImportProblem> {
    let Strand { ends: [a, b], states, origin } = strand;
    let [there, back] = states;
    match (indices[a], indices[b]) {
        (Some(a), Some(b)) => {
            let laid = builder.directed_link([a.into(), b.into()], states);
            laid.map(|()| None).map_err(|error| refuse(document, origin, &error))
        }
        (None, Some(switch)) => Ok(Some((a, interface(switch, [there, back])))),
        (Some(switch), None) => Ok(Some((b, interface(switch, [back, there])))),
        (None, None) => Err(document.problem(origin, "it joins two hosts", "put a switch between them")),
    }
}

fn add_hosts(
    builder: &mut Builder,
    indices: &[Option<usize>],
    names: &[String],
    mut interfaces: BTreeMap<usize, Vec<NewInterface>>,
    document: &impl Document,
    warnings: &mut Warnings,
) -> Result<(), ImportProblem> {
    for (index, name) in names.iter().enumerate().filter(|(index, _)| indices[*index].is_none()) {
        let origin = Origin::Node(index);
        match interfaces.remove(&index) {
            Some(interfaces) => {
                let added = builder.host_with(name.clone(), interfaces);
                added.map_err(|error| refuse(document, origin, &error))?;
            }
            None => {
                let what = format!("the host {name:?} is attached to nothing");
                warnings.add(|| document.problem(origin, what, "it is left out"));
            }
        }
    }
    Ok(())
}

/// The states of a host link; a missing direction has the state of the other one.
fn interface(switch: usize, [sends, receives]: [Option<LinkState>; 2]) -> NewInterface {
    let either = sends.or(receives).unwrap_or_default();
    let states = [sends.unwrap_or(either), receives.unwrap_or(either)];
    NewInterface { plug: Plug::from(switch), states }
}

fn refuse(document: &impl Document, origin: Origin, error: &BlueprintError) -> ImportProblem {
    document.problem(origin, error.to_string(), remedy(error))
}
