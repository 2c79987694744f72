//! Messages between members.

use std::fmt;

use braid_types::Term;
use serde::{Deserialize, Serialize};

use crate::reach::Reach;

/// The name of a member, unique in its cluster.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemberId(String);

impl MemberId {
    /// The member with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One run of a member's process: a random number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub u64);

/// A connection from another member; later ones have higher numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ConnectionId(pub u64);

/// A message between two members. Who sent it is known from the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The sender leads, and its brain has made progress since the last heartbeat.
    Heartbeat {
        /// Its term.
        term: Term,
        /// Whether its lease holds, as far as it knows.
        has_lease: bool,
        /// What it reaches; `None`: it does not know, or an older version does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reach: Option<Reach>,
    },
    /// The answer of a standby.
    Follow {
        /// The newest term that the standby has seen.
        newest: Term,
        /// What it reaches, as in a heartbeat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reach: Option<Reach>,
    },
    /// The leader of this term asks the receiver to take over.
    HandOver {
        /// The leader's term.
        term: Term,
    },
}

/// A message to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// The receiver; `None` for all other members.
    pub to: Option<MemberId>,
    /// The message.
    pub message: Message,
}
