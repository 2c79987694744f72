//! Facts: what a leader knows beyond the rules of its switches. It tells them to its standbys, and one that takes over begins
//! with them.
//!
//! A fact never goes before what a switch says. It fills in what is unknown: which subflows are of one connection, hosts
//! without a rule, measurements of links.

mod memory;
mod publisher;

use std::net::IpAddr;
use std::time::Duration;

use braid_steering::{ConnectionsFact, KnownTransfer, TransferFact, TransferId};
use braid_topology::Link;
use braid_types::{BitsPerSec, MacAddr, SwitchPort};
use serde::{Deserialize, Serialize};

use crate::health::LossEvidence;

pub(crate) use memory::Memory;
pub(crate) use publisher::{FactSources, Publisher};

/// The version of facts. A change that an older controller must not pass over raises it; it passes over facts of a kind that
/// it does not know, and over fields that it does not know.
pub const FACTS_VERSION: u32 = 1;

/// A fact. Small, so that many of them are sent in pieces.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// A host's address, and where it is.
    Host(HostFact),
    /// What was measured of a link.
    Link(LinkFact),
    /// Which streams carry one transfer, and by what others join.
    Transfer(TransferFact),
    /// Which plain connections carry one transfer.
    Connections(ConnectionsFact),
}

/// An address of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HostFact {
    /// The address.
    pub ip: IpAddr,
    /// The host's interface.
    pub mac: MacAddr,
    /// Its port.
    pub at: SwitchPort,
}

/// What was measured of a directed link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LinkFact {
    /// The link.
    #[serde(flatten)]
    pub link: Link,
    /// Its delay without queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Its capacity, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<BitsPerSec>,
    /// That it loses frames, and is avoided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lossy: Option<LossyFact>,
}

/// What is known of a directed link that loses frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LossyFact {
    /// What shows it.
    pub evidence: LossEvidence,
    /// How long it must be clean before it is used again.
    pub hold: Duration,
}

/// What a fact is about. There is one fact about each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKey {
    /// This address.
    Host(IpAddr),
    /// This link.
    Link(Link),
    /// This transfer, under the leader's number.
    Transfer(TransferId),
}

/// A change of what is known.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactChange {
    /// This is so, in the place of what was known about it.
    Known(Fact),
    /// Nothing is known about this any more.
    Gone(FactKey),
}

impl Fact {
    /// What it is about.
    pub const fn key(&self) -> FactKey {
        match self {
            Self::Host(host) => FactKey::Host(host.ip),
            Self::Link(link) => FactKey::Link(link.link),
            Self::Transfer(transfer) => FactKey::Transfer(transfer.id),
            Self::Connections(connections) => FactKey::Transfer(connections.id),
        }
    }
}

impl From<KnownTransfer> for Fact {
    fn from(known: KnownTransfer) -> Self {
        match known {
            KnownTransfer::Mptcp(transfer) => Self::Transfer(transfer),
            KnownTransfer::Plain(connections) => Self::Connections(connections),
        }
    }
}
