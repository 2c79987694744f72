//! Datagrams are passed on as evenly as they usually arrive: those that jitter, or the wait for others, has bunched would
//! overflow the socket of a host that reads them, such as those of QUIC. TCP makes its sockets as large as it needs.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

const UDP: u8 = 17;
const FRAGMENT: u8 = 44;
/// Lengths of Ethernet headers, with up to two VLAN tags.
const ETHERNET: [usize; 3] = [14, 18, 22];
const IP_KINDS: [[u8; 2]; 2] = [[0x08, 0x00], [0x86, 0xdd]];
/// So many packets may be passed on for each turn, and for each that usually arrives in one. What is not used is saved, up to so many
/// packets, for bursts.
const TURN: Duration = Duration::from_millis(1);
const LEAST: f64 = 3.0;
const FOR_EACH: f64 = 2.0;
const SAVED: f64 = 32.0;
/// The weight of a turn in what usually arrives, if more has arrived in it and if less has: a sender that becomes faster waits little.
const RISE: f64 = 0.05;
const FALL: f64 = 0.01;
/// With more, none waits.
const MAX_PACKETS: usize = 4_096;

/// Datagrams that are to be passed on, in order.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    /// And when they are due.
    packets: VecDeque<(Time, Vec<u8>)>,
    /// When the present turn began; `None` before the first one.
    turn: Option<Time>,
    /// Packets that have arrived in it.
    arrived: u32,
    /// Packets that usually arrive in a turn.
    usual: f64,
    /// Packets that may be passed on.
    left: f64,
}

impl Pacer {
    /// One has arrived, whatever becomes of it.
    pub(super) fn note_arrival(&mut self, now: Time) {
        self.begin_turn(now);
        self.arrived = self.arrived.saturating_add(1);
    }

    /// Takes a datagram that is to be passed on at `due` or later.
    pub(super) fn push(&mut self, due: Time, datagram: Vec<u8>) {
        self.packets.push_back((due, datagram));
    }

    /// The next one that is due.
    pub(super) fn poll(&mut self, now: Time) -> Option<Vec<u8>> {
        self.begin_turn(now);
        let (is_full, may_pass) = (self.packets.len() > MAX_PACKETS, self.left >= 1.0);
        let (_, packet) = self.packets.pop_front_if(|(due, _)| is_full || may_pass && *due <= now)?;
        self.left = (self.left - 1.0).max(0.0);
        Some(packet)
    }

    /// When the next one is due, after [`Self::poll`] gave none.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let (due, _) = self.packets.front()?;
        Some((self.turn? + TURN).max(*due))
    }

    fn begin_turn(&mut self, now: Time) {
        let Some(turn) = self.turn else {
            (self.turn, self.left) = (Some(now), SAVED);
            return;
        };
        let turns = now.since(turn).as_secs_f64() / TURN.as_secs_f64();
        if turns < 1.0 {
            return;
        }
        let beyond = f64::from(self.arrived) - self.usual;
        self.usual += if beyond > 0.0 { RISE } else { FALL } * beyond;
        // None has arrived in those between.
        self.usual *= (1.0 - FALL).powf(turns - 1.0);
        let more = LEAST + FOR_EACH * self.usual;
        self.left = (self.left + turns * more).min(SAVED.max(more));
        (self.turn, self.arrived) = (Some(now), 0);
    }
}

/// Whether an IP packet, or an Ethernet frame with two VLAN tags at most, has UDP inside, or is a fragment of IPv6.
pub(super) fn is_datagram(packet: &[u8]) -> bool {
    let is_in_frame = |at: usize| {
        let kind = packet.get(..at).and_then(<[u8]>::last_chunk);
        let rest = packet.get(at..).filter(|_| kind.is_some_and(|kind| IP_KINDS.contains(kind)));
        // Short frames have padding behind it.
        rest.is_some_and(|rest| datagram_length(rest).is_some_and(|length| length <= rest.len()))
    };
    datagram_length(packet) == Some(packet.len()) || ETHERNET.into_iter().any(is_in_frame)
}

/// How long the IP packet says that it is, if it is one with such content.
fn datagram_length(packet: &[u8]) -> Option<usize> {
    let [first, _, a, b, c, d, next, _, _, protocol] = packet.first_chunk::<10>()?;
    let [length, payload] = [[*a, *b], [*c, *d]].map(|it| usize::from(u16::from_be_bytes(it)));
    match first >> 4 {
        4 if *protocol == UDP => Some(length),
        6 if [UDP, FRAGMENT].contains(next) => Some(payload.saturating_add(40)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packets that are passed on in each turn, of those that arrive in it.
    fn passed(pacer: &mut Pacer, begin: u64, arrivals: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let turn = |(at, arrivals): (u64, usize)| {
            let now = Time::from_millis(at);
            (0..arrivals).for_each(|_| {
                pacer.note_arrival(now);
                pacer.push(now, Vec::new());
            });
            std::iter::from_fn(|| pacer.poll(now)).count()
        };
        (begin..).zip(arrivals).map(turn).collect()
    }

    #[test]
    fn what_arrives_evenly_does_not_wait_and_bunches_are_passed_on_in_turns() {
        let mut pacer = Pacer::default();
        let even = passed(&mut pacer, 0, [4; 1_000]);
        assert_eq!(even, [4; 1_000]);
        // Nothing for twenty turns, and then all.
        let bunch = (0..100).map(|turn| if turn % 20 == 19 { 80 } else { 0 });
        let passed = passed(&mut pacer, 1_000, bunch.collect::<Vec<_>>());
        assert_eq!(passed.iter().sum::<usize>() + pacer.packets.len(), 400);
        assert!(passed.iter().all(|it| *it <= 32) && pacer.packets.len() < 60, "{passed:?}");
        assert_eq!(
            passed[20..28].iter().sum::<usize>(),
            48,
            "the first bunch has passed within nine turns: {passed:?}"
        );
        assert_eq!(pacer.poll_timeout(), Some(Time::from_millis(1_100)));
    }

    #[test]
    fn a_burst_after_a_pause_passes_at_once_and_no_more_than_so_many_wait() {
        let mut pacer = Pacer::default();
        assert_eq!(passed(&mut pacer, 0, [1, 0, 0, 30]), [1, 0, 0, 30]);
        assert_eq!(pacer.poll_timeout(), None);
        let most = passed(&mut pacer, 5_000, [5_000]);
        assert!(most[0] > 900 && pacer.packets.len() <= MAX_PACKETS, "{most:?}");
    }

    #[test]
    fn datagrams_are_known_in_packets_and_frames() {
        let v4 = |protocol| [&[0x45, 0, 0, 30, 0, 0, 0, 0, 64, protocol][..], &[0; 20]].concat();
        let v6 = |next| [&[0x60, 0, 0, 0, 0, 10, next, 64][..], &[0; 42]].concat();
        let frame = |tags: usize, packet: Vec<u8>| {
            let kind = if packet[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] };
            [&vec![0x45; 12 + 4 * tags][..], &kind, &packet].concat()
        };
        let padded = [frame(0, v4(UDP)), vec![0; 16]].concat();
        let frames = [frame(0, v4(UDP)), frame(0, v6(UDP)), frame(1, v4(UDP)), frame(2, v6(UDP))];
        for packet in [v4(UDP), v6(UDP), v6(FRAGMENT)].into_iter().chain(frames).chain([padded]) {
            assert!(is_datagram(&packet), "{packet:?}");
        }
        for packet in [v4(6), v6(6), frame(0, v4(6)), frame(1, v6(6)), vec![0x45], Vec::new(), vec![0; 99]] {
            assert!(!is_datagram(&packet), "{packet:?}");
        }
    }
}
