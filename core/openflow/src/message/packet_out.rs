//! Packet-out messages, with a frame or a buffer's number. OpenFlow 1.3.5 §7.3.7.

use braid_types::PortNo;
use serde::Serialize;

use crate::action::Action;
use crate::error::{DecodeError, EncodeError, Part};
use crate::header::MessageType;
use crate::id::BufferId;
use crate::wire::{Bytes, List, Prefixed, Reader, Wire, zeros};

/// A packet for the switch to send. OpenFlow 1.3.5 §7.3.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PacketOut<'a> {
    /// The packet, if it waits in the switch.
    pub buffer_id: BufferId,
    /// The ingress port that the packet is to have, or `CONTROLLER`.
    pub in_port: PortNo,
    /// Its actions; an empty list drops it.
    pub actions: List<'a, Action<'a>>,
    /// The Ethernet frame, unless it waits in the switch.
    pub data: Bytes<'a>,
}

impl<'a> PacketOut<'a> {
    /// A frame from the controller on which `actions` are done.
    pub const fn new(data: &'a [u8], actions: &'a [Action<'a>]) -> Self {
        Self {
            buffer_id: BufferId::NO_BUFFER,
            in_port: PortNo::CONTROLLER,
            actions: List::new(actions),
            data: Bytes(data),
        }
    }
}

impl<'a> Wire<'a> for PacketOut<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (buffer_id, in_port) = (reader.read()?, reader.read()?);
        let length = usize::from(reader.read::<u16>()?);
        reader.skip(6)?;
        let actions = reader.split(reader.part(), length, 0)?.read()?;
        Ok(Self { buffer_id, in_port, actions, data: reader.read()? })
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.buffer_id.write(out)?;
        self.in_port.write(out)?;
        let length_at = out.len();
        zeros(out, 8);
        let start = out.len();
        self.actions.write(out)?;
        let length = out.len().saturating_sub(start);
        Prefixed::patch(out, length_at, length, Part::Message(MessageType::PacketOut))?;
        self.data.write(out)
    }
}
