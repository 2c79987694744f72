//! Reasons for which the topology refuses an update.

use braid_types::{DatapathId, MacAddr, SwitchPort};

/// Errors of topology updates, which leave the topology unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// The switch does not exist.
    #[error("switch {0} is not connected")]
    UnknownSwitch(DatapathId),
    /// The port does not exist.
    #[error("port {0} does not exist")]
    UnknownPort(SwitchPort),
    /// The port of a link is down.
    #[error("port {0} is down")]
    PortDown(SwitchPort),
    /// Both ends of a link are one port.
    #[error("port {0} hears itself")]
    SelfLink(SwitchPort),
    /// The port of a host leads to a switch.
    #[error("port {0} leads to a switch: host {1} is not attached there")]
    NotAnEdge(SwitchPort, MacAddr),
    /// The address is not unicast.
    #[error("{0} is not the address of one interface")]
    NotUnicast(MacAddr),
    /// [`HostLimits::hosts`](crate::HostLimits::hosts) is reached.
    #[error("{limit} hosts are known, which is the limit: {mac} is not added")]
    TooManyHosts {
        /// The host that is not added.
        mac: MacAddr,
        /// The limit.
        limit: usize,
    },
    /// [`HostLimits::hosts_per_port`](crate::HostLimits::hosts_per_port) is reached.
    #[error("{limit} hosts are attached to port {at}, which is the limit: {mac} is not added")]
    TooManyHostsAtPort {
        /// The host that is not added.
        mac: MacAddr,
        /// The port.
        at: SwitchPort,
        /// The limit.
        limit: usize,
    },
}
