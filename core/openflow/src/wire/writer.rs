//! Padding and length fields of messages under construction.

use crate::error::{EncodeError, Part};

/// Appends `count` zero bytes of padding.
#[inline]
pub(crate) fn zeros(out: &mut Vec<u8>, count: usize) {
    // Most padding is short: appending a constant number of bytes needs no loop.
    let end = out.len().saturating_add(count);
    if count <= 8 {
        out.extend_from_slice(&[0; 8]);
        out.truncate(end);
    } else {
        out.resize(end, 0);
    }
}

/// The padding after `length` bytes up to the next multiple of 8.
#[inline]
pub(crate) const fn pad_to_8(length: usize) -> usize {
    length.wrapping_neg() % 8
}

/// A part of a message under construction whose length is written when it is known.
pub(crate) struct Prefixed {
    part: Part,
    start: usize,
    at: usize,
}

impl Prefixed {
    /// Starts a part whose length field lies `at` bytes from its start.
    #[inline]
    pub(crate) fn begin(out: &[u8], part: Part, at: usize) -> Self {
        Self { part, start: out.len(), at }
    }

    /// Starts a type-length-value: appends its type and room for its length.
    #[inline]
    pub(crate) fn tlv(out: &mut Vec<u8>, part: Part, tag: u16) -> Self {
        let prefixed = Self::begin(out, part, 2);
        let [a, b] = tag.to_be_bytes();
        out.extend_from_slice(&[a, b, 0, 0]);
        prefixed
    }

    /// Writes the length of all that was appended since the start.
    #[inline]
    pub(crate) fn end(self, out: &mut [u8]) -> Result<(), EncodeError> {
        let length = self.length(out);
        Self::patch(out, self.start.saturating_add(self.at), length, self.part)
    }

    /// Writes `length` into the two bytes at `at`: the length of `part`.
    #[inline]
    pub(crate) fn patch(out: &mut [u8], at: usize, length: usize, part: Part) -> Result<(), EncodeError> {
        let too_long = EncodeError::TooLong { what: part, length };
        let field = u16::try_from(length).map_err(|_| too_long)?.to_be_bytes();
        if let Some(place) = out.get_mut(at..).and_then(|tail| tail.first_chunk_mut()) {
            *place = field;
        }
        Ok(())
    }

    /// Pads to a multiple of 8, then writes the length, which counts the padding.
    #[inline]
    pub(crate) fn end_padded(self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        zeros(out, pad_to_8(self.length(out)));
        self.end(out)
    }

    /// Writes the length, then pads to a multiple of 8 that the length does not count.
    #[inline]
    pub(crate) fn end_then_pad(self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let padding = pad_to_8(self.length(out));
        self.end(out)?;
        zeros(out, padding);
        Ok(())
    }

    fn length(&self, out: &[u8]) -> usize {
        out.len().saturating_sub(self.start)
    }
}
