//! Telemetry of a spraying group: share, delay, loss and state of each of its paths, as bytes.

use std::time::Duration;

use braid_openflow::{DecodeError, Reader};
use braid_types::MacAddr;
use serde::{Deserialize, Serialize};

use super::long;

/// Bytes that tell of a path.
const PATH: usize = 48;
/// Shares of lost probes are told in so many parts.
const MILLION: f64 = 1e6;
/// A round trip that was never measured.
const UNKNOWN: u32 = u32::MAX;

/// What a group that sprays does with its paths, and knows of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SprayReport {
    /// In the order of its buckets.
    pub paths: Vec<PathReport>,
}

/// What is known of a path at the edge where it begins.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct PathReport {
    /// The destination address by which frames take the path; zero if they keep theirs.
    pub label: MacAddr,
    /// Whether it carries anything.
    pub state: PathState,
    /// Its share among the weights of all.
    pub weight: u32,
    /// Packets that were sent by it since the group was made or changed.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How long answers to probes take, smoothed; `None` if none has come.
    pub round_trip: Option<Duration>,
    /// How long packets wait in its queues.
    pub queue: Duration,
    /// The part that is lost lately of what is sent by it, or of its probes while that is little, from 0 to 1.
    pub loss: f64,
}

/// Whether a path carries anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathState {
    /// It carries its share.
    Carries,
    /// It does not answer probes.
    Silent,
    /// The port where it begins is down.
    Down,
    /// It answers, and is given nothing, as it would do more harm than good.
    LeftOut,
}

impl SprayReport {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let count = reader.read::<u32>()?;
        let paths = (0..count).map(|_| PathReport::read(&mut Reader::new(PART, reader.take(PATH)?)));
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
        reader.skip(4)?;
        Ok(Self {
            label,
            state: PathState::read(state),
            weight,
            packets,
            bytes,
            round_trip: (round_trip != UNKNOWN).then(|| Duration::from_micros(round_trip.into())),
            queue: Duration::from_micros(queue.into()),
            loss: f64::from(lost.min(MILLION as u32)) / MILLION,
        })
    }

    fn bytes(&self) -> Vec<u8> {
        let round_trip = self.round_trip.map_or(UNKNOWN, micros);
        let lost = (self.loss.clamp(0.0, 1.0) * MILLION).round() as u32;
        let longs = |numbers: [u64; 2]| numbers.into_iter().flat_map(u64::to_be_bytes);
        let words = |numbers: [u32; 4]| numbers.into_iter().flat_map(u32::to_be_bytes);
        let first = longs([self.label.to_u64(), u64::from(self.state as u32) << 32 | u64::from(self.weight)]);
        let rest = words([round_trip, micros(self.queue), lost, 0]);
        first.chain(longs([self.packets, self.bytes])).chain(rest).collect()
    }
}

impl PathState {
    /// What is not known carries nothing, as far as can be told.
    const fn read(state: u32) -> Self {
        match state {
            0 => Self::Carries,
            1 => Self::Silent,
            3 => Self::LeftOut,
            _ => Self::Down,
        }
    }
}

fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(UNKNOWN).min(UNKNOWN - 1)
}
