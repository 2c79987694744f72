//! Reasons to close an OpenFlow connection, and reasons to discard the rules of an earlier controller.

use std::time::Duration;

use braid_openflow::{DecodeError, EncodeError, MultipartType};

use super::SessionLimits;
use crate::pipeline::TABLES;

/// A reason to close an OpenFlow connection.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SessionError {
    /// The switch's OpenFlow version is not supported.
    #[error("the switch speaks OpenFlow {} only; Braid needs 1.3 (set the bridge's protocols to OpenFlow13)", version(*.wire))]
    Version {
        /// The version number on the wire.
        wire: u8,
    },
    /// The first message was not a HELLO.
    #[error("the first message is {found}, not HELLO: this is not an OpenFlow switch")]
    NotHello {
        /// The first message.
        found: String,
    },
    /// A message could not be decoded.
    #[error("malformed message: {0}")]
    Malformed(#[from] DecodeError),
    /// The switch has too few tables for the pipeline.
    #[error("the switch has {have} flow tables; Braid needs {TABLES}")]
    Tables {
        /// The switch's tables.
        have: u8,
    },
    /// The switch refused a part of the handshake.
    #[error("the switch refused the handshake: {0}")]
    Refused(String),
    /// An auxiliary connection, which carries only part of a switch's messages.
    #[error("an auxiliary connection, number {0}: only main connections are served")]
    Auxiliary(u8),
    /// Nothing was received for too long.
    #[error("nothing heard for {} s", .0.as_secs())]
    Silent(Duration),
    /// The handshake was not finished in time.
    #[error("the handshake is not done after {} s; the limit is {} s", took.as_secs(), limit.as_secs())]
    SlowHandshake {
        /// The time so far.
        took: Duration,
        /// The limit.
        limit: Duration,
    },
    /// The switch has too many ports.
    #[error("the switch has {ports} ports or more; the limit is {limit}")]
    TooManyPorts {
        /// The ports so far.
        ports: usize,
        /// The limit.
        limit: usize,
    },
    /// A multipart reply is too long.
    #[error("the {kind:?} answer goes on after {bytes} bytes; the limit is {limit}")]
    LongAnswer {
        /// Its type.
        kind: MultipartType,
        /// Bytes of its messages so far.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A message could not be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// A reason to remove an earlier controller's state from a switch and write it anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DiscardReason {
    /// A group has a number of Braid's but not its form.
    #[error("a group with a number of Braid's is not as Braid writes it")]
    Foreign,
    /// The state exceeds the limits.
    #[error(
        "it has {count} rules, groups and meters of {bytes} bytes or more; the limits are {} and {}",
        limits.installed_rules, limits.installed_bytes
    )]
    TooMuch {
        /// Rules, groups and meters so far.
        count: usize,
        /// Their size in memory.
        bytes: usize,
        /// The limits.
        limits: SessionLimits,
    },
}

fn version(wire: u8) -> String {
    match wire {
        0x01..=0x06 => format!("1.{}", wire.saturating_sub(1)),
        _ => format!("version {wire:#04x}"),
    }
}
