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
    /// The name of its host: of the network file, or of a lab.
    #[serde(default)]
    pub name: Option<String>,
    /// Its host, the same for all interfaces of the host: the name, or else an address.
    #[serde(default)]
    #[schema(required = false)]
    pub host: String,
    /// The port where it is attached.
    #[schema(value_type = PortOfSwitch)]
    pub at: SwitchPort,
    /// That port by name.
    #[serde(default)]
    #[schema(required = false)]
    pub at_name: String,
    /// Its IP addresses.
    #[schema(value_type = Vec<String>)]
    pub addresses: Vec<IpAddr>,
    /// When a packet of it was last seen.
    #[schema(value_type = Nanoseconds)]
    pub last_seen: Time,
}
