//! Telemetry of the groups that spray or resequence, in one reply.

use braid_edge_protocol::extension::BRAID;
use braid_edge_protocol::telemetry::{self, PathReport, PathState, Report, SprayReport, TELEMETRY};
use braid_openflow::{BadRequestCode, ErrorCode, Experimenter, GroupId};
use braid_types::MacAddr;

use super::Groups;
use super::group::{Bucket, Group};
use crate::action::{Act, SetField};
use crate::ports::Ports;

impl Groups {
    /// The records of the groups that an experimenter multipart requests.
    pub(crate) fn telemetry(
        &self,
        request: &Experimenter<'_>,
        ports: &Ports,
    ) -> Result<Vec<Vec<u8>>, ErrorCode> {
        let refused = |code| Err(ErrorCode::BadRequest(code));
        match request {
            _ if request.experimenter != BRAID => refused(BadRequestCode::BadExperimenter),
            _ if request.exp_type != TELEMETRY => refused(BadRequestCode::BadExpType),
            _ if !request.data.is_empty() => refused(BadRequestCode::BadLen),
            _ => Ok(self.reports(ports).map(|(id, report)| telemetry::encode(id, &report)).collect()),
        }
    }

    fn reports(&self, ports: &Ports) -> impl Iterator<Item = (GroupId, Report)> {
        self.all.iter().filter_map(|(id, group)| {
            let resequencer = || Some(Report::Resequence(Box::new(group.resequencer.as_ref()?.report())));
            let spray = self.spray_report(*id, group, ports).map(Report::Spray);
            Some((*id, spray.or_else(resequencer)?))
        })
    }

    fn spray_report(&self, id: GroupId, group: &Group, ports: &Ports) -> Option<SprayReport> {
        let weights = group.spray.as_ref()?.paths();
        let paths = group.buckets.iter().zip(weights).enumerate();
        let report = |(place, (bucket, path)): (usize, (&Bucket, &braid_spray::PathWeight))| {
            let probed = group.probing.as_ref().and_then(|probing| probing.report(place));
            let state = match probed {
                _ if !self.is_live(id, place, ports) => PathState::Down,
                Some(probed) if probed.is_dead => PathState::Silent,
                Some(probed) if probed.is_suspended => PathState::Suspended,
                _ => PathState::Active,
            };
            PathReport {
                label: label(bucket),
                state,
                weight: path.weight,
                packets: bucket.packets,
                bytes: bucket.bytes,
                round_trip: probed.map(|it| it.round_trip).filter(|it| !it.is_zero()),
                queue: probed.map(|it| it.queue).unwrap_or_default(),
                loss: probed.map_or(0.0, |it| it.loss),
                silences: probed.map_or(0, |it| it.silences),
            }
        };
        Some(SprayReport { paths: paths.map(report).collect() })
    }
}

/// The destination address that a bucket sets.
fn label(bucket: &Bucket) -> MacAddr {
    let given = bucket.actions.iter().find_map(|act| match act {
        Act::Set(SetField::EthDst(address)) => Some(*address),
        _ => None,
    });
    given.unwrap_or(MacAddr::ZERO)
}
