//! Metadata of switches and hosts for people (name, group, position), which OpenFlow does not provide.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_api::Position;
use braid_types::{DatapathId, SwitchPort};

/// The metadata of switches by datapath id.
pub type SwitchMetadataMap = BTreeMap<DatapathId, SwitchMetadata>;

/// The metadata of one switch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SwitchMetadata {
    /// Its name.
    pub name: Option<String>,
    /// The group that it belongs to, such as a pod.
    pub group: Option<String>,
    /// Its position on Earth.
    pub position: Option<Position>,
}

/// The names of hosts. A host may have several ports and addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostMetadata {
    /// By the port where an interface is attached.
    pub by_port: BTreeMap<SwitchPort, String>,
    /// By address.
    pub by_address: BTreeMap<IpAddr, String>,
}

impl HostMetadata {
    /// Whether no host has a name.
    pub fn is_empty(&self) -> bool {
        self.by_port.is_empty() && self.by_address.is_empty()
    }
}
