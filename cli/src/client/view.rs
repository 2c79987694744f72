//! What a controller tells of its network, as far as tables show it. Fields that are not known are passed over.

use std::net::{IpAddr, SocketAddr};

use braid_types::{BitsPerSec, DatapathId, MacAddr, SwitchPort, Time};
use serde::Deserialize;

/// A switch that is connected.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Switch {
    pub(crate) dpid: DatapathId,
    /// Where it connected from.
    pub(crate) address: Option<SocketAddr>,
    pub(crate) ports: Vec<Port>,
}

/// A port of a switch.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Port {
    pub(crate) up: bool,
    /// `link`, `host` or `pending`; none while it is down.
    pub(crate) role: Option<String>,
}

/// One direction of a link.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Link {
    pub(crate) src: SwitchPort,
    pub(crate) dst: SwitchPort,
    capacity_bps: u64,
}

/// A host's interface.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Host {
    pub(crate) mac: MacAddr,
    pub(crate) at: SwitchPort,
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) last_seen: Time,
}

/// A transfer in progress.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Transfer {
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) opened_at: Time,
    pub(crate) streams: Vec<Stream>,
}

/// A stream of a transfer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Stream {
    src: IpAddr,
    dst: IpAddr,
    src_port: u16,
    dst_port: u16,
    /// The switches on its way; empty while it follows the default route.
    pub(crate) path: Vec<DatapathId>,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
}

impl Link {
    pub(crate) const fn capacity(&self) -> BitsPerSec {
        BitsPerSec(self.capacity_bps)
    }
}

impl Stream {
    pub(crate) const fn from(&self) -> SocketAddr {
        SocketAddr::new(self.src, self.src_port)
    }

    pub(crate) const fn to(&self) -> SocketAddr {
        SocketAddr::new(self.dst, self.dst_port)
    }
}
