//! Netlink attributes, read without allocations and written in sequence.

use std::net::IpAddr;

use netlink_packet_core::{
    DefaultNla, Emitable, NLA_ALIGNTO, NLA_F_NESTED, NLA_HEADER_SIZE, NlaBuffer, parse_ip, parse_u8,
    parse_u16, parse_u16_be, parse_u32,
};

/// One attribute of a message. Integers are in the machine's byte order unless a method says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attribute<'a> {
    /// Its type.
    pub kind: u16,
    /// Its payload.
    pub payload: &'a [u8],
}

impl<'a> Attribute<'a> {
    /// An integer of one byte.
    #[must_use]
    pub fn u8(&self) -> Option<u8> {
        parse_u8(self.payload).ok()
    }

    /// An integer of two bytes.
    #[must_use]
    pub fn u16(&self) -> Option<u16> {
        parse_u16(self.payload).ok()
    }

    /// An integer of two bytes in network byte order.
    #[must_use]
    pub fn be16(&self) -> Option<u16> {
        parse_u16_be(self.payload).ok()
    }

    /// An integer of four bytes.
    #[must_use]
    pub fn u32(&self) -> Option<u32> {
        parse_u32(self.payload).ok()
    }

    /// An address of either family, by its length.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        parse_ip(self.payload).ok()
    }

    /// A NUL-terminated text.
    #[must_use]
    pub fn text(&self) -> Option<&'a str> {
        let end = self.payload.iter().position(|byte| *byte == 0).unwrap_or(self.payload.len());
        std::str::from_utf8(self.payload.get(..end)?).ok()
    }

    /// The nested attributes.
    #[must_use]
    pub const fn nested(&self) -> Attributes<'a> {
        Attributes(self.payload)
    }
}

/// A sequence of attributes, up to the first truncated one.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a>(pub &'a [u8]);

impl<'a> Attributes<'a> {
    /// The first attribute of this type.
    #[must_use]
    pub fn find(mut self, kind: u16) -> Option<Attribute<'a>> {
        Iterator::find(&mut self, |attribute| attribute.kind == kind)
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let attribute = NlaBuffer::new_checked(self.0).ok()?;
        let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
        let payload = self.0.get(NLA_HEADER_SIZE..length)?;
        self.0 = self.0.get(length.next_multiple_of(NLA_ALIGNTO)..).unwrap_or_default();
        Some(Attribute { kind, payload })
    }
}

/// A sequence of attributes under construction.
#[derive(Clone, Default, Debug)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Adds an attribute with this payload, truncated to netlink's limit of 64 KiB.
    #[must_use]
    pub fn bytes(mut self, kind: u16, payload: &[u8]) -> Self {
        let payload = payload.get(..usize::from(u16::MAX) - NLA_HEADER_SIZE).unwrap_or(payload);
        let attribute = DefaultNla::new(kind, payload.to_vec());
        let start = self.0.len();
        self.0.resize(start + attribute.buffer_len(), 0);
        attribute.emit(self.0.get_mut(start..).unwrap_or_default());
        self
    }

    /// Adds an integer of one byte.
    #[must_use]
    pub fn u8(self, kind: u16, value: u8) -> Self {
        self.bytes(kind, &[value])
    }

    /// Adds an integer of two bytes.
    #[must_use]
    pub fn u16(self, kind: u16, value: u16) -> Self {
        self.bytes(kind, &value.to_ne_bytes())
    }

    /// Adds an integer of four bytes.
    #[must_use]
    pub fn u32(self, kind: u16, value: u32) -> Self {
        self.bytes(kind, &value.to_ne_bytes())
    }

    /// Adds a NUL-terminated text.
    #[must_use]
    pub fn text(self, kind: u16, value: &str) -> Self {
        self.bytes(kind, &[value.as_bytes(), &[0]].concat())
    }

    /// Adds an attribute with nested attributes.
    #[must_use]
    pub fn nested(self, kind: u16, inside: &Self) -> Self {
        self.bytes(kind | NLA_F_NESTED, &inside.0)
    }

    /// The bytes of all attributes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
