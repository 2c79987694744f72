//! Packets that have waited for others are passed on little by little: all at once, they would overflow the socket of a host that
//! reads datagrams, as those of QUIC.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

/// So many packets are passed on in a turn, and so many more for each that arrives in it.
const TURN: Duration = Duration::from_millis(1);
const LEAST: u32 = 16;
const FOR_EACH: u32 = 4;
/// With more packets, none waits.
const MAX_PACKETS: usize = 4_096;

/// Packets that are due, in order.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    packets: VecDeque<Vec<u8>>,
    /// When the present turn began; `None` before the first one.
    turn: Option<Time>,
    /// What may be passed on in it still.
    left: u32,
}

impl Pacer {
    /// A packet has arrived, whatever becomes of it.
    pub(super) fn note_arrival(&mut self, now: Time) {
        self.begin_turn(now);
        self.left = self.left.saturating_add(FOR_EACH);
    }

    /// Whether nothing waits here, so that a packet may pass.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn push(&mut self, packet: Vec<u8>) {
        self.packets.push_back(packet);
    }

    /// The next packet that is due.
    pub(super) fn poll(&mut self, now: Time) -> Option<Vec<u8>> {
        self.begin_turn(now);
        if self.left == 0 && self.packets.len() <= MAX_PACKETS {
            return None;
        }
        let packet = self.packets.pop_front()?;
        self.left = self.left.saturating_sub(1);
        Some(packet)
    }

    /// When the next packet is due, after [`Self::poll`] gave none.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.turn.filter(|_| !self.packets.is_empty()).map(|turn| turn + TURN)
    }

    fn begin_turn(&mut self, now: Time) {
        if self.turn.is_none_or(|turn| now.since(turn) >= TURN) {
            (self.turn, self.left) = (Some(now), LEAST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packets that are passed on in each of some turns.
    fn passed(pacer: &mut Pacer, turns: std::ops::Range<u64>) -> Vec<usize> {
        let pass = |now| std::iter::from_fn(|| pacer.poll(now)).count();
        turns.map(Time::from_millis).map(pass).collect()
    }

    #[test]
    fn many_packets_are_passed_on_in_turns_faster_than_others_arrive() {
        let mut pacer = Pacer::default();
        (0..40).for_each(|_| pacer.push(Vec::new()));
        assert_eq!(passed(&mut pacer, 100..104), [16, 16, 8, 0]);
        assert_eq!(pacer.poll_timeout(), None);
        (0..100).for_each(|_| pacer.push(Vec::new()));
        (0..12).for_each(|_| pacer.note_arrival(Time::from_millis(300)));
        assert_eq!(passed(&mut pacer, 300..304), [64, 16, 16, 4]);
        pacer.push(Vec::new());
        assert_eq!(pacer.poll_timeout(), Some(Time::from_millis(304)));
        (0..5_000).for_each(|_| pacer.push(Vec::new()));
        assert!(passed(&mut pacer, 306..307)[0] > 900, "no more than so many wait");
    }
}
