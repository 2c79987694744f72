//! Endpoints and limits of the kernel's path manager, as netlink attributes.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::netlink::{Attributes, Writer};

pub(super) const FAMILY: u16 = 1;
pub(super) const ID: u16 = 2;
const ADDR4: u16 = 3;
const ADDR6: u16 = 4;
pub(super) const PORT: u16 = 5;
pub(super) const FLAGS: u16 = 6;
pub(super) const IF_IDX: u16 = 7;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

/// An endpoint: an address that the kernel's path manager uses for subflows or announces to the peer.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Endpoint {
    /// Its id, from 1; 0 lets the kernel choose one.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
    /// The announced port; `None`: the connection's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Its use.
    pub flags: EndpointFlags,
    /// The index of the interface that its subflows are bound to; 0: none.
    pub interface: u32,
}

/// Limits of the kernel's path manager for each connection.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
pub struct Limits {
    /// Additional subflows.
    pub subflows: u32,
    /// Announced addresses of the peer that are used.
    pub accepted_addresses: u32,
}

/// A use of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndpointFlag {
    /// It is announced to the peer.
    Signal,
    /// Subflows are opened from it.
    Subflow,
    /// Its subflows carry data only while there are no others.
    Backup,
    /// Subflows are opened from it to every address of the peer.
    Fullmesh,
    /// The kernel created it for a subflow from another address.
    Implicit,
}

/// The name of an unknown endpoint flag.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not an endpoint flag: give signal, subflow, backup or fullmesh")]
pub struct UnknownFlag(pub String);

impl EndpointFlag {
    /// All flags in the order of their bits.
    pub const ALL: [Self; 5] = [Self::Signal, Self::Subflow, Self::Backup, Self::Fullmesh, Self::Implicit];

    /// Its name, as in `ip mptcp`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Subflow => "subflow",
            Self::Backup => "backup",
            Self::Fullmesh => "fullmesh",
            Self::Implicit => "implicit",
        }
    }
}

impl FromStr for EndpointFlag {
    type Err = UnknownFlag;

    fn from_str(name: &str) -> Result<Self, UnknownFlag> {
        // Users cannot request the kernel's own flag.
        let mut known = Self::ALL.into_iter().filter(|flag| *flag != Self::Implicit);
        known.find(|flag| flag.name() == name).ok_or_else(|| UnknownFlag(name.to_owned()))
    }
}

/// A set of [`EndpointFlag`]s as the kernel's bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EndpointFlags(pub u32);

impl EndpointFlags {
    /// Whether the set contains `flag`.
    #[must_use]
    pub const fn has(self, flag: EndpointFlag) -> bool {
        self.0 & (1 << flag as u32) != 0
    }

    /// The names of its flags.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        EndpointFlag::ALL.into_iter().filter(move |flag| self.has(*flag)).map(EndpointFlag::name)
    }
}

impl FromIterator<EndpointFlag> for EndpointFlags {
    fn from_iter<T: IntoIterator<Item = EndpointFlag>>(flags: T) -> Self {
        Self(flags.into_iter().fold(0, |bits, flag| bits | 1 << flag as u32))
    }
}

impl fmt::Display for EndpointFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.names().collect::<Vec<_>>().join(","))
    }
}

impl Serialize for EndpointFlags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

impl Endpoint {
    pub(super) fn encode(&self) -> Writer {
        let mut writer = address(Writer::default(), self.address).u32(FLAGS, self.flags.0);
        if self.id != 0 {
            writer = writer.u8(ID, self.id);
        }
        if let Some(port) = self.port {
            writer = writer.u16(PORT, port);
        }
        if self.interface != 0 {
            writer = writer.u32(IF_IDX, self.interface);
        }
        writer
    }

    /// Parses the kernel's description of an endpoint; `None` without an address.
    #[must_use]
    pub fn decode(attributes: Attributes<'_>) -> Option<Self> {
        let number = |kind| attributes.find(kind).and_then(|it| it.u32());
        Some(Self {
            id: attributes.find(ID).and_then(|it| it.u8()).unwrap_or(0),
            address: attributes.find(ADDR4).or(attributes.find(ADDR6))?.address()?,
            port: attributes.find(PORT).and_then(|it| it.u16()).filter(|port| *port != 0),
            flags: EndpointFlags(number(FLAGS).unwrap_or(0)),
            interface: number(IF_IDX).unwrap_or(0),
        })
    }
}

pub(super) fn address(writer: Writer, address: IpAddr) -> Writer {
    match address {
        IpAddr::V4(it) => writer.u16(FAMILY, AF_INET).bytes(ADDR4, &it.octets()),
        IpAddr::V6(it) => writer.u16(FAMILY, AF_INET6).bytes(ADDR6, &it.octets()),
    }
}
