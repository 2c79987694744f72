//! Opaque bytes and NUL-padded texts borrowed from a message.

use std::fmt;
use std::ops::Deref;

use serde::{Serialize, Serializer};

use super::{Reader, Wire, zeros};
use crate::error::{DecodeError, EncodeError};

/// Bytes that are not looked into, to the end of what holds them. Printed and serialised in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0
    }
}

impl<'a> From<&'a [u8]> for Bytes<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'a> Wire<'a> for Bytes<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self(reader.rest()))
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(self.0);
        Ok(())
    }
}

/// A name or description in a field of `N` bytes, filled up with NULs.
///
/// Bytes after the first NUL are kept and sent again, but not shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Text<'a, const N: usize>(&'a [u8]);

/// A text does not fit into its field together with the NUL that ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a text of {length} bytes does not fit into a field of {field}, of which the last ends it")]
pub struct TextTooLong {
    /// Bytes of the text.
    pub length: usize,
    /// Bytes of the field.
    pub field: usize,
}

impl<'a, const N: usize> Text<'a, N> {
    /// The text, unless it is longer than `N - 1` bytes.
    pub fn new(text: &'a str) -> Result<Self, TextTooLong> {
        match text.len() < N {
            true => Ok(Self(without_padding(text.as_bytes()))),
            false => Err(TextTooLong { length: text.len(), field: N }),
        }
    }

    /// The text up to its first NUL, in whatever encoding the sender uses; by the specification, ASCII.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.0.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

fn without_padding(bytes: &[u8]) -> &[u8] {
    let padding = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    bytes.get(..bytes.len().saturating_sub(padding)).unwrap_or_default()
}

impl<const N: usize> fmt::Display for Text<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().utf8_chunks().try_for_each(|chunk| {
            f.write_str(chunk.valid())?;
            f.write_str(if chunk.invalid().is_empty() { "" } else { "\u{fffd}" })
        })
    }
}

impl<const N: usize> fmt::Debug for Text<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl<const N: usize> Serialize for Text<'_, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'a, const N: usize> Wire<'a> for Text<'a, N> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.take(N).map(|field| Self(without_padding(field)))
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(self.0);
        zeros(out, N.saturating_sub(self.0.len()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_leaves_room_for_its_nul() {
        assert_eq!(Text::<4>::new("eth").map(|text| text.to_string()), Ok("eth".to_owned()));
        assert_eq!(Text::<4>::new("eth0"), Err(TextTooLong { length: 4, field: 4 }));
    }

    #[test]
    fn what_follows_a_nul_is_kept_but_not_shown() {
        let field = b"s1\0old\0\0";
        let mut reader = Reader::new(crate::Part::Header, field);
        let text: Text<'_, 8> = reader.read().expect("eight bytes");
        let mut out = Vec::new();
        text.write(&mut out).expect("a text always fits");
        assert_eq!((text.to_string().as_str(), out.as_slice()), ("s1", field.as_slice()));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_in_print() {
        assert_eq!(Text::<8>(b"a\xffb").to_string(), "a\u{fffd}b");
    }
}
