//! Segments sent by a path since its last answered probe: once it is silent, they are sent again by the other paths.
//!
//! They are what a path that has failed may have swallowed. Without them a sender waits for its retransmission timeout, 200 ms
//! at least, if the path had the last segments in flight.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::{PortNo, Time};

use crate::packets::{Packet, PacketContext};

/// Beyond these, segments are not kept: the sender of so many learns of their loss from those that arrive.
const MAX_PACKETS: usize = 256;
const MAX_BYTES: usize = 256 << 10;
/// What was sent before has been sent again by its sender.
const MAX_AGE: Duration = Duration::from_millis(500);

/// The segments that a path has carried since its last answered probe, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Unanswered {
    packets: VecDeque<(Time, KeptPacket)>,
    bytes: usize,
}

/// A packet that may have been lost, and the port by which it arrived.
#[derive(Debug)]
pub(crate) struct KeptPacket {
    pub(crate) in_port: PortNo,
    pub(crate) packet: Packet,
}

impl Unanswered {
    /// Keeps a copy of a TCP segment with data.
    pub(super) fn note(&mut self, now: Time, context: &PacketContext) {
        let has_data = context.layout.segment.is_some_and(|segment| segment.payload > 0);
        let bytes = context.packet.data.len();
        if !has_data || self.packets.len() >= MAX_PACKETS || self.bytes.saturating_add(bytes) > MAX_BYTES {
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        let kept = KeptPacket { in_port: context.in_port, packet: context.packet.clone() };
        self.packets.push_back((now, kept));
    }

    /// A probe was answered that was sent then.
    pub(super) fn forget_before(&mut self, answered: Time) {
        while let Some((_, kept)) = self.packets.pop_front_if(|(sent, _)| *sent < answered) {
            self.bytes = self.bytes.saturating_sub(kept.packet.data.len());
        }
    }

    /// What is to be sent again.
    pub(super) fn take(&mut self, now: Time) -> impl Iterator<Item = KeptPacket> + use<> {
        self.bytes = 0;
        let packets = std::mem::take(&mut self.packets).into_iter();
        packets.filter(move |(sent, _)| now.since(*sent) <= MAX_AGE).map(|(_, kept)| kept)
    }
}
