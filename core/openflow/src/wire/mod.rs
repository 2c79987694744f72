//! The wire format of values: a bounds-checked [`Reader`], the [`Wire`] trait, and [`List`], the one container of
//! messages.

mod bytes;
pub(crate) mod flags;
mod list;
pub(crate) mod macros;
mod primitive;
mod reader;
mod writer;

pub use bytes::{Bytes, Text, TextTooLong};
pub use list::{Iter, List};
pub use reader::Reader;

pub(crate) use flags::FlagName;
pub(crate) use macros::{wire_enum, wire_flags, wire_number, wire_struct};
pub(crate) use primitive::FixedSize;
pub(crate) use writer::{Prefixed, pad_to_8, zeros};

use crate::error::{DecodeError, EncodeError};

/// A value that has a place in a message.
///
/// `read` takes exactly what `write` appends, padding included, and takes at least one byte unless it takes
/// all that is left.
pub trait Wire<'a>: Copy {
    /// Takes one value from the front of `reader`.
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Appends the value to `out`. After an error, what was appended is incomplete.
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError>;
}
