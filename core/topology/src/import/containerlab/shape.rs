//! Deserialisation of containerlab's files with bounds. What Braid has no use for is ignored.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use crate::blueprint::{MAX_HOSTS, MAX_LINKS, MAX_SWITCHES};
use crate::import::document::{Scalar, at_most};

/// A topology file.
#[derive(Deserialize)]
pub(super) struct File {
    pub(super) name: Option<String>,
    pub(super) topology: Topology,
}

#[derive(Deserialize)]
pub(super) struct Topology {
    #[serde(default)]
    pub(super) defaults: Properties,
    #[serde(default)]
    pub(super) kinds: BTreeMap<String, Properties>,
    #[serde(default)]
    pub(super) groups: BTreeMap<String, Properties>,
    pub(super) nodes: Nodes,
    #[serde(default)]
    pub(super) links: Links,
}

/// The properties of a node, or of all of a group or kind.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Properties {
    pub(super) kind: Option<String>,
    pub(super) group: Option<String>,
    pub(super) labels: BTreeMap<String, Scalar>,
}

/// The nodes in their order, with the places of their properties.
pub(super) struct Nodes(pub(super) Vec<(String, Location, Properties)>);

#[derive(Deserialize, Default)]
pub(super) struct Links(
    #[serde(deserialize_with = "at_most::<{ MAX_LINKS + MAX_HOSTS }, _, _>")] pub(super) Vec<Spanned<Link>>,
);

/// A link in the brief form, with `endpoints` alone, or in the extended one.
#[derive(Deserialize)]
pub(super) struct Link {
    #[serde(default)]
    pub(super) endpoints: Vec<Endpoint>,
    /// The only end of a link that leads out of the lab.
    pub(super) endpoint: Option<IgnoredAny>,
    #[serde(default)]
    pub(super) vars: BTreeMap<String, Scalar>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, Scalar>,
}

/// `node:interface`, or an object with both.
pub(super) struct Endpoint {
    pub(super) node: String,
}

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NodeVisitor(PhantomData))
    }
}

struct NodeVisitor(PhantomData<()>);

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Nodes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of nodes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Nodes, A::Error> {
        let mut nodes = Vec::new();
        while let Some((name, properties)) = object.next_entry::<String, Spanned<Option<Properties>>>()? {
            if nodes.len() == MAX_SWITCHES + MAX_HOSTS {
                return Err(Error::invalid_length(nodes.len() + 1, &self));
            }
            nodes.push((name, properties.defined, properties.value.unwrap_or_default()));
        }
        Ok(Nodes(nodes))
    }
}

impl<'de> Deserialize<'de> for Endpoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EndpointVisitor)
    }
}

struct EndpointVisitor;

impl<'de> Visitor<'de> for EndpointVisitor {
    type Value = Endpoint;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an endpoint such as \"node:eth1\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Endpoint, E> {
        let (node, interface) = text.split_once(':').unwrap_or((text, ""));
        if interface.is_empty() {
            return Err(E::custom(format!("{text:?} is not an endpoint: write it as \"node:eth1\"")));
        }
        Ok(Endpoint { node: node.to_owned() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Endpoint, A::Error> {
        let mut node = None;
        while let Some(key) = object.next_key::<String>()? {
            match key.as_str() {
                "node" => node = Some(object.next_value()?),
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        node.map(|node| Endpoint { node }).ok_or_else(|| A::Error::missing_field("node"))
    }
}
