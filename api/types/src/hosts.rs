//! Interfaces of hosts.

use std::net::IpAddr;

use braid_types::{MacAddr, SwitchPort, Time};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::page::pages;
use crate::schema::{Mac, Nanoseconds, PortOfSwitch};

pages!(/// Interfaces of hosts.
    Hosts, hosts: Host);

/// A host's interface.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Host {
    /// Its Ethernet address.
    #[schema(value_type = Mac)]
    pub mac: MacAddr,
    /// The port where it is attached.
    #[schema(value_type = PortOfSwitch)]
    pub at: SwitchPort,
    /// Its IP addresses.
    #[schema(value_type = Vec<String>)]
    pub addresses: Vec<IpAddr>,
    /// When a packet of it was last seen.
    #[schema(value_type = Nanoseconds)]
    pub last_seen: Time,
}
