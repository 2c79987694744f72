//! Commands that wait until the paths that they need are confirmed, all or nothing.

use std::time::Duration;

use braid_types::{DatapathId, Time};
use smallvec::SmallVec;

use super::Brain;
use super::install::Confirmed;
use super::routes::Way;
use crate::command::{Command, Commands};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};

/// What a batch replaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Replaces {
    /// Nothing that packets could go by meanwhile.
    Nothing,
    /// What works still, so that there is time.
    Working,
}

impl Brain {
    /// Lets `batch` go once every path in `hops` is confirmed, which may be at once.
    pub(super) fn when_ready(
        &mut self,
        now: Time,
        hops: &[Hop],
        batch: Commands,
        replaces: Replaces,
        out: &mut Commands,
    ) {
        let grace = match replaces {
            Replaces::Nothing => Duration::ZERO,
            Replaces::Working => self.settings.grace,
        };
        let confirmed_at = |hop: &Hop| self.labels.confirmed_at(hop.label);
        let labels: SmallVec<[Label; 2]> =
            hops.iter().filter(|hop| confirmed_at(hop).is_none()).map(|hop| hop.label).collect();
        let due =
            labels.is_empty().then(|| hops.iter().filter_map(confirmed_at).max().unwrap_or(now) + grace);
        if due.is_some_and(|at| at <= now) || (due.is_some() && hops.is_empty()) {
            // Nothing can have changed since it was made.
            self.give(batch, out);
        } else if self.labels.waits.len() >= self.settings.max_waiting {
            self.abandon(&batch, out);
            out.notice(Notice::Full { what: "batches waiting for paths" });
        } else if let Some(due) = due {
            self.labels.waits.until(due, batch);
        } else {
            self.labels.waits.for_labels(labels, grace, batch);
        }
    }

    /// Gives the commands of a batch that waited, as far as they are still wanted.
    fn let_go(&mut self, mut batch: Commands, out: &mut Commands) {
        batch.retain(|command| self.is_current(command));
        self.give(batch, out);
    }

    fn give(&mut self, mut batch: Commands, out: &mut Commands) {
        for command in &batch {
            if let Command::Add { dpid, rule: rule @ (Rule::Route { dst, .. } | Rule::LocalRoute { dst }) } =
                command
                && let Some(way) = Way::of(rule)
            {
                self.routes.note_written((*dst, *dpid), way);
            }
        }
        out.append(&mut batch);
        self.spare = batch;
    }

    /// An empty batch, with the memory of one that was let go: packets come faster than memory.
    pub(super) fn blank(&mut self) -> Commands {
        std::mem::take(&mut self.spare)
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

    /// A switch has done everything before a barrier.
    pub(super) fn on_barrier(&mut self, now: Time, dpid: DatapathId, token: u32, out: &mut Commands) {
        match self.labels.confirm(now, dpid, token) {
            Some(Confirmed::Ready(label)) => {
                self.labels.waits.confirm(now, label);
                self.let_go_due(now, out);
            }
            Some(Confirmed::Leaving(label)) => self.has_left(now, label),
            None if self.confirm_stream(now, dpid, token, out) => {}
            None => self.confirm_detour(dpid, token, out),
        }
    }

    /// Lets the batches go whose time has come.
    pub(super) fn let_go_due(&mut self, now: Time, out: &mut Commands) {
        for batch in self.labels.waits.take_due(now) {
            self.let_go(batch, out);
        }
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
}
