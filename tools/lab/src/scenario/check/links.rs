//! Checks of switches and links: unique datapath ids, known ends, one link per interface.

use std::collections::BTreeMap;

use braid_topology::blueprint::Position;
use braid_types::DatapathId;

use super::super::file::{self, Topology};
use super::super::problem::Problems;
use super::super::sites::is_line;
use super::super::{End, Link, Switch};
use super::directions;
use super::names::Unique;
use crate::scenario::spanned::Spanned;

/// Checks switches and assigns datapath ids.
pub(super) fn switches(topology: &Topology, problems: &mut Problems) -> Vec<Switch> {
    let mut unique = Unique::new("datapath ids");
    let mut switches = Vec::new();
    for (index, switch) in topology.switches.iter().enumerate() {
        let (key, at) = (topology.switch_key(index), switch.0.referenced);
        let (name, given) = switch.parts();
        let dpid = match given {
            None => DatapathId(index as u64 + 1),
            Some(Ok(dpid)) => dpid,
            Some(Err(error)) => {
                problems.add(at, &key, error.to_string(), "write the switch as NAME or NAME@DATAPATH-ID");
                continue;
            }
        };
        if dpid == DatapathId(0) {
            problems.add(at, &key, "the datapath id is zero", "count from 1");
        }
        unique.add(&dpid.to_string(), at, &key, problems);
        switches.push(Switch {
            name: name.to_owned(),
            dpid,
            edge: index >= topology.ordinary,
            place: topology.locations.get(name).map(|it| it.value),
            group: topology.groups.get(name).cloned(),
        });
    }
    check_places(topology, &switches, problems);
    switches
}

/// Checks the positions of switches.
fn check_places(topology: &Topology, switches: &[Switch], problems: &mut Problems) {
    for (name, place) in &topology.locations {
        let (at, key) = (place.referenced, format!("topology.locations.{name}"));
        let [latitude, longitude] = place.value;
        if Position::new(latitude, longitude).is_none() {
            let what = format!("{latitude}, {longitude} is no place on Earth");
            problems.add(at, &key, what, "write [LATITUDE, LONGITUDE], from -90 to 90 and from -180 to 180");
        }
        if !switches.iter().any(|switch| switch.name == *name) {
            problems.add(at, &key, format!("there is no switch {name}"), "name one of switches: or edges:");
        }
    }
}

/// Checks that links join existing ends, and that every interface has exactly one.
pub(super) fn check(topology: &Topology, problems: &mut Problems) -> Vec<Link> {
    let ends = Ends::of(topology);
    let mut linked = Unique::new("interfaces with a link");
    let mut links = Vec::new();
    for (index, link) in topology.links.iter().enumerate() {
        let key = format!("topology.links[{index}]");
        links.extend(check_link(link, &key, &ends, &mut linked, problems));
    }
    every_interface_has_a_link(topology, problems);
    links
}

fn check_link(
    link: &Spanned<file::Link>,
    key: &str,
    ends: &Ends<'_>,
    linked: &mut Unique,
    problems: &mut Problems,
) -> Option<Link> {
    let (directions, emulated) = directions::check(link, key, problems);
    let [a, b] = link.value.between.as_slice() else {
        let what = format!("a link has two ends, not {}", link.value.between.len());
        problems.add(link.referenced, format!("{key}.between"), what, "write between: [A, B]");
        return None;
    };
    let from = ends.find(a, &format!("{key}.between[0]"), linked, problems);
    let to = ends.find(b, &format!("{key}.between[1]"), linked, problems);
    let joined = [from?, to?];
    check_ends(joined, (b, &format!("{key}.between[1]")), ends, problems);
    let line = joined.into_iter().all(|end| ends.is_line(end));
    let tunnel = link.value.tunnel.as_ref().map(|it| it.referenced);
    if let Some(at) = tunnel.filter(|_| !joined.into_iter().all(|end| ends.is_bridge(end))) {
        let what = "only bridges of Open vSwitch have such tunnels";
        problems.add(at, format!("{key}.tunnel"), what, "remove it, or let the link join two of switches:");
    }
    let emulated = emulated || line;
    Some(Link { ends: joined, directions, emulated, line, uplink: Vec::new(), tunnel: tunnel.is_some() })
}

fn check_ends(
    joined: [End; 2],
    (second, key): (&Spanned<String>, &str),
    ends: &Ends<'_>,
    problems: &mut Problems,
) {
    match joined {
        [End::Switch(a), End::Switch(b)] if a == b => {
            let what = format!("{:?} is joined to itself", second.value);
            problems.add(second.referenced, key, what, "name another switch");
        }
        [a @ End::Host { .. }, b @ End::Host { .. }]
            if ends.is_box(a) && ends.is_box(b) && !(ends.is_line(a) && ends.is_line(b)) =>
        {
            let what = "a line joins two sites";
            problems.add(second.referenced, key, what, "name both sites without an interface");
        }
        [End::Host { .. }, End::Host { .. }] if !joined.into_iter().any(|end| ends.is_box(end)) => {
            problems.add(second.referenced, key, "both ends are hosts", "put a switch between them");
        }
        _ => {}
    }
}

fn every_interface_has_a_link(topology: &Topology, problems: &mut Problems) {
    let used =
        |name: &str| topology.links.iter().any(|link| link.value.between.iter().any(|end| end.value == name));
    for (place, host) in topology.hosts.iter().enumerate() {
        for (index, interface) in host.interfaces.iter().enumerate() {
            let name = format!("{}.{}", host.name.value, interface.name.value);
            if !used(&name) && place >= topology.ordinary_hosts {
                let what = format!("no host is behind {:?}", host.name.value);
                let remedy = format!("add a link between a host's interface and {:?}", host.name.value);
                problems.add(host.name.referenced, topology.host_key(place), what, remedy);
            } else if !used(&name) {
                let key = format!("{}.interfaces[{index}]", topology.host_key(place));
                let remedy = format!("add a link with \"{name}\" as one end, or remove the interface");
                problems.add(interface.name.referenced, key, format!("\"{name}\" has no link"), remedy);
            }
        }
    }
}

fn one_link(name: &Spanned<String>, key: &str, linked: &mut Unique, problems: &mut Problems) {
    if let Some(line) = linked.insert(&name.value, name.referenced) {
        let what = format!("{:?} has a link already, in line {line}", name.value);
        problems.add(name.referenced, key, what, "name another interface, or remove one of the two links");
    }
}

fn one_host(name: &Spanned<String>, key: &str, linked: &mut Unique, problems: &mut Problems) {
    if let Some(line) = linked.insert(&name.value, name.referenced) {
        let site = name.value.split('.').next().unwrap_or_default();
        let what = format!("{site:?} has a host already, in line {line}");
        problems.add(name.referenced, key, what, "remove one of the two links, or let it join two sites");
    }
}

/// The possible ends of links, by name.
struct Ends<'a>(BTreeMap<String, End>, &'a Topology);

impl<'a> Ends<'a> {
    fn of(topology: &'a Topology) -> Self {
        let switches = topology.switches.iter().enumerate();
        let mut ends: BTreeMap<_, _> =
            switches.map(|(index, switch)| (switch.parts().0.to_owned(), End::Switch(index))).collect();
        for (host, node) in topology.hosts.iter().enumerate() {
            for (interface, it) in node.interfaces.iter().enumerate() {
                ends.insert(format!("{}.{}", node.name.value, it.name.value), End::Host { host, interface });
            }
        }
        Self(ends, topology)
    }

    fn find(
        &self,
        name: &Spanned<String>,
        key: &str,
        linked: &mut Unique,
        problems: &mut Problems,
    ) -> Option<End> {
        let found = self.0.get(&name.value).copied();
        match found {
            None => problems.add(name.referenced, key, self.missing(&name.value), self.remedy(&name.value)),
            Some(end @ End::Host { .. }) if self.is_box(end) => one_host(name, key, linked, problems),
            Some(End::Host { .. }) => one_link(name, key, linked, problems),
            Some(End::Switch(_)) => {}
        }
        found
    }

    fn is_bridge(&self, end: End) -> bool {
        matches!(end, End::Switch(index) if index < self.1.ordinary)
    }

    fn is_box(&self, end: End) -> bool {
        matches!(end, End::Host { host, .. } if host >= self.1.ordinary_hosts)
    }

    /// Whether it is the end of a line at the box of a site.
    fn is_line(&self, end: End) -> bool {
        let End::Host { host, interface } = end else { return false };
        let interface = self.1.hosts.get(host).and_then(|it| it.interfaces.get(interface));
        self.is_box(end) && interface.is_some_and(|it| is_line(&it.name.value))
    }

    fn missing(&self, name: &str) -> String {
        match self.host(name) {
            Some(_) if !name.contains('.') => format!("{name:?} is a host, and no interface is named"),
            _ => format!("there is no {name:?}"),
        }
    }

    fn remedy(&self, name: &str) -> String {
        match self.host(name).and_then(|host| host.interfaces.first()) {
            Some(interface) => {
                let host = name.split('.').next().unwrap_or(name);
                format!("name one of its interfaces, such as \"{host}.{}\"", interface.name.value)
            }
            None => "name a switch, or HOST.INTERFACE, or add it to the topology".to_owned(),
        }
    }

    fn host(&self, name: &str) -> Option<&'a file::Host> {
        let host = name.split('.').next();
        self.1.hosts.iter().find(|it| Some(it.name.value.as_str()) == host)
    }
}
