//! Transfers in progress and their streams.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use braid_types::{DatapathId, FiveTuple, SwitchPort, Time};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::page::pages;
use crate::schema::{Dpid, Nanoseconds, PortOfSwitch};

pages!(/// Transfers in progress.
    Transfers, transfers: Transfer);

/// A transfer in progress.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Transfer {
    /// Its number; never used twice by one controller.
    pub id: u64,
    /// How it is carried.
    pub kind: TransferKind,
    /// When its first stream opened.
    #[schema(value_type = Nanoseconds)]
    pub opened_at: Time,
    /// Its established streams, in the order in which they opened.
    pub streams: Vec<Stream>,
}

/// How a transfer is carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransferKind {
    /// Subflows of one MPTCP connection.
    Mptcp,
    /// Several TCP connections between two hosts.
    Parallel,
    /// One TCP connection whose packets edges spray over several paths and resequence.
    Spray,
}

/// A stream of a transfer: one TCP connection or subflow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Stream {
    /// Its number; never used twice by one controller.
    pub id: u64,
    /// The opening host's address.
    #[schema(value_type = String)]
    pub src: IpAddr,
    /// The answering host's address.
    #[schema(value_type = String)]
    pub dst: IpAddr,
    /// The name of the opening host, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub src_name: Option<String>,
    /// The name of the answering host, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub dst_name: Option<String>,
    /// The opening host's port.
    pub src_port: u16,
    /// The answering host's port.
    pub dst_port: u16,
    /// The switches on its path, the first one if it is sprayed; empty while it follows the default path.
    #[schema(value_type = Vec<Dpid>)]
    pub path: Vec<DatapathId>,
    /// The switches by name, or datapath id; left out where none has a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub path_names: Vec<String>,
    /// The ports by which it leaves them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<PortOfSwitch>, required = false)]
    pub ports: Vec<SwitchPort>,
    /// The paths over which it is sprayed from the opening host, those of the lowest delay first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub spray_paths: Vec<SprayPath>,
    /// Bytes of frames counted from the opening host.
    pub bytes_sent: u64,
    /// Bytes of frames counted towards the opening host.
    pub bytes_received: u64,
    /// The rate from the opening host, in bits a second, between the last two readings.
    pub sent_bps: u64,
    /// The rate towards the opening host, likewise.
    pub received_bps: u64,
}

/// A path over which a stream is sprayed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct SprayPath {
    /// The switches on it.
    #[schema(value_type = Vec<Dpid>)]
    pub path: Vec<DatapathId>,
    /// The switches by name, or datapath id; left out where none has a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub path_names: Vec<String>,
    /// The ports by which it leaves them.
    #[schema(value_type = Vec<PortOfSwitch>)]
    pub ports: Vec<SwitchPort>,
    /// Its spare capacity when it was chosen, in bits a second: initial shares are in proportion to it.
    pub rate_bps: u64,
    /// Its delay, in microseconds.
    pub delay_us: u64,
}

impl Stream {
    /// The opening host's end.
    pub const fn source(&self) -> SocketAddr {
        SocketAddr::new(self.src, self.src_port)
    }

    /// The answering host's end.
    pub const fn destination(&self) -> SocketAddr {
        SocketAddr::new(self.dst, self.dst_port)
    }

    /// The connection, from the opening host.
    pub const fn tuple(&self) -> FiveTuple {
        FiveTuple { src: self.src, dst: self.dst, src_port: self.src_port, dst_port: self.dst_port }
    }
}

impl fmt::Display for TransferKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mptcp => "mptcp",
            Self::Parallel => "parallel",
            Self::Spray => "spray",
        })
    }
}
