//! Errors of decoding and encoding, with the part of the message and the OpenFlow error code to answer with.

use std::fmt;

use crate::message::{
    BadActionCode, BadMatchCode, BadRequestCode, ErrorCode, GroupModFailedCode, MeterModFailedCode,
    TableFeaturesFailedCode,
};
use crate::{BadInstructionCode, MessageType, MultipartType};

/// Why bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There are fewer bytes than the fields or the length field ask for.
    #[error("{what}: need {need} bytes, have {have}")]
    Truncated {
        /// The part of the message.
        what: Part,
        /// Bytes that the next field takes.
        need: usize,
        /// Bytes that are left.
        have: usize,
    },
    /// A length field is below the size of the header that holds it, or not of the alignment that it must have.
    #[error("{what}: a length of {length} bytes is impossible")]
    Length {
        /// The part with the length.
        what: Part,
        /// The length in bytes, as received.
        length: usize,
    },
    /// There are more bytes than the fields take.
    #[error("{what}: {extra} bytes are left over")]
    Trailing {
        /// The value.
        what: Part,
        /// Bytes that are left.
        extra: usize,
    },
    /// A match is not of OXM fields, the only kind that OpenFlow 1.3 has.
    #[error("match: type {value} is not OXM (1)")]
    MatchType {
        /// The type, as received.
        value: u16,
    },
    /// A message other than HELLO is of another version of OpenFlow than 1.3.
    #[error("header: wire version {version} is {}, not OpenFlow 1.3 (4)", version_name(*version))]
    Version {
        /// The version, as received.
        version: u8,
    },
}

/// Why a message cannot become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// It does not fit into its length field.
    #[error("{what}: {length} bytes do not fit into its length field")]
    TooLong {
        /// The part with the length field.
        what: Part,
        /// Bytes that it would take.
        length: usize,
    },
}

/// The part of a message in which an error lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The header of 8 bytes that starts every message.
    Header,
    /// The body of a message of this type.
    Message(MessageType),
    /// The body of a multipart request of this type.
    MultipartRequest(MultipartType),
    /// The body of a multipart reply of this type.
    MultipartReply(MultipartType),
    /// An element of a HELLO.
    HelloElement,
    /// A match.
    Match,
    /// A field of a match.
    OxmField,
    /// The field within a set-field action.
    SetField,
    /// An action.
    Action,
    /// An instruction.
    Instruction,
    /// A bucket of a group.
    Bucket,
    /// A band of a meter.
    MeterBand,
    /// A queue of a port.
    Queue,
    /// A property of a queue.
    QueueProperty,
    /// The description of one table.
    TableFeatures,
    /// A property of a table.
    TableFeatureProperty,
    /// A flow and what it has counted.
    FlowStats,
    /// Counters of a group.
    GroupStats,
    /// The description of a group.
    GroupDesc,
    /// Counters of a meter.
    MeterStats,
    /// The description of a meter.
    MeterConfig,
    /// The payload of an experimenter's structure.
    Experimenter,
    /// A list that was checked before.
    Checked,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(kind) => write!(f, "{kind:?}"),
            Self::MultipartRequest(kind) => write!(f, "MultipartRequest {kind:?}"),
            Self::MultipartReply(kind) => write!(f, "MultipartReply {kind:?}"),
            part => write!(f, "{part:?}"),
        }
    }
}

impl DecodeError {
    /// The type and code of an OFPT_ERROR reply to the message. OpenFlow 1.3.5 §7.4.4.
    pub const fn error_code(&self) -> ErrorCode {
        match self {
            Self::Truncated { what, .. } | Self::Length { what, .. } | Self::Trailing { what, .. } => {
                what.length_error()
            }
            Self::MatchType { .. } => ErrorCode::BadMatch(BadMatchCode::BadType),
            Self::Version { .. } => ErrorCode::BadRequest(BadRequestCode::BadVersion),
        }
    }

    /// The same error, seen from what holds the part in which it lies.
    #[cold]
    pub(crate) const fn within(self, what: Part) -> Self {
        match self {
            Self::Truncated { need, have, .. } => Self::Truncated { what, need, have },
            Self::Length { length, .. } => Self::Length { what, length },
            Self::Trailing { extra, .. } => Self::Trailing { what, extra },
            error => error,
        }
    }
}

impl Part {
    const fn length_error(self) -> ErrorCode {
        match self {
            Self::Match | Self::OxmField => ErrorCode::BadMatch(BadMatchCode::BadLen),
            Self::Action => ErrorCode::BadAction(BadActionCode::BadLen),
            Self::SetField => ErrorCode::BadAction(BadActionCode::BadSetLen),
            Self::Instruction => ErrorCode::BadInstruction(BadInstructionCode::BadLen),
            Self::Bucket => ErrorCode::GroupModFailed(GroupModFailedCode::BadBucket),
            Self::MeterBand => ErrorCode::MeterModFailed(MeterModFailedCode::BadBand),
            Self::TableFeatures | Self::TableFeatureProperty => {
                ErrorCode::TableFeaturesFailed(TableFeaturesFailedCode::BadLen)
            }
            _ => ErrorCode::BadRequest(BadRequestCode::BadLen),
        }
    }
}

/// The name of a wire version, for messages to people.
const fn version_name(version: u8) -> &'static str {
    match version {
        1 => "OpenFlow 1.0",
        2 => "OpenFlow 1.1",
        3 => "OpenFlow 1.2",
        4 => "OpenFlow 1.3",
        5 => "OpenFlow 1.4",
        6 => "OpenFlow 1.5",
        _ => "no version of OpenFlow",
    }
}
