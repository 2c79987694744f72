//! What groups that spray or put in order have done: the answers to Braid's own requests.

use braid_openflow::{ErrorCode, GroupId, GroupModFailedCode};
use braid_spray::PathId;
use braid_types::MacAddr;

use super::Switch;
use crate::group::{Group, Order};
use crate::path_statistics::{PathStatistics, millionths};
use crate::telemetry::OrderReport;

const UNKNOWN: ErrorCode = ErrorCode::GroupModFailed(GroupModFailedCode::UnknownGroup);

impl Switch {
    /// What a group that puts in order has done, in the order of `docs/openflow-extensions.md`.
    pub(super) fn order_statistics(&self, id: GroupId) -> Result<Vec<u8>, ErrorCode> {
        let group = self.groups.get(&id).ok_or(UNKNOWN)?;
        let buffer = &group.order.as_ref().ok_or(UNKNOWN)?.buffer;
        let numbers = OrderReport::of(buffer).numbers();
        Ok(header(id).chain(numbers.into_iter().flat_map(u64::to_be_bytes)).collect())
    }

    /// What each path of a group has carried.
    pub(super) fn path_statistics(&self, id: GroupId) -> Result<Vec<u8>, ErrorCode> {
        let group = self.groups.get(&id).ok_or(UNKNOWN)?;
        let paths = match &group.order {
            Some(order) => order.path_statistics(),
            None => group.path_statistics().ok_or(UNKNOWN)?,
        };
        Ok(header(id).chain(PathStatistics::encode_all(&paths)).collect())
    }
}

fn header(id: GroupId) -> impl Iterator<Item = u8> {
    [id.0, 0].into_iter().flat_map(u32::to_be_bytes)
}

impl Group {
    /// Those of a group that sprays.
    fn path_statistics(&self) -> Option<Vec<PathStatistics>> {
        let weights = self.spray.as_ref()?.paths();
        let whole = weights.iter().map(|path| u64::from(path.weight)).sum();
        let path = |(place, bucket): (usize, &crate::group::Bucket)| {
            let report = self.probing.as_ref().and_then(|probing| probing.feedback.report(place));
            let weight = weights.get(place).map_or(0, |path| path.weight);
            PathStatistics {
                port: bucket.watch_port,
                label: MacAddr::ZERO,
                packets: bucket.packets,
                bytes: bucket.bytes,
                late: 0,
                share_ppm: millionths(weight.into(), whole),
                is_dead: report.is_some_and(|it| it.is_dead),
                queue: report.map(|it| it.queue).unwrap_or_default(),
                round_trip: report.map(|it| it.round_trip).unwrap_or_default(),
                loss_ppm: report.map_or(0, |it| (it.loss * 1e6).round() as u64),
            }
        };
        Some(self.buckets.iter().enumerate().map(path).collect())
    }
}

impl Order {
    fn path_statistics(&self) -> Vec<PathStatistics> {
        let counts: Vec<_> =
            (0..).map(|path| self.buffer.path(PathId(path))).take(self.ways().len()).collect();
        let whole = counts.iter().map(|count| count.bytes).sum();
        let path = |((port, label), count): (&(_, _), &braid_spray::PathCounters)| PathStatistics {
            port: *port,
            label: *label,
            packets: count.packets,
            bytes: count.bytes,
            late: count.late,
            share_ppm: millionths(count.bytes, whole),
            is_dead: false,
            queue: std::time::Duration::ZERO,
            round_trip: std::time::Duration::ZERO,
            loss_ppm: 0,
        };
        self.ways().iter().zip(&counts).map(path).collect()
    }
}
