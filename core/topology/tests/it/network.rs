//! Small networks to test on.

use braid_topology::{Link, LinkState, Port, Topology};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo, SwitchPort};

pub(crate) const SPEED: BitsPerSec = BitsPerSec(1_000_000_000);

pub(crate) fn end(switch: u64, port: u32) -> SwitchPort {
    SwitchPort::new(DatapathId(switch), PortNo(port))
}

pub(crate) fn port(number: u32, up: bool) -> Port {
    Port { number: PortNo(number), name: format!("eth{number}"), mac: MacAddr::ZERO, up, speed: SPEED }
}

pub(crate) fn link(src: SwitchPort, dst: SwitchPort) -> Link {
    Link { src, dst }
}

pub(crate) fn state() -> LinkState {
    LinkState::of_capacity(SPEED)
}

/// Both directions of each link.
pub(crate) fn links(ends: &[(SwitchPort, SwitchPort)]) -> Vec<Link> {
    ends.iter().flat_map(|(a, b)| [link(*a, *b), link(*b, *a)]).collect()
}

pub(crate) fn mac(number: u64) -> MacAddr {
    MacAddr::from_u64(0x0200_0000_0000 + number)
}

/// Switches 1 to `switches` with the ports 1 to `ports`, all up, and no links.
pub(crate) fn unconnected(switches: u64, ports: u32) -> Topology {
    let mut topology = Topology::default();
    for switch in 1..=switches {
        topology.add_switch(DatapathId(switch), (1..=ports).map(|number| port(number, true)));
    }
    topology
}
