//! Values of match fields with optional masks, and the trait that reads and writes them.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::value::EthType;
use crate::error::{DecodeError, EncodeError};
use crate::wire::{FixedSize, Reader, Wire};

/// A value of a field and, if only some of its bits count, which ones.
///
/// Made from a value by `into()`: all its bits count then.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Masked<T> {
    /// The value.
    pub value: T,
    /// The bits that count are 1; without a mask, all count.
    pub mask: Option<T>,
}

impl<T> Masked<T> {
    /// A value of which all bits count.
    pub const fn exact(value: T) -> Self {
        Self { value, mask: None }
    }

    /// A value of which the bits count that are 1 in `mask`.
    pub const fn new(value: T, mask: T) -> Self {
        Self { value, mask: Some(mask) }
    }
}

impl<T> From<T> for Masked<T> {
    fn from(value: T) -> Self {
        Self::exact(value)
    }
}

impl<T: fmt::Debug> fmt::Debug for Masked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.mask {
            None => self.value.fmt(f),
            Some(mask) => write!(f, "{:?}/{mask:?}", self.value),
        }
    }
}

/// An exact value serialises as itself, one with a mask as an object of the two.
impl<T: Serialize> Serialize for Masked<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(mask) = &self.mask else {
            return self.value.serialize(serializer);
        };
        let mut object = serializer.serialize_struct("Masked", 2)?;
        object.serialize_field("value", &self.value)?;
        object.serialize_field("mask", mask)?;
        object.end()
    }
}

/// The payload of a known field.
pub(super) trait Payload<'a>: Copy {
    /// Bytes of the value, without the mask.
    const SIZE: usize;
    /// Whether a mask may follow the value.
    const MASKABLE: bool;

    fn read(reader: &mut Reader<'a>, has_mask: bool) -> Result<Self, DecodeError>;
    fn has_mask(&self) -> bool;
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError>;
}

impl<'a, T: Wire<'a> + FixedSize> Payload<'a> for Masked<T> {
    const SIZE: usize = T::SIZE;
    const MASKABLE: bool = true;

    #[inline]
    fn read(reader: &mut Reader<'a>, has_mask: bool) -> Result<Self, DecodeError> {
        let value = reader.read()?;
        let mask = if has_mask { Some(reader.read()?) } else { None };
        Ok(Self { value, mask })
    }

    #[inline]
    fn has_mask(&self) -> bool {
        self.mask.is_some()
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.value.write(out)?;
        self.mask.map_or(Ok(()), |mask| mask.write(out))
    }
}

macro_rules! exact {
    ($($type:ty),*) => {$(
        impl<'a> Payload<'a> for $type {
            const SIZE: usize = <Self as FixedSize>::SIZE;
            const MASKABLE: bool = false;

            #[inline]
            fn read(reader: &mut Reader<'a>, _: bool) -> Result<Self, DecodeError> {
                reader.read()
            }

            #[inline]
            fn has_mask(&self) -> bool {
                false
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                Wire::write(self, out)
            }
        }
    )*};
}

exact!(u8, u16, u32, braid_types::PortNo, EthType);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oxm::Isid;

    #[test]
    fn only_a_value_with_a_mask_serialises_as_an_object() {
        let json = |masked: Masked<u8>| serde_json::to_string(&masked).expect("numbers serialise");
        assert_eq!(json(7.into()), "7");
        assert_eq!(json(Masked::new(7, 0xf)), r#"{"value":7,"mask":15}"#);
    }

    #[test]
    fn a_service_identifier_takes_three_bytes() {
        assert_eq!(<Masked<Isid> as Payload<'_>>::SIZE, 3);
    }
}
