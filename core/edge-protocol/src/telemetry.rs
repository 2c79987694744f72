//! Telemetry of spraying and resequencing groups, from edges to controllers. `docs/openflow-extensions.md`.
//!
//! It is an experimenter multipart of [`BRAID`](crate::extension::BRAID): the request is empty, and the reply has a record
//! for each group. A record begins with its length, so that later versions may extend it.

mod resequence;
mod spray;

use braid_openflow::{DecodeError, Experimenter, GroupId, Part, Reader};
use serde::{Deserialize, Serialize};

pub use resequence::{ArrivalReport, Limits, ResequenceReport};
pub use spray::{PathReport, PathState, SprayReport};

/// The experimenter type of the multipart message.
pub const TELEMETRY: u32 = 1;

const KIND_SPRAY: u32 = 1;
const KIND_RESEQUENCE: u32 = 2;
/// The header of each record: length, group and kind.
const HEADER_BYTES: usize = 12;

/// The telemetry of a group.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// A group that sprays.
    Spray(SprayReport),
    /// A group that resequences.
    Resequence(Box<ResequenceReport>),
}

/// Decodes the records of a reply, or of a part of it. Unknown kinds and extra bytes are skipped.
///
/// # Errors
///
/// A record is truncated, or longer than the message.
pub fn decode(message: &Experimenter<'_>) -> Result<Vec<(GroupId, Report)>, DecodeError> {
    let mut reader = Reader::new(Part::Experimenter, message.data.0);
    let mut reports = Vec::new();
    while !reader.is_empty() {
        let length = reader.read::<u32>()? as usize;
        let body = reader.take(length.saturating_sub(4))?;
        let mut body = Reader::new(Part::Experimenter, body);
        let (group, kind) = (body.read()?, body.read::<u32>()?);
        match kind {
            KIND_SPRAY => reports.push((group, Report::Spray(SprayReport::read(&mut body)?))),
            KIND_RESEQUENCE => {
                reports.push((group, Report::Resequence(Box::new(ResequenceReport::read(&mut body)?))));
            }
            _ => {}
        }
    }
    Ok(reports)
}

/// The record of a group.
pub fn encode(group: GroupId, report: &Report) -> Vec<u8> {
    let (kind, body) = match report {
        Report::Spray(spray) => (KIND_SPRAY, spray.bytes()),
        Report::Resequence(order) => (KIND_RESEQUENCE, order.bytes()),
    };
    let length = u32::try_from(HEADER_BYTES.saturating_add(body.len())).unwrap_or(u32::MAX);
    let header = [length, group.0, kind].into_iter().flat_map(u32::to_be_bytes);
    header.chain(body).collect()
}

fn long(reader: &mut Reader<'_>) -> Result<u64, DecodeError> {
    reader.array().map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use braid_openflow::Bytes;
    use braid_spray::{Counters, Gauge, HoldHistogram};
    use braid_types::{MacAddr, PortNo};

    use super::*;
    use crate::extension::BRAID;

    fn reports() -> [(GroupId, Report); 3] {
        let path = |state| PathReport {
            label: MacAddr::from_u64(0x02b7_0000_0001),
            state,
            weight: 6_000,
            packets: 1 << 40,
            bytes: u64::MAX,
            round_trip: Some(Duration::from_micros(20_500)),
            queue: Duration::from_micros(3_100),
            loss: 0.25,
            silences: 7,
        };
        let states = [PathState::Active, PathState::Silent, PathState::Down, PathState::Suspended];
        let unheard = PathReport { round_trip: None, ..path(PathState::Active) };
        let paths = states.into_iter().map(path).chain([unheard]).collect();
        let label = MacAddr::from_u64(0x02b7_0000_0002);
        let way = ArrivalReport { port: PortNo(2), label, packets: 5, bytes: 1 << 33, late: 0 };
        let order = ResequenceReport {
            counters: Counters { forwarded: 1, spurious: 6, longest_nanos: 14, ..Counters::default() },
            gauge: Gauge { flows: 2, packets: 3, bytes: 4 },
            limits: Limits { packets: 9, bytes: 10, flow_bytes: 11 },
            hold_time: Duration::from_micros(5),
            waits: HoldHistogram::new(vec![0, 0, 7, 1]),
            arrivals: vec![way, ArrivalReport { port: PortNo(3), late: 8, ..way }],
        };
        let none =
            ResequenceReport { waits: HoldHistogram::default(), arrivals: Vec::new(), ..order.clone() };
        [
            Report::Spray(SprayReport { paths }),
            Report::Resequence(Box::new(order)),
            Report::Resequence(Box::new(none)),
        ]
        .map(|report| (GroupId(7), report))
    }

    fn message(bytes: &[u8]) -> Experimenter<'_> {
        Experimenter { experimenter: BRAID, exp_type: TELEMETRY, data: Bytes(bytes) }
    }

    #[test]
    fn reports_are_read_as_they_are_written() {
        let mut bytes = Vec::new();
        reports().iter().for_each(|(group, report)| bytes.extend(encode(*group, report)));
        assert_eq!(decode(&message(&bytes)).unwrap(), reports());
        assert_eq!(decode(&message(&[])).unwrap(), []);
    }

    #[test]
    fn truncated_records_are_refused_and_unknown_ones_are_skipped() {
        for (group, report) in reports() {
            let bytes = encode(group, &report);
            for length in 1..bytes.len() {
                assert!(decode(&message(&bytes[..length])).is_err(), "{length}");
                // A record whose own length field is as short.
                let mut short = bytes[..length].to_vec();
                if let Some(said) = short.first_chunk_mut() {
                    *said = (length as u32).to_be_bytes();
                }
                let _ = decode(&message(&short));
            }
        }
        let (group, report) = &reports()[1];
        let mut longer = encode(*group, report);
        longer.extend([0; 8]);
        let length = longer.len() as u32;
        *longer.first_chunk_mut().unwrap() = length.to_be_bytes();
        let unknown = [16_u32, 1, 99, 5].into_iter().flat_map(u32::to_be_bytes);
        longer.extend(unknown);
        assert_eq!(decode(&message(&longer)).unwrap(), [(*group, report.clone())]);
    }
}
