//! Streams that are sprayed, and what becomes of their bundles.

use braid_steering::{SteerAs, StreamId};
use braid_types::{DatapathId, FiveTuple, Time};

use super::{Brain, context};
use crate::command::Commands;
use crate::fabric::{Hops, Replaces};
use crate::spray::{SprayEvent, SprayPolicy, SprayRequest};

impl Brain {
    /// Whether a plain connection is to be sprayed: between edges, as the policy says, over paths that go together.
    pub(super) fn may_spray(
        &mut self,
        now: Time,
        tuple: &FiveTuple,
        ends: (DatapathId, DatapathId),
        out: &mut Commands,
    ) -> bool {
        let policy = self.spray_policy(tuple);
        self.manner(tuple).steer_as != SteerAs::Single
            && self.spray.is_possible(&context!(self, now, out), ends, policy)
    }

    fn spray_policy(&self, tuple: &FiveTuple) -> SprayPolicy {
        let steering = self.policies.of(tuple);
        SprayPolicy {
            k: steering.k.unwrap_or(self.settings.paths),
            resequence: steering.resequence.unwrap_or_default(),
            max_mdi: steering.max_mdi,
        }
    }

    /// Lets both directions of a stream go through bundles; returns the labels that its rules need.
    ///
    /// `None` if there are no paths that go together; then the stream is to take one.
    pub(super) fn place_sprayed(
        &mut self,
        now: Time,
        id: StreamId,
        ends: (DatapathId, DatapathId),
        batch: &mut Commands,
        out: &mut Commands,
    ) -> Option<Hops> {
        let stream = self.streams.stream(id)?;
        let (tuple, transfer) = (stream.tuple, stream.transfer);
        let request = SprayRequest { id, transfer, tuple, ends, policy: self.spray_policy(&tuple) };
        let cx = &mut context!(self, now, out);
        let hops = self.spray.place(cx, &mut self.fabric, request, batch)?;
        self.set_route(id, self.spray.route(id));
        Some(hops)
    }

    /// Compares bundles with what there is to have; called whenever the counters have been read.
    pub(super) fn review_spray(&mut self, now: Time, out: &mut Commands) {
        let (streams, cx) = (&self.streams, &mut context!(self, now, out));
        let rates = |id| streams.stream(id).map(|stream| stream.rates);
        self.spray.review(cx, &mut self.fabric, &self.measurement, rates);
        self.drain_spray(now, out);
    }

    /// Does what follows from what has become of bundles.
    pub(super) fn drain_spray(&mut self, now: Time, out: &mut Commands) {
        while let Some(event) = self.spray.poll_event() {
            match event {
                SprayEvent::Routed(id, route) => self.set_route(id, Some(route)),
                SprayEvent::Changed(transfer) => self.streams.note_change(transfer),
                SprayEvent::Lost(id) => {
                    self.remove_rules(id, out);
                    self.set_route(id, None);
                }
                SprayEvent::Sprayable(id) => self.spray_single(now, id, out),
            }
        }
    }

    fn spray_single(&mut self, now: Time, id: StreamId, out: &mut Commands) {
        let tuple = self.streams.stream(id).map(|stream| stream.tuple);
        let ends = tuple.and_then(|tuple| self.switches_of(&tuple));
        let mut batch = Commands::default();
        if let Some(hops) = ends.and_then(|ends| self.place_sprayed(now, id, ends, &mut batch, out)) {
            self.when_ready(now, &hops, batch, Replaces::Working, out);
        }
    }
}
