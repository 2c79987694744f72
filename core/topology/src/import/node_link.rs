//! Import of NetworkX node-link JSON.

mod shape;

use std::collections::BTreeMap;
use std::fmt;

use braid_types::BitsPerSec;
use serde::de::DeserializeSeed;

use super::attributes::{EdgeAttributes, NodeAttributes};
use super::document::{Refusals, Scalar};
use super::draft::{Document, Draft, Edge, Node, Origin};
use super::{ImportProblem, Imported, check_size, names};

/// Reads the node-link JSON of NetworkX (`node_link_data`), with `links` or `edges` as the list of edges.
///
/// Ids are text, numbers, truth values or null. A node with `"type": "host"` is a host, others are switches; `label` or
/// `name` is what it is called, else its id; `lat` and `lon` (or `latitude`, …) say where it is, `group` what it belongs
/// to, `dpid` its datapath id. Of an edge count `capacity` (or `bandwidth`, `rate`: bit/s, or text such as `"100Mbit"`)
/// and `delay` (or `latency`: seconds, or text such as `"10ms"`), and the attributes of the Topology Zoo, see
/// [`graphml`](super::graphml()). Without a delay it is that of a straight fibre between the positions. In a directed graph
/// edges in opposite directions with the same key make one link, without keys in their order; an edge without its opposite
/// is a link in one direction. Self-loops and hosts without an edge are skipped, with a warning.
///
/// # Errors
///
/// [`ImportProblem`] for what is not such JSON or no network.
pub fn node_link(text: &str, file: &str, capacity: BitsPerSec) -> Result<Imported, ImportProblem> {
    check_size(text, file)?;
    let refusals = Refusals::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let graph = shape::Graph { refusals: &refusals }.deserialize(&mut json);
    let sheet = graph.and_then(|sheet| json.end().map(|()| sheet));
    let sheet = sheet.map_err(|error| refusals.problem(file, &error))?;
    let document = Json { file, edges: sheet.edges_are };
    sheet.draft(&document)?.assemble(&document, capacity)
}

struct Json<'a> {
    file: &'a str,
    edges: &'static str,
}

impl Document for Json<'_> {
    fn file(&self) -> &str {
        self.file
    }

    fn locate(&self, origin: Origin) -> (Option<(usize, usize)>, String) {
        let place = match origin {
            Origin::Node(index) => format!("nodes[{index}]"),
            Origin::Edge(index) => format!("{}[{index}]", self.edges),
        };
        (None, place)
    }
}

/// The document, with attributes understood and ends not yet looked up.
struct Sheet {
    name: Option<String>,
    directed: bool,
    simple: bool,
    nodes: Vec<(Id, NodeAttributes)>,
    edges: Vec<RawEdge>,
    edges_are: &'static str,
}

struct RawEdge {
    ends: [Id; 2],
    key: Option<Id>,
    attributes: EdgeAttributes,
}

/// The id of a node. Equal numbers are the same id, as in Python.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Null,
    Bool(bool),
    Integer(i128),
    Float(u64),
    Text(String),
}

impl Sheet {
    fn draft(self, document: &Json<'_>) -> Result<Draft, ImportProblem> {
        let places = places(&self.nodes, document)?;
        let mut edges = Vec::with_capacity(self.edges.len());
        for (index, edge) in self.edges.into_iter().enumerate() {
            let [a, b] = edge.ends.each_ref().map(|id| {
                let what = format!("there is no node {id}");
                let missing =
                    || document.problem(Origin::Edge(index), what, "add it to nodes, or mend the id");
                places.get(id).copied().ok_or_else(missing)
            });
            let (capacity, delay) = (edge.attributes.capacity(), edge.attributes.delay);
            let key = edge.key.map(|key| key.to_string());
            edges.push(Edge { ends: [a?, b?], directed: self.directed, key, capacity, delay });
        }
        let nodes = self.nodes.into_iter().map(|(id, attributes)| node(&id, attributes)).collect();
        let name = self.name.unwrap_or_else(|| document.file.to_owned());
        Ok(Draft { name, nodes, edges, simple: self.simple })
    }
}

fn places(nodes: &[(Id, NodeAttributes)], document: &Json<'_>) -> Result<BTreeMap<Id, usize>, ImportProblem> {
    let mut places = BTreeMap::new();
    for (index, (id, _)) in nodes.iter().enumerate() {
        if let Some(first) = places.insert(id.clone(), index) {
            let what = format!("the id {id} is that of nodes[{first}] already");
            return Err(document.problem(Origin::Node(index), what, "give each node its own"));
        }
    }
    Ok(places)
}

fn node(id: &Id, attributes: NodeAttributes) -> Node {
    let named = match id {
        Id::Text(text) => names::tidy(text),
        other => Some(other.to_string()),
    };
    let label = attributes.label().or(named).unwrap_or_else(|| "unnamed".to_owned());
    let position = attributes.position();
    let NodeAttributes { host, dpid, group, .. } = attributes;
    Node { label, host, dpid, position, group }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(bits) => f64::from_bits(*bits).fmt(f),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl TryFrom<Scalar> for Id {
    type Error = String;

    fn try_from(value: Scalar) -> Result<Self, String> {
        Ok(match value {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Integer(value) => Self::Integer(value),
            Scalar::Float(value) if value.fract() == 0.0 && value.abs() < 2_f64.powi(64) => {
                Self::Integer(value as i128)
            }
            Scalar::Float(value) => Self::Float(value.to_bits()),
            Scalar::Text(text) => Self::Text(text),
            Scalar::Other(what) => {
                return Err(format!("{what} is no id: relabel the nodes as text or numbers"));
            }
        })
    }
}
