//! The type-length-value elements of an LLDPDU. IEEE 802.1AB-2016 §8.4.

use super::LldpError;
use crate::bytes::Reader;

/// The longest value of a TLV: its length field has nine bits.
const MAX_VALUE: usize = 511;

/// One type-length-value of an LLDPDU. IEEE 802.1AB-2016 §8.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// Its type, below 128.
    pub kind: u8,
    /// Its value, at most 511 bytes.
    pub value: &'a [u8],
}

impl Tlv<'_> {
    pub(super) const END: u8 = 0;
    pub(super) const CHASSIS_ID: u8 = 1;
    pub(super) const PORT_ID: u8 = 2;
    pub(super) const TTL: u8 = 3;
    pub(super) const SYSTEM_NAME: u8 = 5;
    pub(super) const ORGANISATION: u8 = 127;

    /// Appends the TLV; a value beyond 511 bytes is cut.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let value = self.value.get(..MAX_VALUE).unwrap_or(self.value);
        let len = u16::try_from(value.len()).unwrap_or_default();
        out.extend((u16::from(self.kind) << 9 | len).to_be_bytes());
        out.extend(value);
    }
}

/// The TLVs of an LLDPDU, up to the one that ends it; what follows that is padding. Ends after the first error.
#[derive(Debug, Clone)]
pub struct Tlvs<'a> {
    rest: &'a [u8],
}

impl<'a> Tlvs<'a> {
    /// The TLVs in `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take(&mut self) -> Option<Tlv<'a>> {
        let mut reader = Reader(self.rest);
        let [high, low] = reader.array()?;
        let len = usize::from(u16::from_be_bytes([high & 1, low]));
        let value = reader.bytes(len)?;
        self.rest = reader.0;
        Some(Tlv { kind: high >> 1, value })
    }
}

impl<'a> Iterator for Tlvs<'a> {
    type Item = Result<Tlv<'a>, LldpError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let taken = self.take();
        if taken.is_none_or(|tlv| tlv.kind == Tlv::END) {
            self.rest = &[];
        }
        match taken {
            Some(tlv) if tlv.kind == Tlv::END => None,
            Some(tlv) => Some(Ok(tlv)),
            None => Some(Err(LldpError::Malformed("a TLV reaches beyond the frame"))),
        }
    }
}
