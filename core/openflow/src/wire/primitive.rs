//! Wire forms of integers, addresses and other values of fixed size.

use std::net::{Ipv4Addr, Ipv6Addr};

use braid_types::{DatapathId, MacAddr, PortNo};

use super::{Reader, Wire};
use crate::error::{DecodeError, EncodeError};

/// A value that always takes the same number of bytes.
pub(crate) trait FixedSize {
    /// Bytes on the wire.
    const SIZE: usize;
}

macro_rules! primitive {
    ($($type:ty: $size:literal, $from:expr, $into:expr;)*) => {$(
        impl FixedSize for $type {
            const SIZE: usize = $size;
        }

        impl<'a> Wire<'a> for $type {
            #[inline]
            fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                reader.array::<$size>().map($from)
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                out.extend_from_slice(&$into(*self));
                Ok(())
            }
        }
    )*};
}

primitive! {
    u8: 1, Self::from_be_bytes, Self::to_be_bytes;
    u16: 2, Self::from_be_bytes, Self::to_be_bytes;
    u32: 4, Self::from_be_bytes, Self::to_be_bytes;
    u64: 8, Self::from_be_bytes, Self::to_be_bytes;
    MacAddr: 6, Self::new, Self::octets;
    Ipv4Addr: 4, Self::from, |address: Self| address.octets();
    Ipv6Addr: 16, Self::from, |address: Self| address.octets();
    PortNo: 4, |bytes| Self(u32::from_be_bytes(bytes)), |port: Self| port.0.to_be_bytes();
    DatapathId: 8, |bytes| Self(u64::from_be_bytes(bytes)), |dpid: Self| dpid.0.to_be_bytes();
}

impl<'a, T: Wire<'a>> Wire<'a> for [T; 2] {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok([reader.read()?, reader.read()?])
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.iter().try_for_each(|item| item.write(out))
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for [T; 4] {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok([reader.read()?, reader.read()?, reader.read()?, reader.read()?])
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.iter().try_for_each(|item| item.write(out))
    }
}
