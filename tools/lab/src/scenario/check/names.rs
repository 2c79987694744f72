//! Checks of names: form and uniqueness.

use std::collections::BTreeMap;

use serde_saphyr::Location;

use super::super::file::{File, Host};
use super::super::problem::Problems;
use crate::names::is_valid_name;
use crate::scenario::spanned::Spanned;

/// Checks that every name is valid and unique.
pub(super) fn check(file: &File, problems: &mut Problems) {
    form(&file.scenario, "scenario", problems);
    let mut nodes = Unique::new("hosts, sites and switches");
    for (index, host) in file.topology.hosts.iter().enumerate() {
        let key = file.topology.host_key(index);
        form(&host.name, &format!("{key}.name"), problems);
        nodes.add(&host.name.value, host.name.referenced, &format!("{key}.name"), problems);
        interfaces(host, &key, problems);
    }
    for (index, switch) in file.topology.switches.iter().enumerate() {
        let (key, name) = (file.topology.switch_key(index), switch.parts().0);
        form_of(name, switch.0.referenced, &key, problems);
        nodes.add(name, switch.0.referenced, &key, problems);
    }
}

fn interfaces(host: &Host, key: &str, problems: &mut Problems) {
    let mut unique = Unique::new("the interfaces of a host");
    for (index, interface) in host.interfaces.iter().enumerate() {
        let key = format!("{key}.interfaces[{index}].name");
        form(&interface.name, &key, problems);
        if interface.name.value == "lo" {
            let what = "\"lo\" is the host's loopback interface";
            problems.add(interface.name.referenced, &key, what, "choose another name, such as eth1");
        }
        unique.add(&interface.name.value, interface.name.referenced, &key, problems);
    }
}

fn form(name: &Spanned<String>, key: &str, problems: &mut Problems) {
    form_of(&name.value, name.referenced, key, problems);
}

fn form_of(name: &str, at: Location, key: &str, problems: &mut Problems) {
    if !is_valid_name(name) {
        let what = format!("{name:?} is not a name");
        let remedy = "use 1 to 15 of a-z, 0-9 and -, with a letter or digit at both ends";
        problems.add(at, key, what, remedy);
    }
}

/// Names that must be unique, with the place of the first use.
pub(super) struct Unique {
    among: &'static str,
    seen: BTreeMap<String, u64>,
}

impl Unique {
    pub(super) fn new(among: &'static str) -> Self {
        Self { among, seen: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, name: &str, at: Location, key: &str, problems: &mut Problems) {
        if let Some(line) = self.insert(name, at) {
            let what = format!("{name:?} is already given in line {line}");
            problems.add(at, key, what, format!("{} must differ: choose another", self.among));
        }
    }

    /// The line of an earlier use of `name`, if any.
    pub(super) fn insert(&mut self, name: &str, at: Location) -> Option<u64> {
        let before = self.seen.get(name).copied();
        if before.is_none() {
            self.seen.insert(name.to_owned(), at.line());
        }
        before
    }
}
