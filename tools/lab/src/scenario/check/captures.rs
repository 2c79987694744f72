//! Checks of captures: hosts exist, each at most once.

use super::super::file::File;
use super::super::problem::Problems;
use super::super::{Capture, Topology};

/// Checks that captured hosts exist and are unique.
pub(super) fn check(file: &File, topology: &Topology, problems: &mut Problems) -> Vec<Capture> {
    if let (Some(first), None) = (file.captures.first(), &file.traffic) {
        problems.add(first.referenced, "captures", "nothing runs that could be captured", "add traffic:");
    }
    let mut captures: Vec<Capture> = Vec::new();
    for (index, capture) in file.captures.iter().enumerate() {
        let (key, name) = (format!("captures[{index}].host"), &capture.value.host);
        match topology.hosts.iter().position(|host| host.name == name.value) {
            None => {
                let what = format!("there is no host {:?}", name.value);
                problems.add(name.referenced, key, what, "name one of topology.hosts");
            }
            Some(host) if captures.iter().any(|it| it.host == host) => {
                problems.add(name.referenced, key, "it is captured already", "remove one of the two");
            }
            Some(host) => captures.push(Capture { host, packets: capture.value.packets }),
        }
    }
    captures
}
