//! Import of GraphML from the Internet Topology Zoo and NetworkX.

mod guard;
mod keys;

use std::collections::BTreeMap;

use braid_types::BitsPerSec;
use roxmltree::{Document as Tree, Node as Element, ParsingOptions};

use self::keys::{Domain, Keys};
use super::attributes::{EdgeAttributes, NodeAttributes};
use super::draft::{Document, Draft, Edge, Node, Origin};
use super::{ImportProblem, Imported, check_size, names};

/// Elements and pieces of text; the largest blueprint with a dozen values for each node has fewer.
const MAX_ELEMENTS: u32 = 8_000_000;

/// Reads GraphML as the Internet Topology Zoo and NetworkX write it.
///
/// Attributes are known by their `attr.name`; `default`s count. `label` (or `name`) is what a node is called, else its
/// id; equal labels are numbered. `Latitude` and `Longitude` say where it is. The capacity of an edge is, of these, the
/// first that there is: `capacity` (or `bandwidth`, `rate`), `LinkSpeedRaw` in bit/s, `LinkSpeed` in `LinkSpeedUnits`, a
/// rate as `LinkLabel`. Its delay is `delay` (or `latency`), or that of a straight fibre between the positions of its ends.
/// What else [`node_link`](super::node_link()) knows is known here too. Parallel edges stay apart. Directed edges in opposite
/// directions make one link, in their order. The Zoo's nodes that stand for a shared medium (`hyperedge`) become switches.
/// Ports are ignored. Self-loops are skipped with a warning; hyperedge elements, nested and further graphs, and
/// document type definitions are refused.
///
/// # Errors
///
/// [`ImportProblem`] for what is not such GraphML or no network.
pub fn graphml(text: &str, file: &str, capacity: BitsPerSec) -> Result<Imported, ImportProblem> {
    check_size(text, file)?;
    guard::check(text, file)?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_ELEMENTS, ..ParsingOptions::default() };
    let tree = Tree::parse_with_options(text, options).map_err(|error| malformed(text, file, &error))?;
    let graph = Graph::find(&tree, file)?;
    graph.draft()?.assemble(&graph, capacity)
}

fn malformed(text: &str, file: &str, error: &roxmltree::Error) -> ImportProblem {
    let place = error.pos();
    let place = Some((place.row as usize, place.col as usize));
    let (remedy, at) = match error {
        roxmltree::Error::DtdDetected => ("leave out the document type definition", None),
        roxmltree::Error::NodesLimitReached => ("leave out what is not needed of the attributes", None),
        roxmltree::Error::UnexpectedEndOfStream | roxmltree::Error::UnclosedRootNode => {
            ("the document is cut off: get the whole of it", Some(guard::line_and_column(text, text.len())))
        }
        _ => ("it must be XML", place),
    };
    ImportProblem::new(file, at, "", error.to_string(), remedy)
}

/// The one graph of a document.
struct Graph<'a> {
    file: &'a str,
    tree: &'a Tree<'a>,
    element: Element<'a, 'a>,
    keys: Keys<'a>,
    nodes: Vec<Element<'a, 'a>>,
    edges: Vec<Element<'a, 'a>>,
}

impl<'a> Graph<'a> {
    fn find(tree: &'a Tree<'a>, file: &'a str) -> Result<Self, ImportProblem> {
        let root = tree.root_element();
        let at = |element: Element<'_, '_>, what: &str, remedy: &str| {
            Err(ImportProblem::new(file, Some(place(tree, element)), describe(element), what, remedy))
        };
        if root.tag_name().name() != "graphml" {
            return at(root, "it is not a graphml element", "give a GraphML document");
        }
        let mut graphs = children(root, "graph");
        let Some(element) = graphs.next() else {
            return at(root, "it has no graph", "give a document with one graph");
        };
        if let Some(second) = graphs.next() {
            return at(second, "there is a graph before it", "give a document with one graph");
        }
        if let Some(hyperedge) = children(element, "hyperedge").next() {
            return at(hyperedge, "hyperedges are not read", "make it a node with an edge to each end");
        }
        let nodes: Vec<_> = children(element, "node").collect();
        let edges = children(element, "edge").collect();
        match nodes.iter().find_map(|node| children(*node, "graph").next()) {
            Some(nested) => at(nested, "nested graphs are not read", "give a document with one graph"),
            None => Ok(Self { file, tree, element, keys: Keys::read(root), nodes, edges }),
        }
    }

    fn draft(&self) -> Result<Draft, ImportProblem> {
        let places = self.places()?;
        let nodes = self.nodes.iter().map(|node| self.node(*node)).collect::<Result<_, _>>()?;
        let edges = self.edges.iter().map(|edge| self.edge(*edge, &places)).collect::<Result<_, _>>()?;
        let name = self.name().unwrap_or_else(|| self.file.to_owned());
        Ok(Draft { name, nodes, edges, simple: false })
    }

    fn name(&self) -> Option<String> {
        let values: BTreeMap<_, _> =
            self.keys.values(self.element, Domain::Graph).map(|(key, text, _)| (key, text)).collect();
        let name = ["Network", "name", "label"].into_iter().find_map(|key| names::tidy(values.get(key)?));
        name.or_else(|| names::tidy(self.element.attribute("id")?))
    }

    fn places(&self) -> Result<BTreeMap<&'a str, usize>, ImportProblem> {
        let mut places = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let id = self.required(*node, "id")?;
            if places.insert(id, index).is_some() {
                let what = "there is a node with this id already";
                return Err(self.refuse(*node, what, "give each node its own"));
            }
        }
        Ok(places)
    }

    fn node(&self, element: Element<'a, 'a>) -> Result<Node, ImportProblem> {
        let mut attributes = NodeAttributes::default();
        for (name, text, at) in self.keys.values(element, Domain::Node) {
            attributes.set(name, &text.into()).map_err(|what| self.bad_value(at, name, what))?;
        }
        let label = attributes.label().or_else(|| names::tidy(element.attribute("id")?));
        let position = attributes.position();
        let NodeAttributes { host, dpid, group, .. } = attributes;
        let label = label.unwrap_or_else(|| "unnamed".to_owned());
        Ok(Node { label, host, dpid, position, group })
    }

    fn edge(&self, element: Element<'a, 'a>, places: &BTreeMap<&str, usize>) -> Result<Edge, ImportProblem> {
        let end = |name| {
            let id = self.required(element, name)?;
            let unknown =
                || self.refuse(element, format!("there is no node {id:?}"), "add it, or mend the id");
            places.get(id).copied().ok_or_else(unknown)
        };
        let ends = [end("source")?, end("target")?];
        let mut attributes = EdgeAttributes::default();
        for (name, text, at) in self.keys.values(element, Domain::Edge) {
            attributes.set(name, &text.into()).map_err(|what| self.bad_value(at, name, what))?;
        }
        let (capacity, delay) = (attributes.capacity(), attributes.delay);
        Ok(Edge { ends, directed: self.is_directed(element)?, key: None, capacity, delay })
    }

    fn is_directed(&self, edge: Element<'_, '_>) -> Result<bool, ImportProblem> {
        let own = edge.attribute("directed").map(|text| (edge, text));
        let default = || Some((self.element, self.element.attribute("edgedefault")?));
        match own.or_else(default) {
            Some((_, "true" | "1" | "directed")) => Ok(true),
            None | Some((_, "false" | "0" | "undirected")) => Ok(false),
            Some((at, other)) => {
                let what = format!("{other:?} is no direction");
                let remedy =
                    "write edgedefault=\"directed\" or \"undirected\", directed=\"true\" or \"false\"";
                Err(self.refuse(at, what, remedy))
            }
        }
    }

    fn required(&self, element: Element<'a, 'a>, name: &str) -> Result<&'a str, ImportProblem> {
        let missing = || self.refuse(element, format!("it has no {name}"), "add the attribute");
        element.attribute(name).ok_or_else(missing)
    }

    fn bad_value(&self, element: Element<'_, '_>, name: &str, what: String) -> ImportProblem {
        let at = Some(place(self.tree, element));
        ImportProblem::new(self.file, at, name, what, super::attributes::REMEDY)
    }

    fn refuse(&self, element: Element<'_, '_>, what: impl Into<String>, remedy: &str) -> ImportProblem {
        ImportProblem::new(self.file, Some(place(self.tree, element)), describe(element), what, remedy)
    }
}

impl Document for Graph<'_> {
    fn file(&self) -> &str {
        self.file
    }

    fn locate(&self, origin: Origin) -> (Option<(usize, usize)>, String) {
        let element = match origin {
            Origin::Node(index) => self.nodes.get(index),
            Origin::Edge(index) => self.edges.get(index),
        };
        element.map_or_else(Default::default, |it| (Some(place(self.tree, *it)), describe(*it)))
    }
}

fn children<'a>(parent: Element<'a, 'a>, name: &'static str) -> impl Iterator<Item = Element<'a, 'a>> {
    parent.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn place(tree: &Tree<'_>, element: Element<'_, '_>) -> (usize, usize) {
    let place = tree.text_pos_at(element.range().start);
    (place.row as usize, place.col as usize)
}

/// The element's description in problems: its name and id.
fn describe(element: Element<'_, '_>) -> String {
    let name = element.tag_name().name();
    let attribute =
        |name| element.attribute(name).map(|text: &str| text.chars().take(64).collect::<String>());
    match (attribute("id"), attribute("source"), attribute("target")) {
        (Some(id), _, _) => format!("{name} {id:?}"),
        (None, Some(source), Some(target)) => format!("{name} from {source:?} to {target:?}"),
        _ => name.to_owned(),
    }
}
