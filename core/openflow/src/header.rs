//! Message headers, framing of a byte stream, and iteration over messages that lie one after another.

use serde::Serialize;

use crate::error::{DecodeError, Part};
use crate::id::Xid;
use crate::message::Message;
use crate::wire::{Reader, wire_enum};

/// The wire version of OpenFlow 1.3.
pub const VERSION: u8 = 4;

/// Bytes of the header that starts every message of every version.
pub const HEADER_LEN: usize = 8;

wire_enum! {
    /// The type of a message. OpenFlow 1.3.5 §7.1.
    pub enum MessageType(u8) {
        /// Opens a channel.
        Hello = 0,
        /// A request failed.
        Error = 1,
        /// Asks for an echo.
        EchoRequest = 2,
        /// Gives the echo.
        EchoReply = 3,
        /// Defined by an experimenter.
        Experimenter = 4,
        /// Asks for the switch's identity.
        FeaturesRequest = 5,
        /// Gives the switch's identity.
        FeaturesReply = 6,
        /// Asks for the switch's configuration.
        GetConfigRequest = 7,
        /// Gives the switch's configuration.
        GetConfigReply = 8,
        /// Sets the switch's configuration.
        SetConfig = 9,
        /// A packet for the controller.
        PacketIn = 10,
        /// A flow ended.
        FlowRemoved = 11,
        /// A port came, went or changed.
        PortStatus = 12,
        /// A packet for the switch to send.
        PacketOut = 13,
        /// Adds, changes or deletes flows.
        FlowMod = 14,
        /// Adds, changes or deletes a group.
        GroupMod = 15,
        /// Changes a port.
        PortMod = 16,
        /// Changes a table.
        TableMod = 17,
        /// Asks for statistics or descriptions.
        MultipartRequest = 18,
        /// Gives statistics or descriptions.
        MultipartReply = 19,
        /// Asks to finish all that was asked before.
        BarrierRequest = 20,
        /// Says that it is finished.
        BarrierReply = 21,
        /// Asks for the queues of a port.
        QueueGetConfigRequest = 22,
        /// Gives the queues of a port.
        QueueGetConfigReply = 23,
        /// Asks for a role.
        RoleRequest = 24,
        /// Gives the role.
        RoleReply = 25,
        /// Asks which messages the switch sends of its own accord.
        GetAsyncRequest = 26,
        /// Gives which messages the switch sends of its own accord.
        GetAsyncReply = 27,
        /// Sets which messages the switch sends of its own accord.
        SetAsync = 28,
        /// Adds, changes or deletes a meter.
        MeterMod = 29,
    }
}

/// The header of a message of any version. OpenFlow 1.3.5 §7.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Header {
    /// The wire version, 4 for OpenFlow 1.3.
    pub version: u8,
    /// The type, which means what [`MessageType`] says only in version 4.
    pub message_type: MessageType,
    /// Bytes of the message, this header included.
    pub length: u16,
    /// Ties a reply to its request.
    pub xid: Xid,
}

impl Header {
    /// Reads the header at the front of `bytes`, whatever its version.
    ///
    /// Fails if there are fewer than 8 bytes, or if the length says that there are.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(Part::Header, bytes);
        let [version, kind, a, b, xid @ ..] = reader.array::<HEADER_LEN>()?;
        let length = u16::from_be_bytes([a, b]);
        if usize::from(length) < HEADER_LEN {
            return Err(DecodeError::Length { what: Part::Header, length: usize::from(length) });
        }
        Ok(Self { version, message_type: MessageType::from(kind), length, xid: Xid(u32::from_be_bytes(xid)) })
    }
}

/// The length in bytes of the message at the front of a stream, or `None` while it is not there in full.
///
/// After an error the stream has lost its framing and cannot go on.
#[inline]
pub fn frame_length(stream: &[u8]) -> Result<Option<usize>, DecodeError> {
    if stream.len() < HEADER_LEN {
        return Ok(None);
    }
    let length = usize::from(Header::decode(stream)?.length);
    Ok((length <= stream.len()).then_some(length))
}

/// The messages that lie one after another in `bytes`, such as the captured payload of a connection.
///
/// A message that cannot be decoded does not end the iteration. Lost framing and an incomplete last message
/// do, after one error.
pub const fn frames(bytes: &[u8]) -> Frames<'_> {
    Frames { bytes, offset: 0 }
}

/// An iterator over the messages of a byte slice, made by [`frames`].
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    offset: usize,
}

/// The bytes of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where the message starts in the slice given to [`frames`], in bytes.
    pub offset: usize,
    /// The message, its header included.
    pub bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Decodes the message.
    pub fn decode(&self) -> Result<(Xid, Message<'a>), DecodeError> {
        Message::decode(self.bytes)
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let frame = split_frame(self.bytes);
        let taken = frame.unwrap_or(self.bytes);
        let offset = self.offset;
        self.offset = offset.saturating_add(taken.len());
        self.bytes = self.bytes.get(taken.len()..).unwrap_or_default();
        Some(frame.map(|bytes| Frame { offset, bytes }))
    }
}

fn split_frame(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    let header = Header::decode(bytes)?;
    Reader::new(Part::Header, bytes).take(usize::from(header.length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_complete_when_its_last_byte_is_there() {
        let stream = [4, 0, 0, 10, 0, 0, 0, 1, 0xaa, 0xbb, 4];
        for have in 0..10 {
            assert_eq!(frame_length(&stream[..have]), Ok(None), "{have} bytes");
        }
        assert_eq!(frame_length(&stream[..10]), Ok(Some(10)));
        assert_eq!(frame_length(&stream), Ok(Some(10)));
    }

    #[test]
    fn a_length_below_the_header_loses_the_framing() {
        let error = DecodeError::Length { what: Part::Header, length: 7 };
        assert_eq!(frame_length(&[4, 0, 0, 7, 0, 0, 0, 1]), Err(error));
        let mut both = frames(&[4, 0, 0, 7, 0, 0, 0, 1, 4, 2, 0, 8, 0, 0, 0, 2]);
        assert_eq!((both.next(), both.next()), (Some(Err(error)), None));
    }

    #[test]
    fn a_message_that_cannot_be_decoded_does_not_hide_the_next() {
        let bytes = [1, 5, 0, 8, 0, 0, 0, 1, 4, 20, 0, 8, 0, 0, 0, 2, 4, 20];
        let found: Vec<_> = frames(&bytes).map(|frame| frame.and_then(|frame| frame.decode())).collect();
        assert_eq!(
            found,
            [
                Err(DecodeError::Version { version: 1 }),
                Ok((Xid(2), Message::BarrierRequest)),
                Err(DecodeError::Truncated { what: Part::Header, need: 8, have: 2 }),
            ]
        );
    }
}
