//! The machines and tables below streams.

use std::net::IpAddr;

use braid_steering::Transfers;
use braid_types::DatapathId;

use super::rules::RuleSources;
use crate::admission::Admission;
use crate::context::Context;
use crate::fabric::Fabric;
use crate::measurement::Measurement;
use crate::placer::Placer;
use crate::reservations::Reservations;
use crate::routing::RouteKey;
use crate::routing::Routing;
use crate::spray::Spray;

/// The machines below streams, while an event is handled.
pub(crate) struct StreamDeps<'a> {
    pub(crate) cx: Context<'a>,
    pub(crate) transfers: &'a mut Transfers,
    pub(crate) placer: &'a mut Placer,
    pub(crate) admission: &'a mut Admission,
    pub(crate) fabric: &'a mut Fabric,
    pub(crate) routing: &'a mut Routing,
    pub(crate) spray: &'a mut Spray,
    pub(crate) reservations: &'a mut Reservations,
    pub(crate) measurement: &'a Measurement,
}

impl StreamDeps<'_> {
    pub(super) const fn rules(&self) -> RuleSources<'_> {
        RuleSources { transfers: self.transfers, fabric: self.fabric, spray: self.spray }
    }

    /// Sends a packet that entered at a switch on its default path.
    pub(super) fn forward(&mut self, dpid: DatapathId, dst: IpAddr, frame: &[u8]) {
        self.routing.forward(&mut self.cx, self.fabric, &[RouteKey { dst, dpid }], frame);
    }
}
