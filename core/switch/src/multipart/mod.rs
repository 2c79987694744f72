//! Statistics and descriptions of a switch, read from its machines.

mod features;
mod replies;

use braid_openflow::{
    BadRequestCode, Desc, ErrorCode, List, MultipartFlags, MultipartRequest, ReplyBody, RequestBody, Text,
    Xid,
};
use braid_types::Time;

use crate::pipeline::Pipeline;
use crate::switch::Identity;
use features::{group_features, no_meters, table_features};

pub(crate) use replies::Replies;

/// The answers to multipart requests.
pub(crate) struct Statistics<'a> {
    pub(crate) now: Time,
    pub(crate) identity: &'a Identity,
    pub(crate) pipeline: &'a Pipeline,
}

impl Statistics<'_> {
    /// The messages of an answer.
    pub(crate) fn answer(&self, xid: Xid, request: &MultipartRequest<'_>) -> Result<Vec<u8>, ErrorCode> {
        if request.flags.contains(MultipartFlags::MORE) {
            return Err(ErrorCode::BadRequest(BadRequestCode::MultipartBufferOverflow));
        }
        let mut out = Replies::new(xid);
        self.write(&request.body, &mut out)?;
        Ok(out.into_bytes())
    }

    fn write(&self, request: &RequestBody<'_>, out: &mut Replies) -> Result<(), ErrorCode> {
        let Pipeline { flows, groups, ports } = self.pipeline;
        match request {
            RequestBody::Desc => out.last(ReplyBody::Desc(self.desc())),
            RequestBody::Flow(it) => return flows.flow_stats(self.now, it, out),
            RequestBody::Aggregate(it) => out.last(ReplyBody::Aggregate(flows.aggregate_stats(it)?)),
            RequestBody::Table => out.last(ReplyBody::Table(List::from(&flows.table_stats()))),
            RequestBody::Port(it) => return ports.stats(self.now, it, out),
            RequestBody::PortDesc => ports.describe(out),
            RequestBody::Queue(_) => out.last(ReplyBody::Queue(List::EMPTY)),
            RequestBody::Group(it) => return groups.stats(self.now, it.group_id, flows, out),
            RequestBody::GroupDesc => groups.describe(out),
            RequestBody::GroupFeatures => out.last(ReplyBody::GroupFeatures(group_features())),
            RequestBody::Meter(_) => out.last(ReplyBody::Meter(List::EMPTY)),
            RequestBody::MeterConfig(_) => out.last(ReplyBody::MeterConfig(List::EMPTY)),
            RequestBody::MeterFeatures => out.last(ReplyBody::MeterFeatures(no_meters())),
            RequestBody::TableFeatures(wanted) if wanted.is_empty() => table_features(out),
            // Tables are what they are.
            RequestBody::TableFeatures(_) => {
                use braid_openflow::TableFeaturesFailedCode::Eperm;
                return Err(ErrorCode::TableFeaturesFailed(Eperm));
            }
            RequestBody::Experimenter(it) => out.records(&groups.telemetry(it, ports)?, *it),
            RequestBody::Unknown { .. } => return Err(ErrorCode::BadRequest(BadRequestCode::BadMultipart)),
        }
        Ok(())
    }

    fn desc(&self) -> Desc<'_> {
        Desc {
            mfr_desc: Text::new("Braid").unwrap_or_default(),
            hw_desc: Text::new("edge").unwrap_or_default(),
            sw_desc: Text::new(&self.identity.version).unwrap_or_default(),
            serial_num: Text::default(),
            dp_desc: Text::new(&self.identity.name).unwrap_or_default(),
        }
    }
}
