//! Deserialisation of node-link JSON with bounds, where every problem has its location.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Id, RawEdge, Sheet};
use crate::blueprint::{MAX_HOSTS, MAX_LINKS, MAX_SWITCHES};
use crate::import::attributes::{EdgeAttributes, NodeAttributes, REMEDY};
use crate::import::document::{Items, Refusals, Scalar};
use crate::import::names;

const NODE_LINK: &str = "write the graph with networkx.node_link_data";

/// Reads the document.
pub(super) struct Graph<'a> {
    pub(super) refusals: &'a Refusals,
}

impl<'de> DeserializeSeed<'de> for Graph<'_> {
    type Value = Sheet;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Sheet, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Graph<'_> {
    type Value = Sheet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with nodes and links")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Sheet, A::Error> {
        let refusals = self.refusals;
        let (mut nodes, mut edges): (_, Option<(&'static str, _)>) = (None, None);
        let (mut name, mut directed, mut multigraph) = (None, None, None);
        while let Some(key) = object.next_key::<String>()? {
            let twice = || refusals.refuse(key.clone(), "it is there twice", "leave one out");
            match key.as_str() {
                "nodes" if nodes.is_some() => return Err(twice()),
                "nodes" => nodes = Some(object.next_value_seed(node_items(refusals))?),
                "links" | "edges" if edges.is_some() => {
                    let remedy = "leave out links or edges: they are the same list";
                    return Err(refusals.refuse(key, "there is a list of edges already", remedy));
                }
                "links" => edges = Some(("links", object.next_value_seed(edge_items("links", refusals))?)),
                "edges" => edges = Some(("edges", object.next_value_seed(edge_items("edges", refusals))?)),
                "directed" => directed = object.next_value::<Option<bool>>()?,
                "multigraph" => multigraph = object.next_value::<Option<bool>>()?,
                "graph" => name = object.next_value_seed(Name)?,
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        let missing =
            |name: &str, of| refusals.refuse(name.to_owned(), format!("there is no list of {of}"), NODE_LINK);
        let nodes = nodes.ok_or_else(|| missing("nodes", "nodes"))?;
        let (edges_are, edges) = edges.ok_or_else(|| missing("links", "edges"))?;
        let (directed, simple) = (directed.unwrap_or(false), multigraph == Some(false));
        Ok(Sheet { name, directed, simple, nodes, edges, edges_are })
    }
}

fn node_items<'a>(refusals: &'a Refusals) -> Items<'a, impl Fn(usize) -> NodeItem<'a>> {
    let limit = MAX_SWITCHES + MAX_HOSTS;
    Items { name: "nodes", limit, refusals, item: move |index| NodeItem { index, refusals } }
}

fn edge_items<'a>(list: &'static str, refusals: &'a Refusals) -> Items<'a, impl Fn(usize) -> EdgeItem<'a>> {
    // Two directions for each link.
    let limit = 2 * (MAX_LINKS + MAX_HOSTS);
    Items { name: list, limit, refusals, item: move |index| EdgeItem { list, index, refusals } }
}

/// Reads a node.
struct NodeItem<'a> {
    index: usize,
    refusals: &'a Refusals,
}

/// Reads an edge.
struct EdgeItem<'a> {
    list: &'static str,
    index: usize,
    refusals: &'a Refusals,
}

impl<'de> DeserializeSeed<'de> for NodeItem<'_> {
    type Value = (Id, NodeAttributes);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for NodeItem<'_> {
    type Value = (Id, NodeAttributes);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object as nodes[{}]", self.index)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let place = |key: &str| format!("nodes[{}].{key}", self.index);
        let (mut id, mut attributes) = (None, NodeAttributes::default());
        while let Some(key) = object.next_key::<String>()? {
            let value = object.next_value::<Scalar>()?;
            let set = match key.as_str() {
                "id" => Id::try_from(value).map(|value| id = Some(value)),
                _ => attributes.set(&key, &value),
            };
            set.map_err(|what| self.refusals.refuse(place(&key), what, REMEDY))?;
        }
        let missing = || self.refusals.refuse(place("id"), "it is missing", "give the node an id");
        Ok((id.ok_or_else(missing)?, attributes))
    }
}

impl<'de> DeserializeSeed<'de> for EdgeItem<'_> {
    type Value = RawEdge;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawEdge, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EdgeItem<'_> {
    type Value = RawEdge;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object as {}[{}]", self.list, self.index)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<RawEdge, A::Error> {
        let place = |key: &str| format!("{}[{}].{key}", self.list, self.index);
        let (mut source, mut target, mut edge_key) = (None, None, None);
        let mut attributes = EdgeAttributes::default();
        while let Some(key) = object.next_key::<String>()? {
            let value = object.next_value::<Scalar>()?;
            let set = match key.as_str() {
                "source" => Id::try_from(value).map(|id| source = Some(id)),
                "target" => Id::try_from(value).map(|id| target = Some(id)),
                "key" if value == Scalar::Null => Ok(()),
                "key" => Id::try_from(value).map(|id| edge_key = Some(id)),
                _ => attributes.set(&key, &value),
            };
            set.map_err(|what| self.refusals.refuse(place(&key), what, REMEDY))?;
        }
        let missing = |key| self.refusals.refuse(place(key), "it is missing", "name the node by its id");
        let ends = [source.ok_or_else(|| missing("source"))?, target.ok_or_else(|| missing("target"))?];
        Ok(RawEdge { ends, key: edge_key, attributes })
    }
}

/// Reads the name in the attributes of a graph, which NetworkX writes as an object or as a list of pairs.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the attributes of the graph")
    }

    fn visit_unit<E>(self) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<String>, A::Error> {
        let mut name = None;
        while let Some(key) = object.next_key::<String>()? {
            match (key.as_str(), object.next_value::<Scalar>()?) {
                ("name" | "Network" | "label", Scalar::Text(text)) if name.is_none() => {
                    name = names::tidy(&text);
                }
                _ => {}
            }
        }
        Ok(name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Option<String>, A::Error> {
        while pairs.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}
