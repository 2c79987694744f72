//! Changes of the topology, in the order in which they depend on each other.

use std::net::IpAddr;

use braid_types::{DatapathId, MacAddr, SwitchPort};
use serde::{Deserialize, Serialize};

use crate::{Host, Link, LinkState};

/// A change of the topology.
///
/// Dependent objects are removed first: links and hosts, then their port, then its switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// A switch is new.
    SwitchAdded {
        /// The switch.
        dpid: DatapathId,
    },
    /// A switch is gone.
    SwitchRemoved {
        /// The switch.
        dpid: DatapathId,
    },
    /// A port is new.
    PortAdded {
        /// The port.
        at: SwitchPort,
    },
    /// A port went up or down, or was renamed, readdressed or given another speed.
    PortChanged {
        /// The port.
        at: SwitchPort,
    },
    /// A port is gone.
    PortRemoved {
        /// The port.
        at: SwitchPort,
    },
    /// A link is new.
    LinkAdded {
        /// The link.
        link: Link,
        /// Its state.
        state: LinkState,
    },
    /// The state of a link changed.
    LinkChanged {
        /// The link.
        link: Link,
        /// The new state.
        state: LinkState,
    },
    /// A link is gone.
    LinkRemoved {
        /// The link.
        link: Link,
    },
    /// A host is new; its address, if one was seen, follows in `AddressAdded`.
    HostAdded {
        /// Its interface.
        mac: MacAddr,
        /// Its port.
        at: SwitchPort,
    },
    /// A host moved to another port.
    HostMoved {
        /// Its interface.
        mac: MacAddr,
        /// The old port.
        from: SwitchPort,
        /// The new port.
        to: SwitchPort,
    },
    /// A host is gone, with all its addresses.
    HostRemoved {
        /// The host as it was.
        host: Host,
    },
    /// A host uses a new address.
    AddressAdded {
        /// The address.
        address: IpAddr,
        /// The host's interface.
        mac: MacAddr,
    },
    /// An address moved from one host to another.
    AddressMoved {
        /// The address.
        address: IpAddr,
        /// The host that had it.
        from: MacAddr,
        /// The host that has it now.
        to: MacAddr,
    },
    /// The least recently seen address of a host with too many addresses was removed.
    AddressRemoved {
        /// The address.
        address: IpAddr,
        /// The host that had it.
        mac: MacAddr,
    },
}
