//! Two switches joined by four links, with hosts at a port of each, for tests and benchmarks.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

use braid_control::{Command, Commands, Event, PortStatus, SwitchPorts, Target};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo};

/// MP_CAPABLE of MPTCP version 1 as Linux sends it: without a key.
pub(crate) const MP_CAPABLE: [u8; 4] = [30, 4, 0x01, 0x01];
pub(crate) const HOST_PORT: PortNo = PortNo(9);

/// The switch of this number: 1 or 2.
pub(crate) fn switch(number: u64) -> SwitchPorts {
    let port = |port| PortStatus {
        port: PortNo(port),
        mac: MacAddr::from_u64(number << 8 | u64::from(port)),
        name: format!("p{port}"),
        up: true,
        speed: BitsPerSec(1_000_000_000),
    };
    let ports = (1..=4).chain([HOST_PORT.0]).map(port).collect();
    let (dpid, description) = (DatapathId(number), String::new());
    SwitchPorts {
        dpid,
        tables: 254,
        description,
        ports,
        failover_groups: 0,
        select_groups: 0,
        installed: None,
    }
}

pub(crate) fn mac(host: u8) -> MacAddr {
    MacAddr::new([0, 0xaa, 0, 0, 0, host])
}

pub(crate) fn v4(host: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, host))
}

/// The immediate effect of a command: discovery frames cross the links, barriers are answered.
pub(crate) fn follows(command: &Command, batch: &Commands) -> Option<Event<'static>> {
    match command {
        Command::Send { dpid, target: Target::Port(port), frame } if *port != HOST_PORT => {
            let data = Cow::Owned(batch.frame(frame).to_vec());
            Some(Event::PacketIn { dpid: DatapathId(3 - dpid.0), in_port: *port, table: 0, data })
        }
        Command::Barrier { dpid, token } => Some(Event::Barrier { dpid: *dpid, token: *token }),
        _ => None,
    }
}
