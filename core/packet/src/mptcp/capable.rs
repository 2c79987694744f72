//! The MP_CAPABLE option in every form of versions 0 and 1. RFC 8684 §3.1, RFC 6824 §3.1.

use serde::{Deserialize, Serialize};

use super::{Key, MptcpError, Subtype, Version, encode_option};
use crate::bytes::Reader;

/// MP_CAPABLE: opens a connection. RFC 8684 §3.1, RFC 6824 §3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MpCapable {
    /// The version that the sender speaks: in a SYN the highest one it offers.
    pub version: Version,
    /// The flags of the sender.
    pub flags: MpCapableFlags,
    /// The keys.
    pub keys: Keys,
}

/// The keys that an MP_CAPABLE carries, which depends on where in the handshake it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Version 1, SYN: 4 bytes.
    None,
    /// SYN/ACK, and in version 0 the SYN: 12 bytes.
    Sender(Key),
    /// Third segment, 20 bytes; and in version 1 the first with data: 22 bytes, with a checksum 24.
    Both {
        /// The initiator's.
        sender: Key,
        /// The listener's.
        receiver: Key,
        /// The mapping of the segment's data.
        data: Option<FirstData>,
    },
}

/// The mapping of the first data of a connection. RFC 8684 §3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstData {
    /// The number of data bytes in the segment.
    pub len: u16,
    /// Their checksum, if the handshake asked for it.
    pub checksum: Option<u16>,
}

/// The flags A to H of MP_CAPABLE, A being the highest bit. RFC 8684 §3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MpCapableFlags(pub u8);

impl MpCapableFlags {
    /// A: data must carry checksums.
    pub const fn checksum_required(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// C: the sender takes no further subflows to the address and port that this segment comes from; version 1.
    pub const fn no_join_to_this_address(self) -> bool {
        self.0 & 0x20 != 0
    }

    /// H: tokens and joins use HMAC-SHA256 in version 1, HMAC-SHA1 in version 0; the only algorithm of each.
    pub const fn hmac(self) -> bool {
        self.0 & 0x01 != 0
    }
}

impl MpCapable {
    /// The key of the segment's sender.
    pub const fn sender_key(&self) -> Option<Key> {
        match self.keys {
            Keys::None => None,
            Keys::Sender(sender) | Keys::Both { sender, .. } => Some(sender),
        }
    }

    /// The key of the segment's receiver.
    pub const fn receiver_key(&self) -> Option<Key> {
        match self.keys {
            Keys::Both { receiver, .. } => Some(receiver),
            Keys::None | Keys::Sender(_) => None,
        }
    }

    /// Appends the option, its kind and length included.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_option(out, |out| {
            out.extend([Subtype::MpCapable.bits() << 4 | u8::from(self.version), self.flags.0]);
            out.extend(self.sender_key().iter().flat_map(|key| key.0.to_be_bytes()));
            out.extend(self.receiver_key().iter().flat_map(|key| key.0.to_be_bytes()));
            if let Keys::Both { data: Some(data), .. } = self.keys {
                out.extend(data.len.to_be_bytes());
                out.extend(data.checksum.iter().flat_map(|checksum| checksum.to_be_bytes()));
            }
        });
    }

    /// `None` if the version is neither 0 nor 1: then nothing is known of the rest.
    pub(super) fn parse(data: &[u8]) -> Result<Option<Self>, MptcpError> {
        let mut reader = Reader(data);
        let first = reader.u8().ok_or(MptcpError::NoSubtype)?;
        let Ok(version) = Version::try_from(first & 0x0f) else { return Ok(None) };
        let len = data.len().saturating_add(2);
        let parsed = reader.u8().zip(Keys::parse(version, len, &mut reader));
        let error = MptcpError::BadLength { subtype: Subtype::MpCapable, len };
        let (flags, keys) = parsed.ok_or(error)?;
        Ok(Some(Self { version, flags: MpCapableFlags(flags), keys }))
    }
}

impl Keys {
    /// `len` is the whole option's; which keys there are follows from it.
    fn parse(version: Version, len: usize, reader: &mut Reader<'_>) -> Option<Self> {
        match (version, len) {
            (Version::V1, 4) => Some(Self::None),
            (_, 12) => Some(Self::Sender(Key(reader.u64()?))),
            (_, 20) | (Version::V1, 22 | 24) => {
                let (sender, receiver) = (Key(reader.u64()?), Key(reader.u64()?));
                let data = reader.u16().map(|len| FirstData { len, checksum: reader.u16() });
                Some(Self::Both { sender, receiver, data })
            }
            _ => None,
        }
    }
}
