//! HELLO messages and the version negotiation by their elements. OpenFlow 1.3.5 §7.5.1.

use serde::Serialize;

use crate::error::{DecodeError, EncodeError, Part};
use crate::header::VERSION;
use crate::wire::{Bytes, List, Prefixed, Reader, Wire, pad_to_8};

const VERSION_BITMAP: u16 = 1;

/// Opens a channel. OpenFlow 1.3.5 §7.5.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Hello<'a> {
    /// The wire version of the header: the highest that the sender speaks.
    pub version: u8,
    /// More about the sender.
    pub elements: List<'a, HelloElement<'a>>,
}

/// An element of a HELLO. OpenFlow 1.3.5 §7.5.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HelloElement<'a> {
    /// The versions that the sender speaks: bit `n % 32` of number `n / 32` is wire version `n`.
    VersionBitmap(List<'a, u32>),
    /// Any other element, kept as it is.
    Unknown {
        /// Its type.
        element_type: u16,
        /// The body after the length, without padding.
        body: Bytes<'a>,
    },
}

impl<'a> Hello<'a> {
    /// Speaks OpenFlow 1.3 and nothing else.
    pub const V1_3: Hello<'static> = Hello {
        version: VERSION,
        elements: List::new(&[HelloElement::VersionBitmap(List::new(&[1 << VERSION]))]),
    };

    /// Whether a channel of wire version `version` can be agreed with the sender.
    ///
    /// If the sender gave a version bitmap, the bitmap decides; otherwise both ends use the lower of their
    /// highest versions, whatever the sender then makes of it.
    pub fn speaks(&self, version: u8) -> bool {
        let bitmap = self.elements.iter().find_map(|element| match element {
            HelloElement::VersionBitmap(bitmap) => Some(bitmap),
            HelloElement::Unknown { .. } => None,
        });
        match bitmap {
            Some(bitmap) => {
                let word = bitmap.iter().nth(usize::from(version / 32)).unwrap_or_default();
                word & 1 << (version % 32) != 0
            }
            None => self.version >= version,
        }
    }

    /// Speaks the versions up to `version` and says no more.
    pub const fn of_version(version: u8) -> Self {
        Self { version, elements: List::EMPTY }
    }
}

/// Its version is in the message's header: what is read here has that of 1.3.
impl<'a> Wire<'a> for Hello<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { version: VERSION, elements: reader.read()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.elements.write(out)
    }
}

impl<'a> Wire<'a> for HelloElement<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (element_type, mut body) = reader.tlv(Part::HelloElement)?;
        // Some senders leave out the padding of the last element.
        let padding = pad_to_8(body.len().saturating_add(4));
        reader.skip(padding.min(reader.len()))?;
        match element_type {
            VERSION_BITMAP => body.read().map(Self::VersionBitmap),
            element_type => Ok(Self::Unknown { element_type, body: body.read()? }),
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let element = match self {
            Self::VersionBitmap(bitmap) => {
                let element = Prefixed::tlv(out, Part::HelloElement, VERSION_BITMAP);
                bitmap.write(out)?;
                element
            }
            Self::Unknown { element_type, body } => {
                let element = Prefixed::tlv(out, Part::HelloElement, *element_type);
                body.write(out)?;
                element
            }
        };
        element.end_then_pad(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_bitmap_outweighs_the_header() {
        let old_only = [HelloElement::VersionBitmap(List::new(&[1 << 1]))];
        assert!(Hello::V1_3.speaks(4) && !Hello::V1_3.speaks(1) && !Hello::V1_3.speaks(200));
        assert!(!Hello { version: 6, elements: List::new(&old_only) }.speaks(4));
    }

    #[test]
    fn without_a_bitmap_the_lower_version_is_agreed() {
        assert!(Hello::of_version(6).speaks(4));
        assert!(!Hello::of_version(1).speaks(4));
    }
}
