//! Export to Graphviz DOT.

use std::fmt::{self, Display, Formatter, Write};

use crate::blueprint::{Blueprint, Host, Link, Switch};
use crate::{LinkState, blueprint};

/// The network in DOT for Graphviz, with capacities and delays as link labels: `dot -Tsvg`, `neato -Tsvg`.
///
/// Parallel links are drawn separately. A link with equal directions is a line, others are arrows. Switches are boxes,
/// hosts ellipses and groups clusters.
pub fn dot(network: &Blueprint) -> String {
    Dot(network).to_string()
}

struct Dot<'a>(&'a Blueprint);

impl Display for Dot<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(network) = self;
        writeln!(f, "digraph {} {{", Quoted(network.name()))?;
        writeln!(f, "  node [shape=box]; edge [dir=none];")?;
        for switch in network.switches().iter().filter(|switch| switch.group.is_none()) {
            write_switch(f, "  ", switch)?;
        }
        write_groups(f, network)?;
        for host in network.hosts() {
            writeln!(f, "  {} [shape=ellipse];", Quoted(&host.name))?;
        }
        network.links().iter().try_for_each(|link| write_link(f, network, link))?;
        network.hosts().iter().try_for_each(|host| write_host(f, network, host))?;
        writeln!(f, "}}")
    }
}

fn write_groups(f: &mut Formatter<'_>, network: &Blueprint) -> fmt::Result {
    let mut groups = std::collections::BTreeMap::<_, Vec<_>>::new();
    for switch in network.switches() {
        groups.entry(switch.group.as_deref()).or_default().push(switch);
    }
    let groups = groups.into_iter().filter_map(|(group, switches)| Some((group?, switches)));
    for (number, (group, switches)) in groups.enumerate() {
        writeln!(f, "  subgraph \"cluster_{number}\" {{\n    label={};", Quoted(group))?;
        switches.into_iter().try_for_each(|switch| write_switch(f, "    ", switch))?;
        writeln!(f, "  }}")?;
    }
    Ok(())
}

fn write_switch(f: &mut Formatter<'_>, indent: &str, switch: &Switch) -> fmt::Result {
    writeln!(f, "{indent}{};", Quoted(&switch.name))
}

fn write_link(f: &mut Formatter<'_>, network: &Blueprint, link: &Link) -> fmt::Result {
    let [a, b] = link.ends.map(|end| network.switches()[end.switch].name.as_str());
    write_edge(f, [a, b], link.states)
}

fn write_host(f: &mut Formatter<'_>, network: &Blueprint, host: &Host) -> fmt::Result {
    let switch = |interface: &blueprint::Interface| network.switches()[interface.end.switch].name.as_str();
    let mut interfaces = host.interfaces.iter();
    interfaces.try_for_each(|it| write_edge(f, [&host.name, switch(it)], it.states.map(Some)))
}

fn write_edge(f: &mut Formatter<'_>, [a, b]: [&str; 2], states: [Option<LinkState>; 2]) -> fmt::Result {
    let [there, back] = states;
    if there == back {
        return there.map_or(Ok(()), |state| write_line(f, [a, b], "", state));
    }
    there.map_or(Ok(()), |state| write_line(f, [a, b], ", dir=forward", state))?;
    back.map_or(Ok(()), |state| write_line(f, [b, a], ", dir=forward", state))
}

fn write_line(f: &mut Formatter<'_>, [a, b]: [&str; 2], more: &str, state: LinkState) -> fmt::Result {
    let mut label = state.capacity.to_string();
    if let Some(delay) = state.delay {
        write!(label, "\n{delay:?}")?;
    }
    writeln!(f, "  {} -> {} [label={}{more}];", Quoted(a), Quoted(b), Quoted(&label))
}

/// A text as a quoted ID, in which only the quote has to be escaped; a backslash would begin an escape of a label.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                letter => f.write_char(letter)?,
            }
        }
        f.write_char('"')
    }
}
