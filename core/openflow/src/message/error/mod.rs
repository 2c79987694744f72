//! Error messages. OpenFlow 1.3.5 §7.4.4.

mod code;
mod operation;
mod request;

use serde::Serialize;

pub use code::ErrorCode;
pub use operation::*;
pub use request::*;

use crate::error::{DecodeError, EncodeError};
use crate::wire::{Bytes, Reader, Wire};

/// Says that a message was refused. OpenFlow 1.3.5 §7.4.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ErrorMsg<'a> {
    /// Why.
    pub error: ErrorCode,
    /// At least the first 64 bytes of the message; for a failed HELLO, a text.
    pub data: Bytes<'a>,
}

impl<'a> ErrorMsg<'a> {
    /// The answer to the message `request`, its header included, that could not be decoded.
    ///
    /// It quotes 64 bytes of the request, which is what every receiver must be content with.
    pub fn refusing(error: ErrorCode, request: &'a [u8]) -> Self {
        Self { error, data: Bytes(request.get(..64).unwrap_or(request)) }
    }
}

impl<'a> Wire<'a> for ErrorMsg<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (number, code) = (reader.read()?, reader.read()?);
        let error = ErrorCode::from_numbers(number, code);
        let error = match error {
            ErrorCode::Experimenter { exp_type, .. } => {
                ErrorCode::Experimenter { exp_type, experimenter: reader.read()? }
            }
            error => error,
        };
        Ok(Self { error, data: reader.read()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let (number, code) = self.error.numbers();
        number.write(out)?;
        code.write(out)?;
        if let ErrorCode::Experimenter { experimenter, .. } = self.error {
            experimenter.write(out)?;
        }
        self.data.write(out)
    }
}
