//! What groups that spray or put in order have done, as edges tell controllers. `docs/openflow-extensions.md`.
//!
//! An experimenter multipart of [`BRAID`](crate::extension::BRAID): the request is empty, the reply has a record for each
//! group. A record says how long it is, so that later ones may say more.

mod order;
mod spray;

use braid_openflow::{DecodeError, Experimenter, GroupId, Part, Reader};
use serde::{Deserialize, Serialize};

pub use order::{Limits, OrderReport, WayReport};
pub use spray::{PathReport, PathState, SprayReport};

/// The multipart's type, among those of this experimenter.
pub const TELEMETRY: u32 = 1;

const SPRAYS: u32 = 1;
const PUTS_IN_ORDER: u32 = 2;
/// What each record begins with: its length, the group, what it does.
const HEADER: usize = 12;

/// What a group has done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// It sprays.
    Spray(SprayReport),
    /// It puts in order.
    Order(Box<OrderReport>),
}

/// Reads the records of a reply, or of a part of it; what is not known of them is passed over.
///
/// # Errors
///
/// A record ends before it should, or is longer than what there is.
pub fn decode(message: &Experimenter<'_>) -> Result<Vec<(GroupId, Report)>, DecodeError> {
    let mut reader = Reader::new(Part::Experimenter, message.data.0);
    let mut reports = Vec::new();
    while !reader.is_empty() {
        let length = reader.read::<u32>()? as usize;
        let body = reader.take(length.saturating_sub(4))?;
        let mut body = Reader::new(Part::Experimenter, body);
        let (group, kind) = (body.read()?, body.read::<u32>()?);
        match kind {
            SPRAYS => reports.push((group, Report::Spray(SprayReport::read(&mut body)?))),
            PUTS_IN_ORDER => reports.push((group, Report::Order(Box::new(OrderReport::read(&mut body)?)))),
            _ => {}
        }
    }
    Ok(reports)
}

/// The record of a group.
pub fn encode(group: GroupId, report: &Report) -> Vec<u8> {
    let (kind, body) = match report {
        Report::Spray(spray) => (SPRAYS, spray.bytes()),
        Report::Order(order) => (PUTS_IN_ORDER, order.bytes()),
    };
    let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
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
        };
        let states = [PathState::Carries, PathState::Silent, PathState::Down, PathState::LeftOut];
        let unheard = PathReport { round_trip: None, ..path(PathState::Carries) };
        let paths = states.into_iter().map(path).chain([unheard]).collect();
        let label = MacAddr::from_u64(0x02b7_0000_0002);
        let way = WayReport { port: PortNo(2), label, packets: 5, bytes: 1 << 33, late: 0 };
        let order = OrderReport {
            counters: Counters { forwarded: 1, spurious: 6, longest_nanos: 14, ..Counters::default() },
            gauge: Gauge { flows: 2, packets: 3, bytes: 4 },
            limits: Limits { packets: 9, bytes: 10, flow_bytes: 11 },
            hold_time: Duration::from_micros(5),
            waits: HoldHistogram::new(vec![0, 0, 7, 1]),
            ways: vec![way, WayReport { port: PortNo(3), late: 8, ..way }],
        };
        let none = OrderReport { waits: HoldHistogram::default(), ways: Vec::new(), ..order.clone() };
        [Report::Spray(SprayReport { paths }), Report::Order(Box::new(order)), Report::Order(Box::new(none))]
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
    fn what_is_cut_off_is_refused_and_what_is_not_known_is_passed_over() {
        for (group, report) in reports() {
            let bytes = encode(group, &report);
            for length in 1..bytes.len() {
                assert!(decode(&message(&bytes[..length])).is_err(), "{length}");
                // A record that says itself that it is so short.
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
