//! Transactions are committed as far as they are still wanted, and what uses labels that go takes others.

use std::collections::BTreeSet;

use braid_types::{DatapathId, Time};

use super::routes::Way;
use super::{Brain, context};
use crate::command::{Command, Commands};
use crate::fabric::{FabricEvent, Replaces, Submitted, Withdrawal};
use crate::label::Label;
use crate::notice::Notice;
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
        match self.fabric.submit(&context!(self, now, out), hops, batch, replaces) {
            // Nothing can have changed since it was made.
            Submitted::Ready(batch) => self.commit(batch, out),
            Submitted::Waits => {}
            Submitted::Full(batch) => {
                self.abandon(&batch, out);
                out.notice(Notice::Full { what: "batches waiting for paths" });
            }
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
                FabricEvent::Ready(mut batch) => {
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
        self.release_routes(&withdrawal.labels, out);
        self.fabric.complete(&mut context!(self, now, out), withdrawal);
    }

    fn commit(&mut self, mut batch: Commands, out: &mut Commands) {
        for command in &batch {
            if let Command::Add { dpid, rule: rule @ (Rule::Route { dst, .. } | Rule::LocalRoute { dst }) } =
                command
                && let Some(way) = Way::of(rule)
            {
                self.routes.note_written((*dst, *dpid), way);
            }
        }
        out.append(&mut batch);
        self.fabric.reuse(batch);
    }

    /// The batch is dropped: what it would have installed is not there. Its packets go straight to their hosts, as there
    /// is no room for them to wait.
    fn abandon(&mut self, batch: &Commands, out: &mut Commands) {
        for command in batch {
            match command {
                Command::Add { rule: Rule::Stream { id, .. }, .. } => self.end_stream(*id, out),
                Command::Add { dpid, rule: Rule::Route { dst, .. } | Rule::LocalRoute { dst } } => {
                    self.routes.remove(*dst, *dpid);
                }
                _ => {}
            }
        }
        batch.held().for_each(|(_, frame)| self.hand_over(frame, out));
    }

    /// Whether a command that waited is still wanted: its stream or route may have gone or moved.
    fn is_current(&self, command: &Command) -> bool {
        match command {
            Command::Add { dpid, rule: Rule::Stream { id, reverse, hop, .. } } => {
                self.stream_hop(*id, *reverse) == Some((*dpid, *hop))
            }
            Command::Add { rule: Rule::Ordered { id, .. }, .. } => self.sprays.has(*id),
            Command::Spray { dpid, spray } => self.sprays.wants(*dpid, spray),
            Command::Add { rule: Rule::Expected { tuple, .. }, .. } => self.is_expected(tuple),
            Command::Add { dpid, rule: rule @ Rule::Route { dst, .. } } => {
                self.routes.get(*dst, *dpid) == Way::of(rule)
            }
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
        let set_aside = self.set_aside().filter_map(|path| self.fabric.label_of(&path));
        set_aside.chain(self.routes.labels()).chain(self.sprays.labels()).collect()
    }

    /// Deletes a rule at a switch that may have left.
    pub(super) fn delete(&self, dpid: DatapathId, rule: Rule, out: &mut Commands) {
        if self.topology.switch(dpid).is_some() {
            out.delete(dpid, rule);
        }
    }
}
