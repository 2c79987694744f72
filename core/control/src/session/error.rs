//! Reasons to close an OpenFlow connection, and reasons to discard the rules of an earlier controller.

use std::time::Duration;

use braid_openflow::{DecodeError, EncodeError, MultipartType};

use super::SessionLimits;
use crate::pipeline::TABLES;

/// Why a channel must be closed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SessionError {
    /// The other end is too old or too new.
    #[error("the switch speaks OpenFlow {} only; Braid needs 1.3 (set the bridge's protocols to OpenFlow13)", version(*.wire))]
    Version {
        /// The version number on the wire.
        wire: u8,
    },
    /// The first message was not a HELLO.
    #[error("the first message is {found}, not HELLO: this is not an OpenFlow switch")]
    NotHello {
        /// What it was.
        found: String,
    },
    /// A message that cannot be read.
    #[error("malformed message: {0}")]
    Malformed(#[from] DecodeError),
    /// The pipeline does not fit.
    #[error("the switch has {have} flow tables; Braid needs {TABLES}")]
    Tables {
        /// How many there are.
        have: u8,
    },
    /// The switch refused a part of the handshake.
    #[error("the switch refused the handshake: {0}")]
    Refused(String),
    /// Another controller has the switch.
    #[error("the switch made us {role}, not master: another controller has it")]
    NotMaster {
        /// Our role.
        role: String,
    },
    /// A connection that only carries part of a switch's messages.
    #[error("an auxiliary connection, number {0}: only main connections are served")]
    Auxiliary(u8),
    /// Nothing came for too long.
    #[error("nothing heard for {} s", .0.as_secs())]
    Silent(Duration),
    /// The handshake was not finished in time.
    #[error("the handshake is not done after {} s; the limit is {} s", took.as_secs(), limit.as_secs())]
    SlowHandshake {
        /// So far.
        took: Duration,
        /// At most.
        limit: Duration,
    },
    /// More ports than a switch may have.
    #[error("the switch has {ports} ports or more; the limit is {limit}")]
    TooManyPorts {
        /// How many there are so far.
        ports: usize,
        /// How many there may be.
        limit: usize,
    },
    /// An answer that does not end.
    #[error("the {kind:?} answer goes on after {bytes} bytes; the limit is {limit}")]
    LongAnswer {
        /// What was asked for.
        kind: MultipartType,
        /// Of its messages so far.
        bytes: usize,
        /// Of its messages at most.
        limit: usize,
    },
    /// A reply could not be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// Why what an earlier controller left in a switch is removed and written anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unusable {
    /// A group is not as we write it.
    #[error("a group with a number of Braid's is not as Braid writes it")]
    Foreign,
    /// More than is taken up.
    #[error(
        "it has {count} rules, groups and meters of {bytes} bytes or more; the limits are {} and {}",
        limits.found, limits.found_bytes
    )]
    TooMuch {
        /// Rules, groups and meters so far.
        count: usize,
        /// What they take.
        bytes: usize,
        /// What there may be.
        limits: SessionLimits,
    },
}

fn version(wire: u8) -> String {
    match wire {
        0x01..=0x06 => format!("1.{}", wire - 1),
        _ => format!("version {wire:#04x}"),
    }
}
