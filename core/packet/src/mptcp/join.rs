//! The MP_JOIN option in its three forms. RFC 8684 §3.2, RFC 6824 §3.2.

use super::{MptcpError, Subtype, Token, encode_option};
use crate::bytes::Reader;

/// MP_JOIN: adds a subflow to a connection. Its three forms differ in length. RFC 8684 §3.2, RFC 6824 §3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MpJoin {
    /// 12 bytes.
    Syn {
        /// Use this subflow only if no other works.
        backup: bool,
        /// Names the sender's address.
        address_id: u8,
        /// Names the connection at the receiver.
        token: Token,
        /// Makes the HMAC fresh.
        nonce: u32,
    },
    /// 16 bytes.
    SynAck {
        /// Use this subflow only if no other works.
        backup: bool,
        /// Names the sender's address.
        address_id: u8,
        /// The leftmost 64 bits of the HMAC over both nonces.
        hmac: u64,
        /// Makes the HMAC fresh.
        nonce: u32,
    },
    /// 24 bytes.
    Ack {
        /// The leftmost 160 bits of the HMAC over both nonces.
        hmac: [u8; 20],
    },
}

impl MpJoin {
    /// Appends the option, its kind and length included.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let subtype = Subtype::MpJoin.bits() << 4;
        encode_option(out, |out| match *self {
            Self::Syn { backup, address_id, token, nonce } => {
                out.extend([subtype | u8::from(backup), address_id]);
                out.extend(token.0.to_be_bytes());
                out.extend(nonce.to_be_bytes());
            }
            Self::SynAck { backup, address_id, hmac, nonce } => {
                out.extend([subtype | u8::from(backup), address_id]);
                out.extend(hmac.to_be_bytes());
                out.extend(nonce.to_be_bytes());
            }
            Self::Ack { hmac } => {
                out.extend([subtype, 0]);
                out.extend(hmac);
            }
        });
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, MptcpError> {
        let len = data.len().saturating_add(2);
        let error = MptcpError::BadLength { subtype: Subtype::MpJoin, len };
        Self::parse_form(len, Reader(data)).ok_or(error)
    }

    fn parse_form(len: usize, mut reader: Reader<'_>) -> Option<Self> {
        let [first, address_id] = reader.array()?;
        let backup = first & 1 != 0;
        match len {
            12 => {
                let token = Token(reader.u32()?);
                Some(Self::Syn { backup, address_id, token, nonce: reader.u32()? })
            }
            16 => {
                let hmac = reader.u64()?;
                Some(Self::SynAck { backup, address_id, hmac, nonce: reader.u32()? })
            }
            24 => Some(Self::Ack { hmac: reader.array()? }),
            _ => None,
        }
    }
}
