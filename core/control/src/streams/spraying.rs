//! Sprayed streams: their placement, and changes of their bundles.

use braid_steering::StreamId;
use braid_types::{FiveTuple, SwitchPair};

use super::rules::switches_of;
use super::{Network, Streams};
use crate::command::Commands;
use crate::fabric::{Hops, Replaces};
use crate::spray::{SprayEvent, SprayRequest, StreamBundles};

impl Streams {
    /// Whether to spray a plain connection: both ends are edges, the policy allows it, and suitable paths
    /// exist.
    pub(super) fn may_spray(&mut self, net: &mut Network<'_>, tuple: &FiveTuple, ends: SwitchPair) -> bool {
        let policy = self.policy_of(net.cx.settings, tuple);
        policy.may_spray() && net.spray.is_possible(&net.cx, ends, policy.spray())
    }

    /// Places both directions of a stream on bundles; returns the first hops that its rules need.
    ///
    /// `None` if there are no suitable paths; then the stream should take a single one.
    pub(super) fn place_sprayed(
        &mut self,
        net: &mut Network<'_>,
        id: StreamId,
        ends: SwitchPair,
        batch: &mut Commands,
    ) -> Option<Hops> {
        let stream = net.transfers.stream(id)?;
        let (tuple, transfer) = (stream.tuple, stream.transfer);
        let policy = self.policy_of(net.cx.settings, &tuple).spray();
        let request = SprayRequest { id, transfer, tuple, ends, policy };
        let hops = net.spray.place(&mut net.cx, net.fabric, request, batch)?;
        let route = net.spray.stream(id).and_then(StreamBundles::route);
        self.set_route(net, id, route);
        Some(hops)
    }

    /// Compares bundles with the available paths. Called when the counters have been read.
    pub(super) fn review_spray(&mut self, net: &mut Network<'_>) {
        let rates = |id| net.transfers.stream(id).map(|stream| stream.rates);
        net.spray.review(&mut net.cx, net.fabric, net.measurement, rates);
        self.drain_spray(net);
    }

    /// Handles the reports of `spray`.
    pub(super) fn drain_spray(&mut self, net: &mut Network<'_>) {
        while let Some(event) = net.spray.poll_event() {
            match event {
                SprayEvent::Routed(id, route) => self.set_route(net, id, Some(route)),
                SprayEvent::Changed(transfer) => net.transfers.note_change(transfer),
                SprayEvent::Lost(id) => {
                    self.remove_rules(net, id);
                    self.set_route(net, id, None);
                }
                SprayEvent::Sprayable(id) => self.spray_single(net, id),
            }
        }
    }

    fn spray_single(&mut self, net: &mut Network<'_>, id: StreamId) {
        let tuple = net.transfers.stream(id).map(|stream| stream.tuple);
        let ends = tuple.and_then(|tuple| switches_of(net.cx.topology, &tuple));
        let mut batch = Commands::default();
        if let Some(hops) = ends.and_then(|ends| self.place_sprayed(net, id, ends, &mut batch)) {
            self.submit(net, &hops, batch, Replaces::Working);
        }
    }
}
