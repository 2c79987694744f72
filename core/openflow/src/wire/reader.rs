//! A cursor over received bytes, whose errors name the part of the message.

use super::Wire;
use crate::error::{DecodeError, Part};

/// A cursor over bytes that knows which part of a message they are, so that its errors can say so.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    part: Part,
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A cursor at the front of `bytes`, which are the `part` of a message.
    pub const fn new(part: Part, bytes: &'a [u8]) -> Self {
        Self { part, bytes }
    }

    /// Takes one value.
    #[inline]
    pub fn read<T: Wire<'a>>(&mut self) -> Result<T, DecodeError> {
        T::read(self)
    }

    /// Takes `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (array, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.truncated(N))?;
        self.bytes = rest;
        Ok(*array)
    }

    /// Takes `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or_else(|| self.truncated(count))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Passes over `count` bytes, whatever they are: the receiver of padding ignores it.
    #[inline]
    pub fn skip(&mut self, count: usize) -> Result<(), DecodeError> {
        self.take(count).map(drop)
    }

    /// Takes all that is left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    /// The number of remaining bytes.
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Refuses bytes that are left over.
    #[inline]
    pub fn finish(self) -> Result<(), DecodeError> {
        match self.len() {
            0 => Ok(()),
            extra => Err(DecodeError::Trailing { what: self.part, extra }),
        }
    }

    /// Which part of a message this reads.
    pub(crate) const fn part(&self) -> Part {
        self.part
    }

    /// The same bytes as another part of the message.
    pub(crate) const fn within(self, part: Part) -> Self {
        Self { part, bytes: self.bytes }
    }

    /// Takes the `part` whose length, in bytes from here, is the `u16` that lies `at` bytes from here.
    #[inline]
    pub(crate) fn prefixed(&mut self, part: Part, at: usize) -> Result<Self, DecodeError> {
        let mut head = self.within(part);
        head.skip(at)?;
        let length = usize::from(u16::from_be_bytes(head.array()?));
        self.split(part, length, at.saturating_add(2))
    }

    /// Takes a `part` of `length` bytes, of which at least `minimum`, the header, must be there.
    #[inline]
    pub(crate) fn split(&mut self, part: Part, length: usize, minimum: usize) -> Result<Self, DecodeError> {
        if length < minimum {
            return Err(DecodeError::Length { what: part, length });
        }
        let mut whole = self.within(part);
        let bytes = whole.take(length)?;
        self.bytes = whole.bytes;
        Ok(Self { part, bytes })
    }

    /// Takes a type-length-value whose length counts its 4-byte header: its type, and a reader of its value.
    #[inline]
    pub(crate) fn tlv(&mut self, part: Part) -> Result<(u16, Self), DecodeError> {
        let mut whole = self.prefixed(part, 2)?;
        let [a, b, _, _] = whole.array()?;
        Ok((u16::from_be_bytes([a, b]), whole))
    }

    /// A type-length-value as [`tlv`](Self::tlv) whose length must be a multiple of 8.
    #[inline]
    pub(crate) fn tlv_of_8(&mut self, part: Part) -> Result<(u16, Self), DecodeError> {
        let (tag, value) = self.tlv(part)?;
        let length = value.len().saturating_add(4);
        match length % 8 {
            0 => Ok((tag, value)),
            _ => Err(DecodeError::Length { what: part, length }),
        }
    }

    #[cold]
    fn truncated(&self, need: usize) -> DecodeError {
        DecodeError::Truncated { what: self.part, need, have: self.len() }
    }
}
