//! Cross traffic: the load of each link without sprayed streams.

use std::collections::BTreeMap;

use braid_topology::Link;
use braid_types::{BitsPerSec, SwitchPort, Time};

/// Readings that count. A load missing from one of them has started or ended, or was read at a different time
/// than the streams that caused it.
const MIN_READINGS: usize = 3;
/// Loads and rooms below this share of a link's capacity count as zero.
const NOISE_SHARE: f64 = 0.05;

/// The latest readings, by the link's sending port.
#[derive(Debug, Default)]
pub(super) struct CrossTraffic(BTreeMap<SwitchPort, Readings>);

#[derive(Clone, Copy, Debug, Default)]
struct Readings {
    at: Time,
    bytes: u64,
    loads: [u64; MIN_READINGS],
}

impl CrossTraffic {
    /// Records that a link had carried `bytes` at `at`; `own` of its current rate, in bits a second, is
    /// sprayed.
    pub(super) fn note(&mut self, port: SwitchPort, at: Time, bytes: u64, own: u64) {
        let known = self.0.entry(port).or_insert(Readings { at, bytes, ..Readings::default() });
        let seconds = at.since(known.at).as_secs_f64();
        if seconds <= 0.0 {
            return;
        }
        let load = bytes.saturating_sub(known.bytes) as f64 * 8.0 / seconds;
        known.loads.rotate_right(1);
        known.loads[0] = (load as u64).saturating_sub(own);
        (known.at, known.bytes) = (at, bytes);
    }

    /// Forgets links that do not exist any more.
    pub(super) fn retain(&mut self, is_there: impl Fn(SwitchPort) -> bool) {
        self.0.retain(|port, _| is_there(*port));
    }

    /// The capacity that cross traffic leaves free.
    pub(super) fn room(&self, link: &Link, capacity: BitsPerSec) -> BitsPerSec {
        let loads = self.0.get(&link.src).map(|it| it.loads).unwrap_or_default();
        let load = loads.into_iter().min().unwrap_or(0);
        let noise = (capacity.as_f64() * NOISE_SHARE) as u64;
        let load = if load < noise { 0 } else { load };
        let room = capacity.0.saturating_sub(load);
        BitsPerSec(if room < noise { 0 } else { room })
    }
}

#[cfg(test)]
mod tests {
    use braid_types::{DatapathId, PortNo};

    use super::*;

    const CAPACITY: BitsPerSec = BitsPerSec(100_000_000);

    fn port(number: u32) -> SwitchPort {
        SwitchPort::new(DatapathId(1), PortNo(number))
    }

    /// The room in Mbit/s after these loads in consecutive seconds, of which `own` is sprayed.
    fn room_after(megabits: &[u64], own: u64) -> u64 {
        let (mut traffic, mut bytes) = (CrossTraffic::default(), 0);
        traffic.note(port(1), Time::ZERO, 0, 0);
        for (second, load) in (1..).zip(megabits) {
            bytes += load * 125_000;
            traffic.note(port(1), Time::from_millis(second * 1_000), bytes, own * 1_000_000);
        }
        traffic.room(&Link { src: port(1), dst: port(2) }, CAPACITY).0 / 1_000_000
    }

    #[test]
    fn what_is_sprayed_leaves_room_for_itself() {
        assert_eq!(room_after(&[90, 90, 90], 89), 100);
        assert_eq!(room_after(&[90, 90, 90], 30), 40);
    }

    #[test]
    fn what_has_just_begun_or_ended_does_not_count() {
        assert_eq!(room_after(&[0, 90, 90], 0), 100);
        assert_eq!(room_after(&[90, 90, 90, 0], 0), 100);
        assert_eq!(room_after(&[100, 99, 98, 97], 0), 0);
    }
}
