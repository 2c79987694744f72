use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The bits of an attribute's type that are not its number: nested, and in network byte order.
const FLAGS: u16 = 0xc000;
const NESTED: u16 = 0x8000;
const HEADER: usize = 4;

/// One attribute of a message. Integers are in the machine's byte order unless a method says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attribute<'a> {
    /// Its number.
    pub kind: u16,
    /// What it holds.
    pub payload: &'a [u8],
}

impl<'a> Attribute<'a> {
    fn array<const N: usize>(&self) -> Option<[u8; N]> {
        self.payload.try_into().ok()
    }

    /// An integer of one byte.
    #[must_use]
    pub fn u8(&self) -> Option<u8> {
        self.array().map(u8::from_ne_bytes)
    }

    /// An integer of two bytes.
    #[must_use]
    pub fn u16(&self) -> Option<u16> {
        self.array().map(u16::from_ne_bytes)
    }

    /// An integer of two bytes, the high one first.
    #[must_use]
    pub fn be16(&self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// An integer of four bytes.
    #[must_use]
    pub fn u32(&self) -> Option<u32> {
        self.array().map(u32::from_ne_bytes)
    }

    /// An address of either family, by its length.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        let v4 = self.array::<4>().map(|it| Ipv4Addr::from(it).into());
        v4.or_else(|| self.array::<16>().map(|it| Ipv6Addr::from(it).into()))
    }

    /// A text, up to its zero.
    #[must_use]
    pub fn text(&self) -> Option<&'a str> {
        let end = self.payload.iter().position(|byte| *byte == 0).unwrap_or(self.payload.len());
        std::str::from_utf8(self.payload.get(..end)?).ok()
    }

    /// The attributes inside.
    #[must_use]
    pub const fn nested(&self) -> Attributes<'a> {
        Attributes(self.payload)
    }
}

/// Attributes one after the other, up to the first that is cut off.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a>(pub &'a [u8]);

impl<'a> Attributes<'a> {
    /// The first of this number.
    #[must_use]
    pub fn find(mut self, kind: u16) -> Option<Attribute<'a>> {
        Iterator::find(&mut self, |attribute| attribute.kind == kind)
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let (length, kind) = self.0.get(..HEADER)?.split_at(2);
        let length = usize::from(u16::from_ne_bytes(length.try_into().ok()?));
        let kind = u16::from_ne_bytes(kind.try_into().ok()?) & !FLAGS;
        let payload = self.0.get(HEADER..length)?;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Attribute { kind, payload })
    }
}

/// Attributes as they are written.
#[derive(Clone, Default, Debug)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Adds what `payload` says; attributes longer than 64 KiB do not exist, and are cut off.
    #[must_use]
    pub fn bytes(mut self, kind: u16, payload: &[u8]) -> Self {
        let payload = payload.get(..usize::from(u16::MAX) - HEADER).unwrap_or(payload);
        let length = u16::try_from(HEADER + payload.len()).unwrap_or(u16::MAX);
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(payload);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
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

    /// Adds a text with its zero.
    #[must_use]
    pub fn text(self, kind: u16, value: &str) -> Self {
        self.bytes(kind, &[value.as_bytes(), &[0]].concat())
    }

    /// Adds an attribute of attributes.
    #[must_use]
    pub fn nested(self, kind: u16, inside: &Self) -> Self {
        self.bytes(kind | NESTED, &inside.0)
    }

    /// All that was added.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
