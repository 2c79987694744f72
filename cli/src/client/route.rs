//! Routes of streams in words, with ports where links are parallel.

use std::collections::{BTreeMap, BTreeSet};

use braid_api::Stream;
use braid_types::{DatapathId, SwitchPort};

use super::format;

/// The routes of streams as text: their switches, with ports where other streams take parallel links between these.
pub(crate) struct Routes<'a>(BTreeMap<&'a [DatapathId], BTreeSet<&'a [SwitchPort]>>);

impl<'a> Routes<'a> {
    pub(crate) fn of(streams: impl IntoIterator<Item = &'a Stream>) -> Self {
        let mut routes = Self(BTreeMap::new());
        for stream in streams {
            routes.0.entry(&stream.path).or_default().insert(&stream.ports);
        }
        routes
    }

    /// The hops of a stream.
    pub(crate) fn hops(&self, stream: &Stream) -> Vec<String> {
        let is_one_of_several = self.0.get(stream.path.as_slice()).is_some_and(|ports| ports.len() > 1);
        let ports =
            stream.ports.iter().filter(|_| is_one_of_several).map(Some).chain(std::iter::repeat(None));
        let hop = |(switch, port): (String, Option<&SwitchPort>)| match port {
            Some(at) => format!("{switch}:{}", at.port),
            None => switch,
        };
        format::path(&stream.path_names, &stream.path).into_iter().zip(ports).map(hop).collect()
    }
}
