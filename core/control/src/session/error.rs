use std::time::Duration;

use braid_openflow::{DecodeError, EncodeError};

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
    #[error("the handshake is not done after {} s", .0.as_secs())]
    SlowHandshake(Duration),
    /// A reply could not be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

fn version(wire: u8) -> String {
    match wire {
        0x01..=0x06 => format!("1.{}", wire - 1),
        _ => format!("version {wire:#04x}"),
    }
}
