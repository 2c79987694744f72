//! Connections between members: lines of JSON over TCP or TLS. Each member sends on those that it opens.
//!
//! Whoever opens a connection says [`Hello`] and gets a [`Greeting`]. Then it sends messages, and something once a second if
//! there is none. Over TLS both ends show certificates that an authority of the cluster has signed, each with its member's
//! name.

mod accept;
mod dial;
mod lines;
mod refusals;
mod tls;

use std::net::IpAddr;
use std::thread;
use std::time::Duration;

use braid_cluster::{ConnectionId, MemberId, Message, RunId};
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::fronts::Switch;

pub(super) use accept::{Services, accept};
pub(super) use dial::{connect, follow, identify, offer, relay};
pub(super) use lines::Lines;
pub(super) use refusals::Refusals;
pub(crate) use tls::follow_certificates;
pub use tls::{MemberTls, MemberTlsError};

/// The version of what members say to each other, and the oldest one that this member understands.
const VERSION: u32 = 1;
const OLDEST: u32 = 1;

/// The time in which a connection is opened and greeted.
const GREETING_TIMEOUT: Duration = Duration::from_secs(1);
/// A connection on which nothing comes for this long is closed.
const SILENCE: Duration = Duration::from_secs(5);
/// A sender that has no message says something in this interval.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);

/// This member, as the others meet it.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) hello: Hello,
    /// Its certificate; `None`: connections are plain TCP.
    pub(super) tls: Option<MemberTls>,
}

/// The first line of a connection, and a part of its answer: who speaks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) cluster: String,
    pub(super) member: MemberId,
    pub(super) run: RunId,
    /// The newest version of the protocol that it speaks, and the oldest.
    version: u32,
    oldest: u32,
    /// Whether it wants to be told facts, instead of sending messages.
    #[serde(default, skip_serializing_if = "is_false")]
    follows: bool,
    /// Whether it offers switches that it reaches.
    #[serde(default, skip_serializing_if = "is_false")]
    offers: bool,
    /// The switch whose connection it passes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relays: Option<Switch>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The answer to a [`Hello`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Greeting {
    pub(super) hello: Hello,
    /// Why the connection is refused.
    refused: Option<String>,
}

/// What comes from another member.
#[derive(Debug)]
pub(super) enum Incoming {
    Opened(MemberId, ConnectionId),
    Message(MemberId, Message),
    Closed(MemberId, ConnectionId),
    /// A connection with this address was not one with a member, so often.
    Refused {
        peer: IpAddr,
        why: String,
        count: u64,
    },
}

impl Hello {
    pub(super) fn new(cluster: &str, member: &MemberId, run: RunId) -> Self {
        let (version, oldest, follows, offers, relays) = (VERSION, OLDEST, false, false, None);
        let (cluster, member) = (cluster.to_owned(), member.clone());
        Self { cluster, member, run, version, oldest, follows, offers, relays }
    }

    /// Whether both are processes with the name of one member.
    pub(super) fn is_twin(&self, other: &Self) -> bool {
        self.cluster == other.cluster && self.member == other.member && self.run != other.run
    }

    /// The version that both speak.
    fn common_version(&self, other: &Self) -> Result<u32, String> {
        let version = self.version.min(other.version);
        if version >= self.oldest.max(other.oldest) {
            return Ok(version);
        }
        let of = |it: &Self| format!("{} speaks versions {} to {}", it.member, it.oldest, it.version);
        Err(format!("{}, and {}: upgrade the older one", of(self), of(other)))
    }

    /// Why a member with this greeting is refused, if it is.
    fn refusal(&self, theirs: &Self) -> Option<String> {
        if theirs.cluster != self.cluster {
            let (theirs, ours) = (&theirs.cluster, &self.cluster);
            return Some(format!(
                "it is of cluster {theirs:?}, and this one of {ours:?}: see --cluster-name"
            ));
        }
        if theirs.member == self.member {
            let (member, is_same) = (&self.member, theirs.run == self.run);
            return Some(if is_same {
                format!("{member} has connected to itself: see --cluster-advertise")
            } else {
                format!("two processes are member {member}: give each its own --cluster-member")
            });
        }
        self.common_version(theirs).err()
    }
}

pub(super) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    if let Err(error) = thread::Builder::new().name(name.to_owned()).spawn(run) {
        warn!(%error, "cannot start a thread of the cluster");
    }
}

#[cfg(test)]
mod tests;
