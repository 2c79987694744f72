//! Packet counters of probed paths, by port and destination address.

use std::time::Duration;

use braid_types::{Index, MacAddr, PortNo, Time};

use crate::packet::Packet;

/// Paths that are counted at once, in each direction: as many as 64 groups of 64 buckets have.
const MOST: usize = 4_096;
/// A path that was not probed for so long may be forgotten for the sake of another.
const IDLE: Duration = Duration::from_secs(5);
/// How often such paths are looked for.
const SWEEP: Duration = Duration::from_secs(1);

/// How many TCP segments and other packets have left, or come in, by a port with a destination address: of paths that are probed.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    counts: Index<(PortNo, [u8; 6]), Count>,
    swept: Time,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    probed: Time,
    segments: u32,
}

impl Tallies {
    /// Counts a packet, if its path is probed.
    pub(crate) fn count(&mut self, port: PortNo, packet: &Packet) {
        if self.counts.is_empty() {
            return;
        }
        let Some(label) = packet.data.first_chunk() else { return };
        if let Some(count) = self.counts.get_mut(&(port, *label)) {
            count.segments = count.segments.wrapping_add(packet.segments());
        }
    }

    /// How many there were before a probe that passes now; they are counted from the first probe on. `None` if there is no room to count
    /// them: paths that are probed are not forgotten for others.
    #[expect(clippy::disallowed_methods, reason = "each entry is judged by itself")]
    pub(crate) fn probed(&mut self, now: Time, port: PortNo, label: MacAddr) -> Option<u32> {
        let key = (port, label.octets());
        if let Some(count) = self.counts.get_mut(&key) {
            count.probed = now;
            return Some(count.segments);
        }
        if self.counts.len() >= MOST && now.since(self.swept) >= SWEEP {
            self.swept = now;
            self.counts.retain(|_, count| now.since(count.probed) < IDLE);
        }
        if self.counts.len() >= MOST {
            return None;
        }
        self.counts.insert(key, Count { probed: now, segments: 0 });
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Offload;

    fn packet(label: [u8; 6], length: usize, gso_size: u16) -> Packet {
        let offload =
            Offload { gso_type: u8::from(gso_size > 0), gso_size, header_len: 54, ..Offload::default() };
        Packet { data: [&label[..], &vec![0; length - 6]].concat(), offload }
    }

    fn label(number: u64) -> MacAddr {
        MacAddr::from_u64(number)
    }

    #[test]
    fn segments_of_paths_that_are_probed_are_counted() {
        let (mut tallies, seven) = (Tallies::default(), label(7).octets());
        let probed = |tallies: &mut Tallies| tallies.probed(Time::ZERO, PortNo(1), label(7));
        tallies.count(PortNo(1), &packet(seven, 100, 0));
        assert_eq!(probed(&mut tallies), Some(0));
        tallies.count(PortNo(1), &packet(seven, 100, 0));
        tallies.count(PortNo(1), &packet(seven, 54 + 2_001, 1_000));
        tallies.count(PortNo(2), &packet(seven, 100, 0));
        tallies.count(PortNo(1), &packet([8; 6], 100, 0));
        assert_eq!(probed(&mut tallies), Some(4));
    }

    #[test]
    fn no_path_loses_its_count_to_others_as_long_as_it_is_probed() {
        let mut tallies = Tallies::default();
        let mut now = Time::ZERO;
        for round in 0..3 {
            for number in 0..MOST as u64 {
                assert_eq!(tallies.probed(now, PortNo(1), label(number)), Some(round), "{number}");
                tallies.count(PortNo(1), &packet(label(number).octets(), 100, 0));
            }
            assert_eq!(tallies.probed(now, PortNo(2), label(1)), None, "there is no room");
            now = now + Duration::from_secs(2);
        }
        now = now + IDLE;
        assert_eq!(tallies.probed(now, PortNo(2), label(1)), Some(0));
        assert_eq!(tallies.counts.len(), 1);
    }
}
