//! GraphML attribute keys: their names, domains and defaults.

use std::borrow::Cow;
use std::collections::BTreeMap;

use roxmltree::Node as Element;

use super::children;
use crate::import::attributes::is_known;

/// The longest default value in bytes; longer ones are ignored, since each is read again for every node or edge.
const MAX_DEFAULT: usize = 256;

/// The kind of element that an attribute belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Domain {
    Graph,
    Node,
    Edge,
}

/// The `key` elements by id.
pub(super) struct Keys<'a> {
    by_id: BTreeMap<&'a str, &'a str>,
    // Known attributes only, since each is read for every node or edge.
    defaults: BTreeMap<(Domain, &'a str), Element<'a, 'a>>,
}

impl<'a> Keys<'a> {
    /// The `key` elements of a document; those without an id are ignored.
    pub(super) fn read(root: Element<'a, 'a>) -> Self {
        let mut keys = Self { by_id: BTreeMap::new(), defaults: BTreeMap::new() };
        for key in children(root, "key") {
            let Some(id) = key.attribute("id") else { continue };
            let name = key.attribute("attr.name").unwrap_or(id);
            keys.by_id.insert(id, name);
            let default = children(key, "default").next().filter(|_| is_known(name));
            if let Some(default) = default.filter(|default| text(*default).len() <= MAX_DEFAULT) {
                let domains = domains(key.attribute("for")).iter();
                keys.defaults.extend(domains.map(|domain| ((*domain, name), default)));
            }
        }
        keys
    }

    /// Name, value and location of each attribute of an element; defaults come first, so that explicit values override them.
    pub(super) fn values(
        &self,
        element: Element<'a, 'a>,
        domain: Domain,
    ) -> impl Iterator<Item = (&'a str, Cow<'a, str>, Element<'a, 'a>)> {
        let defaults = self.defaults.range((domain, "")..).take_while(move |((of, _), _)| *of == domain);
        let defaults = defaults.map(|((_, name), default)| (*name, *default));
        let data = children(element, "data");
        let data = data.filter_map(|data| Some((*self.by_id.get(data.attribute("key")?)?, data)));
        defaults.chain(data).map(|(name, element)| (name, text(element), element))
    }
}

fn domains(text: Option<&str>) -> &'static [Domain] {
    match text {
        Some("graph") => &[Domain::Graph],
        Some("node") => &[Domain::Node],
        Some("edge") => &[Domain::Edge],
        None | Some("all") => &[Domain::Graph, Domain::Node, Domain::Edge],
        Some(_) => &[],
    }
}

/// The text of an element, which comments may interrupt.
fn text<'a>(element: Element<'a, 'a>) -> Cow<'a, str> {
    let mut pieces = element.children().filter_map(|child| child.text().filter(|_| child.is_text()));
    let first = Cow::Borrowed(pieces.next().unwrap_or_default());
    pieces.fold(first, |text, piece| text + piece)
}
