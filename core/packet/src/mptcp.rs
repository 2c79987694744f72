//! The MPTCP options of TCP: version 1 (RFC 8684) and version 0 (RFC 6824).
//!
//! [`handshake`] reads what ties a subflow to its connection: MP_CAPABLE or MP_JOIN. [`options`] goes through
//! all of them; those that the controller has no use for are named and kept as bytes.

mod capable;
mod join;
mod key;
mod subtype;

pub use braid_types::Token;
pub use capable::{FirstData, Keys, MpCapable, MpCapableFlags};
pub use join::MpJoin;
pub use key::{Key, Version};
pub use subtype::Subtype;

use serde::{Deserialize, Serialize};

use crate::tcp::{TcpOption, TcpOptionError, TcpOptions};

/// The number of MPTCP among the TCP options. RFC 8684 §7.1.
pub const OPTION_KIND: u8 = 30;

/// One MPTCP option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MptcpOption<'a> {
    /// Opens a connection, or confirms that it is open.
    Capable(MpCapable),
    /// Adds a subflow to a connection.
    Join(MpJoin),
    /// Any other subtype, and MP_CAPABLE of a version other than 0 and 1.
    Raw {
        /// Its name.
        subtype: Subtype,
        /// The bytes after kind and length: the subtype is the upper half of the first.
        bytes: &'a [u8],
    },
}

/// The option of a handshake segment that says which connection a subflow belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handshake {
    /// The subflow is the first of its connection.
    Capable(MpCapable),
    /// The subflow joins a connection.
    Join(MpJoin),
}

/// The content of a [`Handshake`] for logs and recordings, with tokens instead of the secret keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "option", rename_all = "snake_case")]
pub enum Summary {
    /// MP_CAPABLE.
    Capable {
        /// The version.
        version: Version,
        /// Names the connection in joins that are sent to this segment's sender.
        sender: Option<Token>,
        /// Names the connection in joins that are sent to this segment's receiver.
        receiver: Option<Token>,
    },
    /// MP_JOIN of a SYN.
    Join {
        /// Names the connection at the receiver of the SYN.
        token: Token,
        /// Names the sender's address.
        address_id: u8,
        /// The sender wants this subflow to be used only if no other works.
        backup: bool,
    },
    /// MP_JOIN of a SYN/ACK: the connection is the one that the SYN named.
    JoinReply {
        /// Names the sender's address.
        address_id: u8,
        /// The sender wants this subflow to be used only if no other works.
        backup: bool,
    },
    /// MP_JOIN of the third segment.
    JoinAck,
}

/// Why an MPTCP option cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MptcpError {
    /// The options are broken before any MPTCP option was found, or after it.
    #[error(transparent)]
    Tcp(#[from] TcpOptionError),
    /// The option ends after its length.
    #[error("an MPTCP option has no subtype")]
    NoSubtype,
    /// No form of this subtype in this version has this length.
    #[error("no form of {subtype} in its version has {len} bytes")]
    BadLength {
        /// The subtype.
        subtype: Subtype,
        /// The option's length, its kind and length included.
        len: usize,
    },
    /// A segment opens or joins a connection once, RFC 8684 §3.1; the second option is the one named.
    #[error("a second handshake option: {0}")]
    Repeated(Subtype),
}

/// The MPTCP options among a segment's TCP options.
///
/// # Errors
///
/// An MPTCP option that is malformed is an error, and the next ones follow; broken TCP options end the sequence.
pub fn options(tcp_options: &[u8]) -> impl Iterator<Item = Result<MptcpOption<'_>, MptcpError>> {
    TcpOptions::new(tcp_options).filter_map(|option| match option {
        Ok(TcpOption { kind: OPTION_KIND, data }) => Some(MptcpOption::parse(data)),
        Ok(_) => None,
        Err(error) => Some(Err(MptcpError::Tcp(error))),
    })
}

/// The one MP_CAPABLE or MP_JOIN among a segment's TCP options; `None` if the segment has neither.
///
/// # Errors
///
/// An MPTCP option is malformed, the TCP options are broken, or there is more than one of the two.
pub fn handshake(tcp_options: &[u8]) -> Result<Option<Handshake>, MptcpError> {
    let mut found = None;
    for option in options(tcp_options) {
        let (next, subtype) = match option? {
            MptcpOption::Capable(capable) => (Handshake::Capable(capable), Subtype::MpCapable),
            MptcpOption::Join(join) => (Handshake::Join(join), Subtype::MpJoin),
            MptcpOption::Raw { .. } => continue,
        };
        if found.replace(next).is_some() {
            return Err(MptcpError::Repeated(subtype));
        }
    }
    Ok(found)
}

impl<'a> MptcpOption<'a> {
    /// Reads an option from what follows its kind and length.
    ///
    /// # Errors
    ///
    /// There is no subtype, or MP_CAPABLE or MP_JOIN has a length that no form of it has.
    pub fn parse(data: &'a [u8]) -> Result<Self, MptcpError> {
        let first = *data.first().ok_or(MptcpError::NoSubtype)?;
        let subtype = Subtype::from_bits(first >> 4);
        let raw = Self::Raw { subtype, bytes: data };
        match subtype {
            Subtype::MpCapable => Ok(MpCapable::parse(data)?.map_or(raw, Self::Capable)),
            Subtype::MpJoin => MpJoin::parse(data).map(Self::Join),
            _ => Ok(raw),
        }
    }

    /// Appends the option, its kind and length included.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Capable(capable) => capable.encode(out),
            Self::Join(join) => join.encode(out),
            Self::Raw { bytes, .. } => encode_option(out, |out| out.extend_from_slice(bytes)),
        }
    }
}

impl Handshake {
    /// The same without keys.
    pub fn summary(&self) -> Summary {
        match *self {
            Self::Capable(capable) => Summary::Capable {
                version: capable.version,
                sender: capable.sender_key().map(|key| key.token(capable.version)),
                receiver: capable.receiver_key().map(|key| key.token(capable.version)),
            },
            Self::Join(MpJoin::Syn { backup, address_id, token, .. }) => {
                Summary::Join { token, address_id, backup }
            }
            Self::Join(MpJoin::SynAck { backup, address_id, .. }) => {
                Summary::JoinReply { address_id, backup }
            }
            Self::Join(MpJoin::Ack { .. }) => Summary::JoinAck,
        }
    }
}

/// Writes kind and length around what `value` writes.
fn encode_option(out: &mut Vec<u8>, value: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([OPTION_KIND, 0]);
    value(out);
    let len = u8::try_from(out.len().saturating_sub(start)).unwrap_or(u8::MAX);
    if let Some(byte) = out.get_mut(start.saturating_add(1)) {
        *byte = len;
    }
}
