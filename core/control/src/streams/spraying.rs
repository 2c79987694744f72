//! Sprayed streams: their placement, and changes of their bundles.

use braid_planner::EffectivePolicy;
use braid_steering::StreamId;
use braid_types::SwitchPair;

use super::rules::switches_of;
use super::{StreamDeps, Streams};
use crate::command::Commands;
use crate::fabric::{Hops, Replaces};
use crate::spray::{SprayEvent, SprayRequest, StreamBundles};

/// Whether to spray a plain connection: both ends are edges, the policy allows it, and suitable paths exist.
pub(super) fn may_spray(deps: &mut StreamDeps<'_>, policy: &EffectivePolicy, ends: SwitchPair) -> bool {
    policy.may_spray() && deps.spray.is_possible(&deps.cx, ends, policy.spray())
}

impl Streams {
    /// Places both directions of a stream on bundles; returns the first hops that its rules need.
    ///
    /// `None` if there are no suitable paths, or the policy has changed; then the stream should take a single one.
    pub(super) fn place_sprayed(
        &mut self,
        deps: &mut StreamDeps<'_>,
        id: StreamId,
        ends: SwitchPair,
        batch: &mut Commands,
    ) -> Option<Hops> {
        let stream = deps.transfers.stream(id)?;
        let (tuple, transfer) = (stream.tuple, stream.transfer);
        let policy = deps.cx.policy_of(&tuple);
        let is_allowed = policy.may_spray();
        let request = SprayRequest { id, transfer, tuple, ends, policy: policy.spray(), is_allowed };
        let hops = deps.spray.place(&mut deps.cx, deps.fabric, request, batch)?;
        let route = deps.spray.stream(id).and_then(StreamBundles::route);
        self.set_route(deps, id, route);
        Some(hops)
    }

    /// Compares bundles with the available paths. Called when the counters have been read.
    pub(super) fn review_spray(&mut self, deps: &mut StreamDeps<'_>) {
        let rates = |id| deps.transfers.stream(id).map(|stream| stream.rates);
        deps.spray.review(&mut deps.cx, deps.fabric, deps.measurement, rates);
        self.drain_spray(deps);
    }

    /// Handles the reports of `spray`.
    pub(super) fn drain_spray(&mut self, deps: &mut StreamDeps<'_>) {
        while let Some(event) = deps.spray.poll_event() {
            match event {
                SprayEvent::Routed(id, route) => self.set_route(deps, id, Some(route)),
                SprayEvent::Changed(transfer) => deps.transfers.note_change(transfer),
                SprayEvent::Lost(id) => {
                    self.remove_rules(deps, id);
                    self.set_route(deps, id, None);
                }
                SprayEvent::Sprayable(id) => self.spray_single(deps, id),
            }
        }
    }

    fn spray_single(&mut self, deps: &mut StreamDeps<'_>, id: StreamId) {
        let tuple = deps.transfers.stream(id).map(|stream| stream.tuple);
        let ends = tuple.and_then(|tuple| switches_of(deps.cx.topology, &tuple));
        let mut batch = Commands::default();
        if let Some(hops) = ends.and_then(|ends| self.place_sprayed(deps, id, ends, &mut batch)) {
            self.submit(deps, &hops, batch, Replaces::Working);
        }
    }
}
