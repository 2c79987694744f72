//! Transactions are committed as far as they are still wanted, and what uses labels that go takes others.

use std::collections::BTreeSet;

use braid_types::{DatapathId, Time};

use super::{Brain, context};
use crate::command::Commands;
use crate::fabric::{FabricEvent, Owner, Withdrawal};
use crate::label::Label;
use crate::pipeline::Rule;
use crate::requests::lower;
use crate::streams::network;

impl Brain {
    /// A switch has done everything before a barrier.
    pub(super) fn on_barrier(&mut self, now: Time, dpid: DatapathId, token: u32, out: &mut Commands) {
        if !self.fabric.handle_barrier(&mut context!(self, now, out), dpid, token) {
            self.requests.handle_barrier(&mut lower!(self, now, out), dpid, token);
        }
        self.drain_fabric(now, out);
    }

    /// Does what follows from what has become of labels and transactions.
    pub(super) fn drain_fabric(&mut self, now: Time, out: &mut Commands) {
        while let Some(event) = self.fabric.poll_event() {
            match event {
                FabricEvent::Ready(Owner::Routing, batch) => {
                    let cx = &mut context!(self, now, out);
                    self.routing.commit(cx, &mut self.fabric, batch);
                }
                FabricEvent::Ready(Owner::Spray, batch) => {
                    self.spray.commit(&mut context!(self, now, out), batch)
                }
                FabricEvent::Ready(Owner::Streams, batch) => {
                    self.streams.commit(&mut network!(self, now, out), batch);
                }
                FabricEvent::Stranded((dpid, frame)) => {
                    if self.topology.switch(dpid).is_some() {
                        self.resume(now, dpid, &frame, out);
                    }
                }
                FabricEvent::Withdrawn(withdrawal) => self.withdraw(now, &withdrawal, out),
                FabricEvent::Bypassed(paths) => self.streams.vacate(&mut network!(self, now, out), &paths),
            }
        }
    }

    /// What takes labels that go takes others, or none. O(streams + routes).
    fn withdraw(&mut self, now: Time, withdrawal: &Withdrawal, out: &mut Commands) {
        self.streams.release(&mut network!(self, now, out), &withdrawal.paths);
        let cx = &mut context!(self, now, out);
        self.routing.withdraw(cx, &withdrawal.labels);
        self.fabric.complete(cx, withdrawal);
    }

    /// Tells those who wait for streams that have ended.
    pub(super) fn drain_streams(&mut self, now: Time, out: &mut Commands) {
        self.requests.drain_streams(&mut lower!(self, now, out));
    }

    /// Looks for labels that nothing uses, called now and then.
    pub(super) fn review_labels(&mut self, now: Time, out: &mut Commands) {
        let pinned = self.pinned_labels();
        self.fabric.review(&context!(self, now, out), pinned);
        self.drain_fabric(now, out);
    }

    /// The labels that something uses beside single streams.
    fn pinned_labels(&self) -> BTreeSet<Label> {
        let set_aside = self.reservations.paths().filter_map(|path| self.fabric.label_of(&path));
        set_aside.chain(self.routing.labels()).chain(self.spray.labels()).collect()
    }

    /// Deletes a rule at a switch that may have left.
    pub(super) fn delete(&self, dpid: DatapathId, rule: Rule, out: &mut Commands) {
        if self.topology.switch(dpid).is_some() {
            out.delete(dpid, rule);
        }
    }
}
