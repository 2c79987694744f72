//! The maximum flow between the hosts of transfers, by the links that a controller knows.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use braid_api::{Host, Link};
use braid_paths::PathFinder;
use braid_topology::{Graph, Link as Edge, LinkState};
use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPort};

/// What stands for all switches of the sending host, and of the receiving one: no switch has such an id.
const SENDER: DatapathId = DatapathId(u64::MAX);
const RECEIVER: DatapathId = DatapathId(u64::MAX - 1);
/// What the interfaces of hosts carry is unknown: they limit nothing.
const UNLIMITED: BitsPerSec = BitsPerSec(u64::MAX / 4);

/// The maximum flows between hosts over the network's links.
#[derive(Default)]
pub(super) struct Capacities {
    /// By address, the host.
    hosts: BTreeMap<IpAddr, String>,
    /// By host, the switches to which its interfaces are attached.
    switches: BTreeMap<String, BTreeSet<DatapathId>>,
    links: Vec<(Edge, LinkState)>,
    known: BTreeMap<[IpAddr; 2], Option<BitsPerSec>>,
}

impl Capacities {
    pub(super) fn of(hosts: &[Host], links: &[Link]) -> Self {
        let mut all = Self::default();
        for host in hosts {
            let name = if host.host.is_empty() { host.mac.to_string() } else { host.host.clone() };
            all.hosts.extend(host.addresses.iter().map(|address| (*address, name.clone())));
            all.switches.entry(name).or_default().insert(host.at.dpid);
        }
        let link = |it: &Link| {
            (Edge { src: it.src, dst: it.dst }, LinkState::of_capacity(BitsPerSec(it.capacity_bps)))
        };
        all.links = links.iter().map(link).collect();
        all
    }

    /// The maximum flow from one host to another over all interfaces of both; `None` where it is unknown, or no link
    /// limits it.
    pub(super) fn between(&mut self, src: IpAddr, dst: IpAddr) -> Option<BitsPerSec> {
        if let Some(known) = self.known.get(&[src, dst]) {
            return *known;
        }
        let flow = self.flow(src, dst).filter(|flow| (1..UNLIMITED.0).contains(&flow.0));
        self.known.insert([src, dst], flow);
        flow
    }

    fn flow(&self, src: IpAddr, dst: IpAddr) -> Option<BitsPerSec> {
        let [from, to] = [src, dst].map(|address| self.switches.get(self.hosts.get(&address)?));
        let state = LinkState::of_capacity(UNLIMITED);
        let outside = |dpid: DatapathId| SwitchPort::new(dpid, PortNo::ANY);
        let of = |end: DatapathId, number: u32| SwitchPort::new(end, PortNo(number));
        let up = (1..).zip(from?).map(|(number, at)| Edge { src: of(SENDER, number), dst: outside(*at) });
        let down = (1..).zip(to?).map(|(number, at)| Edge { src: outside(*at), dst: of(RECEIVER, number) });
        let hosts = up.chain(down).map(|link| (link, state));
        let graph = Arc::new(Graph::new(0, [], self.links.iter().copied().chain(hosts)));
        let mut finder = PathFinder::by_hops(Arc::clone(&graph));
        Some(finder.max_flow(SENDER, RECEIVER, 1, |edge| graph.state(edge).capacity).rate)
    }
}

#[cfg(test)]
mod tests {
    use braid_types::{MacAddr, Time};
    use serde_json::json;

    use super::*;

    fn host(name: &str, address: &str, dpid: u64) -> Host {
        Host {
            mac: MacAddr::ZERO,
            name: None,
            host: name.to_owned(),
            at: SwitchPort::new(DatapathId(dpid), PortNo(9)),
            at_name: String::new(),
            addresses: vec![address.parse().unwrap()],
            last_seen: Time::ZERO,
        }
    }

    /// A directed link with this capacity, as the API gives it.
    fn link(src: (u64, u32), dst: (u64, u32), mbit: u64) -> Link {
        let end = |(dpid, port): (u64, u32)| json!({ "dpid": format!("{dpid:016x}"), "port": port });
        let capacity = mbit * 1_000_000;
        let link = json!({
            "src": end(src), "dst": end(dst), "src_name": "", "dst_name": "", "capacity_bps": capacity,
            "available_bps": capacity, "counters": { "bytes": 0, "packets": 0, "dropped": 0, "errors": 0 },
        });
        serde_json::from_value(link).unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_host_has_the_paths_of_all_its_interfaces() {
        let hosts = [
            host("ams", "10.0.1.1", 1),
            host("ams", "10.0.2.1", 2),
            host("gva", "10.0.1.2", 3),
            host("gva", "10.0.2.2", 4),
        ];
        let links = [link((1, 1), (3, 1), 100), link((2, 1), (4, 1), 60), link((3, 1), (1, 1), 30)];
        let mut capacities = Capacities::of(&hosts, &links);
        assert_eq!(capacities.between(ip("10.0.1.1"), ip("10.0.2.2")), Some(BitsPerSec(160_000_000)));
        assert_eq!(capacities.between(ip("10.0.2.2"), ip("10.0.1.1")), Some(BitsPerSec(30_000_000)));
    }

    #[test]
    fn what_no_link_limits_and_what_is_unknown_has_none() {
        let hosts = [host("a", "10.0.0.1", 1), host("b", "10.0.0.2", 1), host("c", "10.0.0.3", 2)];
        let mut capacities = Capacities::of(&hosts, &[]);
        for dst in ["10.0.0.2", "10.0.0.3", "10.0.0.4"] {
            assert_eq!(capacities.between(ip("10.0.0.1"), ip(dst)), None, "{dst}");
        }
    }
}
