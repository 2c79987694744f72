//! Packet counters of probed paths, by port and destination address.

use std::time::Duration;

use braid_types::{Index, MacAddr, PortNo, Time};

use crate::packets::Packet;

/// The greatest number of counted paths in each direction: those of 64 groups of 64 buckets.
const MAX_PATHS: usize = 4_096;
/// The time without probes after which a path may be replaced by another.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval of searches for such paths.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The TCP segments and other packets of probed paths, in one direction, by port and destination address.
#[derive(Debug, Default)]
pub(crate) struct PathCounters {
    counts: Index<(PortNo, [u8; 6]), Count>,
    swept: Time,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    probed: Time,
    segments: u32,
}

impl PathCounters {
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

    /// The number of packets before a probe that passes now; they are counted from the first probe on. `None` if
    /// there is no room to count them: probed paths are not replaced by others.
    #[expect(clippy::disallowed_methods, reason = "each entry is judged by itself")]
    pub(crate) fn probed(&mut self, now: Time, port: PortNo, label: MacAddr) -> Option<u32> {
        let key = (port, label.octets());
        if let Some(count) = self.counts.get_mut(&key) {
            count.probed = now;
            return Some(count.segments);
        }
        if self.counts.len() >= MAX_PATHS && now.since(self.swept) >= SWEEP_INTERVAL {
            self.swept = now;
            self.counts.retain(|_, count| now.since(count.probed) < IDLE_TIMEOUT);
        }
        if self.counts.len() >= MAX_PATHS {
            return None;
        }
        self.counts.insert(key, Count { probed: now, segments: 0 });
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::Offload;

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
        let (mut counters, seven) = (PathCounters::default(), label(7).octets());
        let probed = |counters: &mut PathCounters| counters.probed(Time::ZERO, PortNo(1), label(7));
        counters.count(PortNo(1), &packet(seven, 100, 0));
        assert_eq!(probed(&mut counters), Some(0));
        counters.count(PortNo(1), &packet(seven, 100, 0));
        counters.count(PortNo(1), &packet(seven, 54 + 2_001, 1_000));
        counters.count(PortNo(2), &packet(seven, 100, 0));
        counters.count(PortNo(1), &packet([8; 6], 100, 0));
        assert_eq!(probed(&mut counters), Some(4));
    }

    #[test]
    fn no_path_loses_its_count_to_others_as_long_as_it_is_probed() {
        let mut counters = PathCounters::default();
        let mut now = Time::ZERO;
        for round in 0..3 {
            for number in 0..MAX_PATHS as u64 {
                assert_eq!(counters.probed(now, PortNo(1), label(number)), Some(round), "{number}");
                counters.count(PortNo(1), &packet(label(number).octets(), 100, 0));
            }
            assert_eq!(counters.probed(now, PortNo(2), label(1)), None, "there is no room");
            now = now + Duration::from_secs(2);
        }
        now = now + IDLE_TIMEOUT;
        assert_eq!(counters.probed(now, PortNo(2), label(1)), Some(0));
        assert_eq!(counters.counts.len(), 1);
    }
}
