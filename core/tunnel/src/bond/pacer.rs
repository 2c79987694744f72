//! Datagrams that have waited for others are passed on little by little: all at once, they would overflow the socket of a host that
//! reads them, such as those of QUIC. TCP makes its sockets as large as it needs.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

const UDP: u8 = 17;
const FRAGMENT: u8 = 44;
/// What may be before an IP header: nothing, or Ethernet with up to two VLAN tags.
const HEADERS: [usize; 4] = [0, 14, 18, 22];
/// So many packets are passed on in a turn, and so many more for each that arrives in it.
const TURN: Duration = Duration::from_millis(1);
const LEAST: u32 = 3;
const FOR_EACH: u32 = 1;
/// With more, none waits.
const MAX_PACKETS: usize = 4_096;

/// Datagrams that are due, in order.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    packets: VecDeque<Vec<u8>>,
    /// When the present turn began; `None` before the first one.
    turn: Option<Time>,
    /// What may be passed on in it still.
    left: u32,
}

impl Pacer {
    /// One has arrived, whatever becomes of it.
    pub(super) fn note_arrival(&mut self, now: Time) {
        self.begin_turn(now);
        self.left = self.left.saturating_add(FOR_EACH);
    }

    /// Whether none waits here, so that one that has waited for none may pass.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn push(&mut self, datagram: Vec<u8>) {
        self.packets.push_back(datagram);
    }

    /// The next one that is due.
    pub(super) fn poll(&mut self, now: Time) -> Option<Vec<u8>> {
        self.begin_turn(now);
        if self.left == 0 && self.packets.len() <= MAX_PACKETS {
            return None;
        }
        let packet = self.packets.pop_front()?;
        self.left = self.left.saturating_sub(1);
        Some(packet)
    }

    /// When the next one is due, after [`Self::poll`] gave none.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.turn.filter(|_| !self.packets.is_empty()).map(|turn| turn + TURN)
    }

    fn begin_turn(&mut self, now: Time) {
        if self.turn.is_none_or(|turn| now.since(turn) >= TURN) {
            (self.turn, self.left) = (Some(now), LEAST);
        }
    }
}

/// Whether an IP packet, or an Ethernet frame with two VLAN tags at most, has UDP inside, or is a fragment of IPv6.
pub(super) fn is_datagram(packet: &[u8]) -> bool {
    HEADERS.into_iter().filter_map(|at| packet.get(at..)).any(is_ip_datagram)
}

fn is_ip_datagram(packet: &[u8]) -> bool {
    let Some([first, _, a, b, c, d, next, _, _, protocol]) = packet.first_chunk::<10>() else { return false };
    let [length, payload] = [[*a, *b], [*c, *d]].map(|it| usize::from(u16::from_be_bytes(it)));
    match first >> 4 {
        4 => length == packet.len() && *protocol == UDP,
        6 => payload.saturating_add(40) == packet.len() && [UDP, FRAGMENT].contains(next),
        _ => false,
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
        (0..12).for_each(|_| pacer.push(Vec::new()));
        assert_eq!(passed(&mut pacer, 100..104), [3, 3, 3, 3]);
        assert_eq!(pacer.poll_timeout(), None);
        (0..100).for_each(|_| pacer.push(Vec::new()));
        (0..12).for_each(|_| pacer.note_arrival(Time::from_millis(300)));
        assert_eq!(passed(&mut pacer, 300..304), [15, 3, 3, 3]);
        pacer.push(Vec::new());
        assert_eq!(pacer.poll_timeout(), Some(Time::from_millis(304)));
        (0..5_000).for_each(|_| pacer.push(Vec::new()));
        assert!(passed(&mut pacer, 306..307)[0] > 900, "no more than so many wait");
    }

    #[test]
    fn datagrams_are_known_in_packets_and_frames() {
        let v4 = |protocol| [&[0x45, 0, 0, 30, 0, 0, 0, 0, 64, protocol][..], &[0; 20]].concat();
        let v6 = |next| [&[0x60, 0, 0, 0, 0, 10, next, 64][..], &[0; 42]].concat();
        let frame = |tags: usize, packet: Vec<u8>| [vec![0x45; 14 + 4 * tags], packet].concat();
        let frames = [frame(0, v4(UDP)), frame(0, v6(UDP)), frame(1, v4(UDP)), frame(2, v6(UDP))];
        for packet in [v4(UDP), v6(UDP), v6(FRAGMENT)].into_iter().chain(frames) {
            assert!(is_datagram(&packet), "{packet:?}");
        }
        for packet in [v4(6), v6(6), frame(0, v4(6)), frame(1, v6(6)), vec![0x45], Vec::new(), vec![0; 99]] {
            assert!(!is_datagram(&packet), "{packet:?}");
        }
    }
}
