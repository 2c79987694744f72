//! Telemetry of a spraying group: share, delay, loss and state of each of its paths, as bytes.

use std::time::Duration;

use braid_openflow::{DecodeError, Reader};
use braid_types::MacAddr;
use serde::{Deserialize, Serialize};

use super::long;

/// Bytes of a path's record.
const PATH_BYTES: usize = 48;
/// The unit of loss: parts per million.
const PARTS_PER_MILLION: f64 = 1e6;
/// The value of an unmeasured round-trip time.
const UNKNOWN: u32 = u32::MAX;

/// The telemetry of a spraying group.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SprayReport {
    /// Its paths in the order of its buckets.
    pub paths: Vec<PathReport>,
}

/// The telemetry of a path at the sending edge.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct PathReport {
    /// The destination address of frames on the path; zero if it is not rewritten.
    pub label: MacAddr,
    /// Its state.
    pub state: PathState,
    /// Its weight; its share is the weight over the sum of all.
    pub weight: u32,
    /// Packets sent on it since the group was created or changed.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The smoothed round-trip time of probes; `None` before the first answer.
    pub round_trip: Option<Duration>,
    /// Its queueing delay.
    pub queue: Duration,
    /// The recent loss of its packets, or of its probes if it carries little, from 0 to 1.
    pub loss: f64,
    /// How often it has stopped answering probes; 0 if the edge does not say so.
    #[serde(default)]
    pub silences: u32,
}

/// The state of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathState {
    /// The path carries its share.
    Active,
    /// The path does not answer probes.
    Silent,
    /// The path's first port is down.
    Down,
    /// The path answers probes, and carries nothing because of loss or congestion.
    Suspended,
}

impl SprayReport {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let count = reader.read::<u32>()?;
        let paths = (0..count).map(|_| PathReport::read(&mut Reader::new(PART, reader.take(PATH_BYTES)?)));
        Ok(Self { paths: paths.collect::<Result<_, _>>()? })
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let count = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        count.to_be_bytes().into_iter().chain(self.paths.iter().flat_map(PathReport::bytes)).collect()
    }
}

const PART: braid_openflow::Part = braid_openflow::Part::Experimenter;

impl PathReport {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let label = MacAddr::from_u64(long(reader)?);
        let (state, weight) = (reader.read::<u32>()?, reader.read()?);
        let (packets, bytes) = (long(reader)?, long(reader)?);
        let (round_trip, queue, lost) = (reader.read::<u32>()?, reader.read::<u32>()?, reader.read::<u32>()?);
        let silences = reader.read()?;
        Ok(Self {
            label,
            state: PathState::read(state),
            weight,
            packets,
            bytes,
            round_trip: (round_trip != UNKNOWN).then(|| Duration::from_micros(round_trip.into())),
            queue: Duration::from_micros(queue.into()),
            loss: f64::from(lost.min(PARTS_PER_MILLION as u32)) / PARTS_PER_MILLION,
            silences,
        })
    }

    fn bytes(&self) -> Vec<u8> {
        let round_trip = self.round_trip.map_or(UNKNOWN, micros);
        let lost = (self.loss.clamp(0.0, 1.0) * PARTS_PER_MILLION).round() as u32;
        let longs = |numbers: [u64; 2]| numbers.into_iter().flat_map(u64::to_be_bytes);
        let words = |numbers: [u32; 4]| numbers.into_iter().flat_map(u32::to_be_bytes);
        let first = longs([self.label.to_u64(), u64::from(self.state as u32) << 32 | u64::from(self.weight)]);
        let rest = words([round_trip, micros(self.queue), lost, self.silences]);
        first.chain(longs([self.packets, self.bytes])).chain(rest).collect()
    }
}

impl PathState {
    /// Unknown states count as down.
    const fn read(state: u32) -> Self {
        match state {
            0 => Self::Active,
            1 => Self::Silent,
            3 => Self::Suspended,
            _ => Self::Down,
        }
    }
}

fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(UNKNOWN).min(UNKNOWN - 1)
}
