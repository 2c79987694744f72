//! Transactions are committed as far as they are still wanted, and what uses labels that go takes others.

use std::collections::BTreeSet;

use braid_types::{DatapathId, Time};

use super::{Brain, context};
use crate::command::{Command, Commands};
use crate::fabric::{FabricEvent, Owner, Replaces, Submitted, Transaction, Withdrawal};
use crate::label::Label;
use crate::pipeline::{Hop, Rule};

impl Brain {
    /// Commits `batch` once every path in `hops` is confirmed, which may be at once.
    pub(super) fn when_ready(
        &mut self,
        now: Time,
        hops: &[Hop],
        batch: Commands,
        replaces: Replaces,
        out: &mut Commands,
    ) {
        let transaction = Transaction::new(Owner::Streams, hops, batch).replacing(replaces);
        match self.fabric.submit(&mut context!(self, now, out), transaction) {
            // Nothing can have changed since it was made.
            Submitted::Ready(batch) => self.commit(batch, out),
            Submitted::Waits => {}
            Submitted::Full(batch) => self.abandon(now, &batch, out),
        }
    }

    /// A switch has done everything before a barrier.
    pub(super) fn on_barrier(&mut self, now: Time, dpid: DatapathId, token: u32, out: &mut Commands) {
        if !self.fabric.handle_barrier(&mut context!(self, now, out), dpid, token) {
            self.confirm_stream(now, dpid, token, out);
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
                FabricEvent::Ready(Owner::Streams, mut batch) => {
                    batch.retain(|command| self.is_current(command));
                    self.commit(batch, out);
                }
                FabricEvent::Stranded((dpid, frame)) => {
                    if self.topology.switch(dpid).is_some() {
                        self.resume(now, dpid, &frame, out);
                    }
                }
                FabricEvent::Withdrawn(withdrawal) => self.withdraw(now, &withdrawal, out),
                FabricEvent::Bypassed(paths) => self.vacate(now, &paths, out),
            }
        }
    }

    /// What takes labels that go takes others, or none. O(streams + routes).
    fn withdraw(&mut self, now: Time, withdrawal: &Withdrawal, out: &mut Commands) {
        self.release_streams(&withdrawal.paths, out);
        let cx = &mut context!(self, now, out);
        self.routing.withdraw(cx, &withdrawal.labels);
        self.fabric.complete(cx, withdrawal);
    }

    fn commit(&mut self, mut batch: Commands, out: &mut Commands) {
        out.append(&mut batch);
        self.fabric.reuse(batch);
    }

    /// The batch is dropped: what it would have installed is not there. Its packets go straight to their hosts, as there
    /// is no room for them to wait.
    fn abandon(&mut self, now: Time, batch: &Commands, out: &mut Commands) {
        for command in batch {
            if let Command::Add { rule: Rule::Stream { id, .. }, .. } = command {
                self.end_stream(*id, out);
            }
        }
        let cx = &mut context!(self, now, out);
        batch.held().for_each(|(_, frame)| cx.hand_over(frame));
    }

    /// Whether a command that waited is still wanted: its stream may have gone or moved.
    fn is_current(&self, command: &Command) -> bool {
        match command {
            Command::Add { dpid, rule: Rule::Stream { id, reverse, hop, .. } } => {
                self.stream_hop(*id, *reverse) == Some((*dpid, *hop))
            }
            Command::Add { rule: Rule::Ordered { id, .. }, .. } => self.spray.has(*id),
            Command::Add { rule: Rule::Expected { tuple, .. }, .. } => self.is_expected(tuple),
            _ => true,
        }
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
