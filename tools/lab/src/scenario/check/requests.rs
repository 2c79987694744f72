//! Checks of requests: two hosts, and ports that nothing else has.

use super::super::file;
use super::super::problem::Problems;
use super::super::{Requests, Topology};
use super::traffic::direction;

/// Ports of the servers of transfers and cross traffic.
const TRANSFER_PORTS: std::ops::Range<u16> = 5_201..5_401;

/// Checks who asks whom.
pub(super) fn check(traffic: &file::Traffic, topology: &Topology, problems: &mut Problems) -> Vec<Requests> {
    let all = traffic.requests.iter().enumerate();
    let checked = all.filter_map(|(index, it)| {
        let key = format!("traffic.requests[{index}]");
        let port = it.port.value;
        if port == 0 || TRANSFER_PORTS.contains(&port) {
            let what = format!("port {port} is not free");
            problems.add(it.port.referenced, format!("{key}.port"), what, "give another one, such as 53");
        }
        let is_same = |other: &file::Requests| {
            (other.port.value, other.protocol, &other.to.value) == (port, it.protocol, &it.to.value)
        };
        if traffic.requests.iter().take(index).any(is_same) {
            let what = format!("port {port} of {:?} is asked already", it.to.value);
            problems.add(it.port.referenced, format!("{key}.port"), what, "give another one");
        }
        let direction = direction([&it.from, &it.to], &key, topology, problems)?;
        Some(Requests { direction, protocol: it.protocol, port })
    });
    checked.collect()
}
