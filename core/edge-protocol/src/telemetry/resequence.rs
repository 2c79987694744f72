//! Telemetry of a resequencing group: packet and gap counters, hold times, and counts by path, as bytes.

use std::time::Duration;

use braid_openflow::{DecodeError, Reader};
use braid_spray::{Counters, Gauge, HoldHistogram, PathCounters, PathId, Resequencer};
use braid_types::{MacAddr, PortNo};
use serde::{Deserialize, Serialize};

use super::long;

/// The number of counters before the histogram of hold times.
const COUNTERS: usize = 23;

/// The telemetry of a resequencing group.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ResequenceReport {
    /// Counters of packets and gaps.
    pub counters: Counters,
    /// The current contents.
    pub gauge: Gauge,
    /// The limits of the contents.
    pub limits: Limits,
    /// The current maximum hold time.
    pub hold_time: Duration,
    /// The histogram of hold times of released packets.
    pub waits: HoldHistogram,
    /// Counters by path of arrival.
    #[serde(default)]
    pub arrivals: Vec<ArrivalReport>,
}

/// Counters of one path of arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ArrivalReport {
    /// The port of arrival.
    pub port: PortNo,
    /// The destination address at arrival.
    pub label: MacAddr,
    /// TCP packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that packets of other paths had to wait for.
    pub late: u64,
}

/// The limits of held packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Packets of all flows.
    pub packets: u64,
    /// Bytes of all flows.
    pub bytes: u64,
    /// Bytes of one flow; beyond them, all of its packets are released.
    pub flow_bytes: u64,
}

impl ResequenceReport {
    /// The report of a buffer with these paths of arrival.
    pub fn of<P>(buffer: &Resequencer<P>, paths: &[(PortNo, MacAddr)]) -> Self {
        let settings = buffer.settings();
        let arrival = |(path, (port, label)): (u8, &(PortNo, MacAddr))| {
            let PathCounters { packets, bytes, late } = buffer.path(PathId(path));
            ArrivalReport { port: *port, label: *label, packets, bytes, late }
        };
        Self {
            counters: buffer.counters(),
            gauge: buffer.gauge(),
            limits: Limits {
                packets: settings.packets.into(),
                bytes: settings.bytes,
                flow_bytes: settings.threshold.into(),
            },
            hold_time: buffer.hold_time(),
            waits: buffer.hold_times().clone(),
            arrivals: (0..).zip(paths).map(arrival).collect(),
        }
    }

    /// The counters in the order of `docs/openflow-extensions.md`.
    fn numbers(&self) -> [u64; COUNTERS] {
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
            counters.max_packets.into(),
            counters.max_bytes,
        ]
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let classes = reader.read::<u32>()? as usize;
        let mut numbers = [0; COUNTERS];
        for number in &mut numbers {
            *number = long(reader)?;
        }
        // The count is bounded by the bytes that follow.
        let waits = (0..classes).map(|_| long(reader)).collect::<Result<_, _>>()?;
        let count = if reader.is_empty() { 0 } else { reader.read::<u32>()? };
        let arrivals = (0..count).map(|_| ArrivalReport::read(reader)).collect::<Result<_, _>>()?;
        Ok(Self { arrivals, ..Self::new(numbers, HoldHistogram::new(waits)) })
    }

    fn new(numbers: [u64; COUNTERS], waits: HoldHistogram) -> Self {
        let [forwarded, held, unknown, stray, old, spurious, rest @ ..] = numbers;
        let [gaps_filled, gaps_passed, gaps_timed_out, gaps_over_threshold, rest @ ..] = rest;
        let [gaps_overflowed, gaps_ended, waited_nanos, longest_nanos, rest @ ..] = rest;
        let [flows, packets, bytes, hold_nanos, rest @ ..] = rest;
        let [packet_limit, byte_limit, flow_bytes, max_packets, max_bytes] = rest;
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
            max_packets: short(max_packets),
            max_bytes,
        };
        Self {
            counters,
            gauge: Gauge { flows: short(flows), packets: short(packets), bytes },
            limits: Limits { packets: packet_limit, bytes: byte_limit, flow_bytes },
            hold_time: Duration::from_nanos(hold_nanos),
            waits,
            arrivals: Vec::new(),
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let classes = self.waits.counts();
        let count = u32::try_from(classes.len()).unwrap_or(u32::MAX);
        let numbers = self.numbers().into_iter().chain(classes.iter().copied());
        let arrivals = u32::try_from(self.arrivals.len()).unwrap_or(u32::MAX);
        let bytes = count.to_be_bytes().into_iter().chain(numbers.flat_map(u64::to_be_bytes));
        bytes
            .chain(arrivals.to_be_bytes())
            .chain(self.arrivals.iter().flat_map(ArrivalReport::bytes))
            .collect()
    }
}

impl ArrivalReport {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let port = PortNo(reader.read()?);
        let [label, packets, bytes, late] = [long(reader)?, long(reader)?, long(reader)?, long(reader)?];
        Ok(Self { port, label: MacAddr::from_u64(label), packets, bytes, late })
    }

    fn bytes(&self) -> impl Iterator<Item = u8> {
        let numbers = [self.label.to_u64(), self.packets, self.bytes, self.late];
        self.port.0.to_be_bytes().into_iter().chain(numbers.into_iter().flat_map(u64::to_be_bytes))
    }
}
