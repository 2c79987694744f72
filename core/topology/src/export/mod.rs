//! Networks as text: Braid's own JSON, NetworkX's node-link JSON, and Graphviz's DOT.

mod dot;
mod node_link;

use serde::Serialize;

use crate::Blueprint;
use crate::format::{self, SCHEMA};

pub use crate::format::schema as json_schema;
pub use dot::dot;
pub use node_link::node_link;

/// The network in Braid's own JSON, described in `docs/topologies.md`, with a line for each switch, host and link.
///
/// Delays are whole nanoseconds, below 584 years. [`import::braid`](crate::import::braid) gives the same network again.
pub fn json(network: &Blueprint) -> String {
    let switches = lines(network.switches().iter().map(format::switch));
    let hosts = lines(network.hosts().iter().map(|host| format::host(network, host)));
    let links = lines(network.links().iter().map(|link| format::link(network, link)));
    let [schema, name] = [SCHEMA, network.name()].map(|text| value(&text));
    format!(
        "{{\"schema\":{schema},\"topology\":{{\"name\":{name},\n\"switches\":{switches},\n\
         \"hosts\":{hosts},\n\"links\":{links}}}}}\n"
    )
}

/// A list with a line for each item.
fn lines(items: impl Iterator<Item = impl Serialize>) -> String {
    let mut list = String::from("[");
    for item in items {
        list.push_str(if list.len() > 1 { ",\n" } else { "\n" });
        list.push_str(&value(&item));
    }
    list.push_str(if list.len() > 1 { "\n]" } else { "]" });
    list
}

/// A value on one line; structures of text and numbers are always written.
fn value(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| unreachable!("{error}"))
}
