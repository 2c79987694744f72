//! Changes of the topology, in the order in which they depend on each other.

use std::net::IpAddr;

use braid_types::{DatapathId, MacAddr, SwitchPort};
use serde::{Deserialize, Serialize};

use crate::{Host, Link, LinkState};

/// One thing that is now different.
///
/// What is lost comes before what it depended on: links and hosts, then their port, then its switch.
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
        /// What is known of it.
        state: LinkState,
    },
    /// More or something else is known of a link.
    LinkChanged {
        /// The link.
        link: Link,
        /// What is known now.
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
        /// Where it is attached.
        at: SwitchPort,
    },
    /// A host is attached somewhere else.
    HostMoved {
        /// Its interface.
        mac: MacAddr,
        /// Where it was.
        from: SwitchPort,
        /// Where it is.
        to: SwitchPort,
    },
    /// A host is gone, with all its addresses.
    HostRemoved {
        /// The host as it was.
        host: Host,
    },
    /// A host uses an address that nobody used.
    AddressAdded {
        /// The address.
        address: IpAddr,
        /// The host's interface.
        mac: MacAddr,
    },
    /// A host uses an address that another host used until now.
    AddressMoved {
        /// The address.
        address: IpAddr,
        /// Who had it.
        from: MacAddr,
        /// Who has it.
        to: MacAddr,
    },
    /// A host has so many addresses that the one not seen for the longest time was forgotten.
    AddressRemoved {
        /// The address.
        address: IpAddr,
        /// Who had it.
        mac: MacAddr,
    },
}
