//! The header of a match field: class, number, mask flag and length. OpenFlow 1.3.5 §7.2.3.2.

use serde::Serialize;

use crate::error::{DecodeError, EncodeError};
use crate::wire::{Bytes, Reader, Wire, wire_number};

wire_number! {
    /// A name space of fields. OpenFlow 1.3.5 §7.2.3.3.
    pub struct OxmClass(u16) hexadecimal "{:#06x}" {
        /// Nicira's fields that later became OpenFlow's.
        NXM_0 = 0x0000,
        /// Nicira's own fields.
        NXM_1 = 0x0001,
        /// The fields of the specification.
        OPENFLOW_BASIC = 0x8000,
        /// The packet registers of later versions.
        PACKET_REGS = 0x8001,
        /// Fields of experimenters, whose number precedes the value.
        EXPERIMENTER = 0xffff,
    }
}

/// The four bytes before a field's value. OpenFlow 1.3.5 §7.2.3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct OxmHeader {
    /// The name space.
    pub class: OxmClass,
    /// The field's number within the class, below 128.
    pub field: u8,
    /// Whether a mask of the same size follows the value.
    pub has_mask: bool,
    /// Bytes of the value and the mask.
    pub length: u8,
}

impl<'a> Wire<'a> for OxmHeader {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let [a, b, field, length] = reader.array()?;
        let class = OxmClass(u16::from_be_bytes([a, b]));
        Ok(Self { class, field: field >> 1, has_mask: field & 1 != 0, length })
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let [a, b] = self.class.0.to_be_bytes();
        out.extend_from_slice(&[a, b, self.field << 1 | u8::from(self.has_mask), self.length]);
        Ok(())
    }
}

/// A field that this crate does not know, or knows only without a mask and was given with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RawOxm<'a> {
    /// The name space.
    pub class: OxmClass,
    /// The field's number within the class, below 128.
    pub field: u8,
    /// Whether the second half of the body is a mask.
    pub has_mask: bool,
    /// The value and the mask, at most 255 bytes; first of all the experimenter's number if the class has one.
    pub body: Bytes<'a>,
}
