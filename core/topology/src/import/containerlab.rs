//! Import of containerlab's topology files (`.clab.yml`).

mod shape;

use std::collections::BTreeMap;

use braid_types::BitsPerSec;
use serde_saphyr::Location;

use self::shape::{Endpoint, File, Link, Properties, Topology};
use super::attributes::{EdgeAttributes, NodeAttributes, REMEDY};
use super::document::Scalar;
use super::draft::{Document, Draft, Edge, Node, Origin};
use super::{ImportProblem, Imported, check_size, names};

/// What an endpoint names beside nodes: the machine that runs the lab, and what it has.
const OUTSIDE: [&str; 6] = ["host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy"];
/// The kinds of nodes that are hosts; others are switches.
const HOSTS: [&str; 4] = ["linux", "host", "ext-container", "k8s-kind"];

/// Reads a topology file of containerlab.
///
/// Nodes of the kinds `linux`, `host`, `ext-container` and `k8s-kind` are hosts, others (bridges and network operating
/// systems) are switches; the label `graph-icon` decides if it is there. Labels say where a node is
/// (`graph-geoCoordinateLat`, `graph-geoCoordinateLng`) and its `dpid`. Of a link count `capacity` and `delay` in its `vars`
/// or `labels`, as in [`node_link`](super::node_link()). Links that lead out of the lab are left out with a warning.
///
/// # Errors
///
/// [`ImportProblem`] for what is no such file or no network.
pub fn containerlab(text: &str, file: &str, capacity: BitsPerSec) -> Result<Imported, ImportProblem> {
    check_size(text, file)?;
    let read: File = serde_saphyr::from_str(text).map_err(|error| malformed(file, &error))?;
    let (draft, document, outside) = draft(read, file)?;
    let of = draft.edges.len() + outside;
    let mut imported = draft.assemble(&document, capacity)?;
    if outside > 0 {
        let what = format!("{outside} of {of} links lead out of the lab");
        imported.warnings.insert(0, ImportProblem::new(file, None, "", what, "they are left out"));
    }
    Ok(imported)
}

fn malformed(file: &str, error: &serde_saphyr::Error) -> ImportProblem {
    let message = error.without_snippet().to_string();
    let what = message.split(" at line ").next().unwrap_or(&message);
    ImportProblem::new(
        file,
        error.location().and_then(place),
        "",
        what,
        "docs/topologies.md says what is read",
    )
}

fn place(location: Location) -> Option<(usize, usize)> {
    let at = (usize::try_from(location.line()).ok()?, usize::try_from(location.column()).ok()?);
    (at.0 > 0).then_some(at)
}

/// The places of nodes and links in the file, as in the draft.
struct Places<'a> {
    file: &'a str,
    nodes: Vec<(Location, String)>,
    links: Vec<(Location, usize)>,
}

impl Document for Places<'_> {
    fn file(&self) -> &str {
        self.file
    }

    fn locate(&self, origin: Origin) -> (Option<(usize, usize)>, String) {
        let (at, name) = match origin {
            Origin::Node(index) => {
                (self.nodes.get(index).map(|it| it.0), self.nodes.get(index).map(|it| it.1.clone()))
            }
            Origin::Edge(index) => {
                let link = self.links.get(index);
                (link.map(|it| it.0), link.map(|it| format!("topology.links[{}]", it.1)))
            }
        };
        (at.and_then(place), name.unwrap_or_default())
    }
}

/// The graph, where its parts are, and how many links lead out of it.
fn draft(read: File, file: &str) -> Result<(Draft, Places<'_>, usize), ImportProblem> {
    let File { name, topology } = read;
    let mut places = Places { file, nodes: Vec::new(), links: Vec::new() };
    let mut by_name = BTreeMap::new();
    let mut nodes = Vec::new();
    for (name, at, properties) in &topology.nodes.0 {
        places.nodes.push((*at, format!("topology.nodes.{name}")));
        let refuse = |what: String| places.problem(Origin::Node(nodes.len()), what, REMEDY);
        nodes.push(topology.node(name, properties).map_err(refuse)?);
        by_name.insert(name.as_str(), nodes.len() - 1);
    }
    let (mut edges, mut outside) = (Vec::new(), 0);
    for (index, link) in topology.links.0.iter().enumerate() {
        places.links.push((link.defined, index));
        let refuse = |what: String| places.problem(Origin::Edge(places.links.len() - 1), what, REMEDY);
        match edge(&link.value, &by_name).map_err(refuse)? {
            Some(edge) => edges.push(edge),
            None => {
                places.links.pop();
                outside += 1;
            }
        }
    }
    let name = name.as_deref().and_then(names::tidy).unwrap_or_else(|| file.to_owned());
    Ok((Draft { name, nodes, edges, simple: false }, places, outside))
}

impl Topology {
    fn node(&self, name: &str, own: &Properties) -> Result<Node, String> {
        let label = |key: &str| self.inherited(own, |it| it.labels.get(key));
        let mut attributes = NodeAttributes::default();
        let keys = [("graph-geoCoordinateLat", "lat"), ("graph-geoCoordinateLng", "lon"), ("dpid", "dpid")];
        for (key, attribute) in keys {
            let Some(value) = label(key) else { continue };
            attributes.set(attribute, value).map_err(|what| format!("the label {key}: {what}"))?;
        }
        let icon = label("graph-icon").map(Scalar::to_string);
        let kind = self.inherited(own, |it| it.kind.as_deref()).unwrap_or_default();
        let host = icon.map_or_else(
            || HOSTS.contains(&kind),
            |icon| ["host", "server", "client"].contains(&icon.as_str()),
        );
        let group = own.group.as_deref().and_then(names::tidy);
        let position = attributes.position();
        let label = names::tidy(name).ok_or("it has no name")?;
        Ok(Node { label, host, dpid: attributes.dpid, position, group })
    }

    /// A property of a node: its own, that of its group, its kind or the defaults, as containerlab has it.
    fn inherited<'a, T: 'a>(
        &'a self,
        own: &'a Properties,
        property: impl Fn(&'a Properties) -> Option<T>,
    ) -> Option<T> {
        let group = own.group.as_ref().and_then(|group| self.groups.get(group));
        let kind =
            [Some(own), group, Some(&self.defaults)].into_iter().flatten().find_map(|it| it.kind.as_ref());
        let of_kind = kind.and_then(|kind| self.kinds.get(kind));
        [Some(own), group, of_kind, Some(&self.defaults)].into_iter().flatten().find_map(property)
    }
}

/// The edge of a link; `None` for one that leads out of the lab.
fn edge(link: &Link, by_name: &BTreeMap<&str, usize>) -> Result<Option<Edge>, String> {
    let [a, b] = link.endpoints.as_slice() else {
        return match link.endpoint {
            Some(_) => Ok(None),
            None => Err(format!("it has {} endpoints, and a link has two", link.endpoints.len())),
        };
    };
    let [Some(a), Some(b)] = [end(a, by_name)?, end(b, by_name)?] else { return Ok(None) };
    let mut attributes = EdgeAttributes::default();
    for (key, value) in link.labels.iter().chain(&link.vars) {
        attributes.set(key, value).map_err(|what| format!("{key}: {what}"))?;
    }
    let (capacity, delay) = (attributes.capacity(), attributes.delay);
    Ok(Some(Edge { ends: [a, b], directed: false, key: None, capacity, delay }))
}

fn end(endpoint: &Endpoint, by_name: &BTreeMap<&str, usize>) -> Result<Option<usize>, String> {
    let name = endpoint.node.as_str();
    match by_name.get(name) {
        Some(index) => Ok(Some(*index)),
        None if OUTSIDE.contains(&name) => Ok(None),
        None => Err(format!("there is no node {name:?}")),
    }
}
