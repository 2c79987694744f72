//! Segments sent by a path since its last answered probe: once it is silent, they are sent again by the other paths.
//!
//! They are what a path that has failed may have swallowed. Without them a sender waits for its retransmission timeout, 200 ms
//! at least, if the path had the last segments in flight.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::{PortNo, Time};

use crate::packets::{Packet, PacketContext};

/// Beyond these, the oldest are forgotten: their sender learns of their loss from segments after them that arrive.
const MAX_PACKETS: usize = 256;
const MAX_BYTES: usize = 256 << 10;
/// All groups of a switch together keep about so many bytes.
const MAX_BYTES_OF_ALL: usize = 64 << 20;
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
    /// Keeps a copy of a TCP segment with data; `paths` of the switch share its memory.
    pub(super) fn note(&mut self, now: Time, context: &PacketContext, paths: usize) {
        let has_data = context.layout.segment.is_some_and(|segment| segment.payload > 0);
        let bytes = context.packet.data.len();
        let room = (MAX_BYTES_OF_ALL / paths.max(1)).min(MAX_BYTES);
        if !has_data || bytes > room {
            return;
        }
        while self.packets.len() >= MAX_PACKETS || self.bytes.saturating_add(bytes) > room {
            let Some((_, oldest)) = self.packets.pop_front() else { break };
            self.forget(&oldest);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        let kept = KeptPacket { in_port: context.in_port, packet: context.packet.clone() };
        self.packets.push_back((now, kept));
    }

    /// A probe was answered that was sent then.
    pub(super) fn forget_before(&mut self, answered: Time) {
        while let Some((_, kept)) = self.packets.pop_front_if(|(sent, _)| *sent < answered) {
            self.forget(&kept);
        }
    }

    fn forget(&mut self, kept: &KeptPacket) {
        self.bytes = self.bytes.saturating_sub(kept.packet.data.len());
    }

    /// What is to be sent again.
    pub(super) fn take(&mut self, now: Time) -> impl Iterator<Item = KeptPacket> + use<> {
        self.bytes = 0;
        let packets = std::mem::take(&mut self.packets).into_iter();
        packets.filter(move |(sent, _)| now.since(*sent) <= MAX_AGE).map(|(_, kept)| kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TCP segment over IPv4 with so many bytes of data.
    fn segment(data: usize) -> PacketContext {
        let length = u16::try_from(40 + data).unwrap().to_be_bytes();
        let mut frame = vec![0; 14 + 40 + data];
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        frame[14] = 0x45;
        frame[16..18].copy_from_slice(&length);
        (frame[22], frame[23]) = (64, 6);
        (frame[46], frame[47]) = (0x50, 0x10);
        PacketContext::new(PortNo(1), Packet::complete(frame))
    }

    fn lengths(unanswered: &mut Unanswered) -> Vec<usize> {
        unanswered.take(Time::ZERO).map(|kept| kept.packet.data.len() - 54).collect()
    }

    fn noted(lengths: impl IntoIterator<Item = usize>, paths: usize) -> Unanswered {
        let mut unanswered = Unanswered::default();
        lengths.into_iter().for_each(|data| unanswered.note(Time::ZERO, &segment(data), paths));
        unanswered
    }

    #[test]
    fn the_last_segments_are_kept_and_acknowledgements_are_not() {
        let mut many = noted((0..300).map(|number| number % 7), 2);
        let kept = lengths(&mut many);
        let all: Vec<_> = (0..300).map(|number| number % 7).filter(|data| *data > 0).collect();
        assert_eq!(kept, all[all.len() - MAX_PACKETS.min(all.len())..]);
        assert_eq!((many.bytes, lengths(&mut many)), (0, Vec::new()));
        let large = lengths(&mut noted([60_000; 9].into_iter().chain([1]), 2));
        assert_eq!(large, [60_000, 60_000, 60_000, 60_000, 1]);
    }

    #[test]
    fn many_paths_share_a_bounded_memory() {
        assert_eq!(lengths(&mut noted([1_400; 100], 65_536)), Vec::<usize>::new());
        let kept = lengths(&mut noted([1_400; 100], 8_192));
        assert_eq!(kept.len(), MAX_BYTES_OF_ALL / 8_192 / 1_454);
    }

    #[test]
    fn what_was_sent_long_ago_is_not_sent_again() {
        let mut unanswered = noted([1], 2);
        unanswered.note(Time::ZERO + MAX_AGE, &segment(2), 2);
        let later = Time::ZERO + MAX_AGE + Duration::from_nanos(1);
        assert_eq!(unanswered.take(later).count(), 1);
    }

    #[test]
    fn what_left_before_an_answered_probe_is_forgotten_and_what_left_with_it_is_not() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut unanswered = Unanswered::default();
        (1..=5).for_each(|step| unanswered.note(at(step), &segment(step as usize), 2));
        unanswered.forget_before(at(3));
        assert_eq!((unanswered.packets.len(), unanswered.bytes), (3, 3 * 54 + 3 + 4 + 5));
        unanswered.forget_before(at(2));
        assert_eq!(lengths(&mut unanswered), [3, 4, 5], "an answer that is overtaken changes nothing");
        assert_eq!(unanswered.bytes, 0);
    }

    #[test]
    fn a_segment_for_which_there_is_no_room_at_all_pushes_out_none() {
        let mut unanswered = noted([10, 20], 2);
        unanswered.note(Time::ZERO, &segment(1_400), 65_536);
        assert_eq!(lengths(&mut unanswered), [10, 20]);
        assert_eq!(lengths(&mut noted([10], 0)), [10], "no path counts as one");
    }
}
