//! Reasons for which the topology refuses an update.

use braid_types::{DatapathId, MacAddr, SwitchPort};

/// Why the topology refused what it was told; it is as it was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// No such switch.
    #[error("switch {0} is not connected")]
    UnknownSwitch(DatapathId),
    /// No such port.
    #[error("port {0} does not exist")]
    UnknownPort(SwitchPort),
    /// A link cannot be where no frame passes.
    #[error("port {0} is down")]
    PortDown(SwitchPort),
    /// A link leads somewhere else.
    #[error("port {0} hears itself")]
    SelfLink(SwitchPort),
    /// Hosts are not behind the ports between switches.
    #[error("port {0} leads to a switch: host {1} is not attached there")]
    NotAnEdge(SwitchPort, MacAddr),
    /// Only a unicast address names an interface.
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
