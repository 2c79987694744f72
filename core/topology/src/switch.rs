//! Switches and their ports as the topology keeps them.

use std::collections::BTreeMap;

use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo};
use serde::{Deserialize, Serialize};

/// A port as its switch describes it. OpenFlow 1.3.5 §7.2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Its number on the switch.
    pub number: PortNo,
    /// Its name on the switch, such as `eth1`.
    pub name: String,
    /// Its own address.
    pub mac: MacAddr,
    /// Whether frames can pass: administratively up, with a carrier.
    pub up: bool,
    /// Its present speed; zero when the switch does not say.
    pub speed: BitsPerSec,
}

/// A switch and its ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Switch {
    dpid: DatapathId,
    #[serde(serialize_with = "ports_as_list")]
    pub(crate) ports: BTreeMap<PortNo, Port>,
}

impl Switch {
    pub(crate) const fn new(dpid: DatapathId) -> Self {
        Self { dpid, ports: BTreeMap::new() }
    }

    /// Its identifier.
    pub const fn dpid(&self) -> DatapathId {
        self.dpid
    }

    /// Its ports by number.
    pub fn ports(&self) -> impl ExactSizeIterator<Item = &Port> {
        self.ports.values()
    }

    /// The port with this number.
    pub fn port(&self, number: PortNo) -> Option<&Port> {
        self.ports.get(&number)
    }
}

fn ports_as_list<S: serde::Serializer>(ports: &BTreeMap<PortNo, Port>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(ports.values())
}
