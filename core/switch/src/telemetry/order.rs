use std::time::Duration;

use braid_openflow::{DecodeError, Reader};
use braid_spray::{Counters, Gauge, Resequencer, Waits};
use serde::{Deserialize, Serialize};

use super::long;

/// How many numbers come before the classes of times.
const NUMBERS: usize = 23;

/// What a group that puts in order has done, and holds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OrderReport {
    /// What became of packets and gaps.
    pub counters: Counters,
    /// What is inside.
    pub gauge: Gauge,
    /// What may be inside.
    pub limits: Limits,
    /// How long a packet waits at most, as of now.
    pub hold_time: Duration,
    /// How long packets had waited that were released.
    pub waits: Waits,
}

/// What may be held at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Packets of all flows.
    pub packets: u64,
    /// Bytes of all flows.
    pub bytes: u64,
    /// Bytes of one flow; beyond that, all of them go on.
    pub flow_bytes: u64,
}

impl OrderReport {
    /// What there is to tell of a buffer.
    pub(crate) fn of<P>(buffer: &Resequencer<P>) -> Self {
        let settings = buffer.settings();
        Self {
            counters: buffer.counters(),
            gauge: buffer.gauge(),
            limits: Limits {
                packets: settings.packets.into(),
                bytes: settings.bytes,
                flow_bytes: settings.threshold.into(),
            },
            hold_time: buffer.hold_time(),
            waits: buffer.waits().clone(),
        }
    }

    /// Those of message 5, in the order of `docs/openflow-extensions.md`.
    pub(crate) fn numbers(&self) -> [u64; NUMBERS] {
        let Self { counters, gauge, limits, hold_time, .. } = self;
        [
            counters.forwarded,
            counters.held,
            counters.unknown,
            counters.stray,
            counters.old,
            counters.spurious,
            counters.gaps_filled,
            counters.gaps_passed,
            counters.gaps_timed_out,
            counters.gaps_over_threshold,
            counters.gaps_overflowed,
            counters.gaps_ended,
            counters.waited_nanos,
            counters.longest_nanos,
            gauge.flows.into(),
            gauge.packets.into(),
            gauge.bytes,
            u64::try_from(hold_time.as_nanos()).unwrap_or(u64::MAX),
            limits.packets,
            limits.bytes,
            limits.flow_bytes,
            counters.most_packets.into(),
            counters.most_bytes,
        ]
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let classes = reader.read::<u32>()? as usize;
        let mut numbers = [0; NUMBERS];
        for number in &mut numbers {
            *number = long(reader)?;
        }
        // No more are believed than there are bytes for.
        let waits = (0..classes).map(|_| long(reader)).collect::<Result<_, _>>()?;
        Ok(Self::new(numbers, Waits::new(waits)))
    }

    fn new(numbers: [u64; NUMBERS], waits: Waits) -> Self {
        let [forwarded, held, unknown, stray, old, spurious, rest @ ..] = numbers;
        let [gaps_filled, gaps_passed, gaps_timed_out, gaps_over_threshold, rest @ ..] = rest;
        let [gaps_overflowed, gaps_ended, waited_nanos, longest_nanos, rest @ ..] = rest;
        let [flows, packets, bytes, hold_nanos, rest @ ..] = rest;
        let [packet_limit, byte_limit, flow_bytes, most_packets, most_bytes] = rest;
        let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let counters = Counters {
            forwarded,
            held,
            unknown,
            stray,
            old,
            spurious,
            gaps_filled,
            gaps_passed,
            gaps_timed_out,
            gaps_over_threshold,
            gaps_overflowed,
            gaps_ended,
            waited_nanos,
            longest_nanos,
            most_packets: short(most_packets),
            most_bytes,
        };
        Self {
            counters,
            gauge: Gauge { flows: short(flows), packets: short(packets), bytes },
            limits: Limits { packets: packet_limit, bytes: byte_limit, flow_bytes },
            hold_time: Duration::from_nanos(hold_nanos),
            waits,
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let classes = self.waits.counts();
        let count = u32::try_from(classes.len()).unwrap_or(u32::MAX);
        let numbers = self.numbers().into_iter().chain(classes.iter().copied());
        count.to_be_bytes().into_iter().chain(numbers.flat_map(u64::to_be_bytes)).collect()
    }
}
