//! Iteration over the options of a TCP header.

use crate::bytes::Reader;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;

/// One TCP option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpOption<'a> {
    /// Its number at IANA.
    pub kind: u8,
    /// Its value, without kind and length.
    pub data: &'a [u8],
}

/// Why the options cannot be read further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TcpOptionError {
    /// The header ends after the option's kind.
    #[error("TCP option {kind} has no length")]
    NoLength {
        /// The option.
        kind: u8,
    },
    /// The length is below 2 or reaches beyond the header.
    #[error("TCP option {kind} says it has {len} bytes, the header has {have}")]
    BadLength {
        /// The option.
        kind: u8,
        /// The length it gives, its kind and length included.
        len: u8,
        /// The bytes from its kind on.
        have: usize,
    },
}

/// The options of a TCP header, padding skipped. Ends after the first error, or at the end-of-list option.
#[derive(Debug, Clone)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
}

impl<'a> TcpOptions<'a> {
    /// The options in `bytes`: what follows the fixed 20 bytes of a TCP header.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take(&mut self, kind: u8, after_kind: &'a [u8]) -> Result<TcpOption<'a>, TcpOptionError> {
        let have = self.rest.len();
        let mut reader = Reader(after_kind);
        let len = reader.u8().ok_or(TcpOptionError::NoLength { kind })?;
        let data = usize::from(len).checked_sub(2).and_then(|count| reader.bytes(count));
        self.rest = reader.0;
        data.map(|data| TcpOption { kind, data }).ok_or(TcpOptionError::BadLength { kind, len, have })
    }
}

impl<'a> Iterator for TcpOptions<'a> {
    type Item = Result<TcpOption<'a>, TcpOptionError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (&kind, after_kind) = self.rest.split_first()?;
            match kind {
                END => return None,
                NO_OPERATION => self.rest = after_kind,
                _ => {
                    let option = self.take(kind, after_kind);
                    if option.is_err() {
                        self.rest = &[];
                    }
                    return Some(option);
                }
            }
        }
    }
}
