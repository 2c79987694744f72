use std::time::Duration;

use braid_openflow::{DecodeError, Part, Reader};
use braid_types::{MacAddr, PortNo};

/// What one path of a group has carried, and what is known of it.
///
/// In a group that sprays, paths are its buckets; in one that puts in order, where packets came in with which destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathStatistics {
    /// The port that the bucket watches, or by which packets came.
    pub port: PortNo,
    /// The destination address that packets had when they came; none for a bucket.
    pub label: MacAddr,
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of the packets, those that others had to wait for.
    pub late: u64,
    /// Its part of what is sprayed now, or of the bytes that came, in millionths.
    pub share_ppm: u64,
    /// Whether it does not answer.
    pub is_dead: bool,
    /// How long packets wait in its queues.
    pub queue: Duration,
    /// How long answers to probes take.
    pub round_trip: Duration,
    /// The part of probes that is lost, in millionths.
    pub loss_ppm: u64,
}

impl PathStatistics {
    fn words(&self) -> [u64; 10] {
        let nanos = |time: Duration| time.as_nanos().try_into().unwrap_or(u64::MAX);
        [
            self.port.0.into(),
            self.label.to_u64(),
            self.packets,
            self.bytes,
            self.late,
            self.share_ppm,
            self.is_dead.into(),
            nanos(self.queue),
            nanos(self.round_trip),
            self.loss_ppm,
        ]
    }

    pub(crate) fn encode_all(paths: &[Self]) -> impl Iterator<Item = u8> {
        paths.iter().flat_map(Self::words).flat_map(u64::to_be_bytes)
    }

    /// Reads the data of message 8: the group's number, four bytes of zeros, and paths.
    ///
    /// # Errors
    ///
    /// It ends within one.
    pub fn decode_all(data: &[u8]) -> Result<Vec<Self>, DecodeError> {
        let mut reader = Reader::new(Part::Experimenter, data);
        let _group_and_zeros = (reader.read::<u32>()?, reader.read::<u32>()?);
        let mut paths = Vec::new();
        while !reader.is_empty() {
            paths.push(Self::read(&mut reader)?);
        }
        Ok(paths)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut word = || {
            Ok::<_, DecodeError>(u64::from(reader.read::<u32>()?) << 32 | u64::from(reader.read::<u32>()?))
        };
        Ok(Self {
            port: PortNo(word()? as u32),
            label: MacAddr::from_u64(word()?),
            packets: word()?,
            bytes: word()?,
            late: word()?,
            share_ppm: word()?,
            is_dead: word()? != 0,
            queue: Duration::from_nanos(word()?),
            round_trip: Duration::from_nanos(word()?),
            loss_ppm: word()?,
        })
    }
}

/// A part of a whole in millionths; of nothing, none.
pub(crate) fn millionths(part: u64, whole: u64) -> u64 {
    let part = u128::from(part) * 1_000_000;
    part.checked_div(whole.into()).and_then(|it| it.try_into().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_they_are_written() {
        let path = |port| PathStatistics {
            port: PortNo(port),
            label: MacAddr::from_u64(0x02b7_0000_0001),
            packets: 1,
            bytes: 1_500,
            late: 2,
            share_ppm: millionths(1, 3),
            is_dead: port == 2,
            queue: Duration::from_micros(70),
            round_trip: Duration::from_millis(50),
            loss_ppm: 10_000,
        };
        let paths = [path(1), path(2)];
        let data: Vec<u8> = [0; 8].into_iter().chain(PathStatistics::encode_all(&paths)).collect();
        assert_eq!(PathStatistics::decode_all(&data).unwrap(), paths);
        assert!(PathStatistics::decode_all(&data[..data.len() - 1]).is_err());
        assert_eq!((paths[0].share_ppm, millionths(1, 0)), (333_333, 0));
    }
}
