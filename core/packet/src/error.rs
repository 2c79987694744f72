//! Errors of reading a frame down to its network layer.

use etherparse::err::{LenError, ipv4, ipv6};

/// Why a frame could not be read down to its network layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// The bytes end before the header does.
    #[error("{what}: need {need} bytes, have {have}")]
    Truncated {
        /// The header.
        what: &'static str,
        /// The needed bytes, counted from its own start.
        need: usize,
        /// The available bytes.
        have: usize,
    },
    /// The header's first four bits contradict the EtherType.
    #[error("{what}: the version field says {version}")]
    Version {
        /// The header that the EtherType promises.
        what: &'static str,
        /// The version that was found.
        version: u8,
    },
    /// The header length field is below the header's fixed part.
    #[error("{what}: a header of {words} words of 4 bytes is too short")]
    HeaderLength {
        /// The header.
        what: &'static str,
        /// The field's value.
        words: u8,
    },
}

impl PacketError {
    pub(crate) fn truncated(what: &'static str, error: &LenError) -> Self {
        Self::Truncated { what, need: error.required_len, have: error.len }
    }
}

impl From<ipv4::HeaderSliceError> for PacketError {
    fn from(error: ipv4::HeaderSliceError) -> Self {
        use ipv4::{HeaderError, HeaderSliceError};
        let what = "IPv4 header";
        match error {
            HeaderSliceError::Len(error) => Self::truncated(what, &error),
            HeaderSliceError::Content(HeaderError::UnexpectedVersion { version_number }) => {
                Self::Version { what, version: version_number }
            }
            HeaderSliceError::Content(HeaderError::HeaderLengthSmallerThanHeader { ihl }) => {
                Self::HeaderLength { what, words: ihl }
            }
        }
    }
}

impl From<ipv6::HeaderSliceError> for PacketError {
    fn from(error: ipv6::HeaderSliceError) -> Self {
        use ipv6::{HeaderError, HeaderSliceError};
        let what = "IPv6 header";
        match error {
            HeaderSliceError::Len(error) => Self::truncated(what, &error),
            HeaderSliceError::Content(HeaderError::UnexpectedVersion { version_number }) => {
                Self::Version { what, version: version_number }
            }
        }
    }
}
