//! Transactions: commands that wait until their paths are confirmed, all or nothing.

use std::time::Duration;

use braid_types::Time;
use smallvec::SmallVec;

use super::pending::Owned;
use super::{Fabric, FabricEvent};
use crate::command::Commands;
use crate::context::Context;
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::Hop;

/// The state that a transaction replaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Replaces {
    /// Nothing that could carry packets meanwhile.
    Nothing,
    /// A working path. There is time to wait, since a switch may confirm a rule before applying it.
    Working,
}

/// The first hops of the paths that commands need.
pub(crate) type Hops = SmallVec<[Hop; 2]>;

/// Commands that take effect together, once their paths are confirmed.
#[derive(Debug)]
pub(crate) struct Transaction<'a> {
    /// The machine that commits them.
    pub(crate) owner: Owner,
    /// The first hops of the paths that they need.
    pub(crate) hops: &'a [Hop],
    /// The commands.
    pub(crate) commands: Commands,
    /// The state that they replace.
    pub(crate) replaces: Replaces,
}

/// The machine that commits a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// Default paths.
    Routing,
    /// Streams.
    Streams,
    /// Bundles of paths.
    Spray,
}

/// The result of submitting a transaction.
#[derive(Debug)]
pub(crate) enum Submitted {
    /// All paths are confirmed: commit it now.
    Ready(Commands),
    /// It is pending and returns in an event.
    Waits,
    /// Too many transactions are pending.
    Full(Commands),
}

impl<'a> Transaction<'a> {
    /// A transaction that replaces nothing.
    pub(crate) const fn new(owner: Owner, hops: &'a [Hop], commands: Commands) -> Self {
        Self { owner, hops, commands, replaces: Replaces::Nothing }
    }

    /// The same transaction, as a replacement.
    pub(crate) const fn replacing(mut self, replaces: Replaces) -> Self {
        self.replaces = replaces;
        self
    }
}

impl Fabric {
    /// Holds a transaction until every path that it needs is confirmed.
    pub(crate) fn submit(&mut self, cx: &mut Context<'_>, transaction: Transaction<'_>) -> Submitted {
        let Transaction { owner, hops, commands, replaces } = transaction;
        let labels = hops.iter().map(|hop| hop.label);
        let labels: SmallVec<[Label; 2]> = labels.filter(|label| !self.labels.is_confirmed(*label)).collect();
        let (grace, due) = match replaces {
            Replaces::Nothing => (Duration::ZERO, None),
            Replaces::Working => {
                let grace = cx.settings.barrier_grace;
                let confirmed_at = hops.iter().filter_map(|hop| self.labels.confirmed_at(hop.label)).max();
                (grace, confirmed_at.map(|at| at + grace))
            }
        };
        if labels.is_empty() && due.is_none_or(|at| at <= cx.now) {
            return Submitted::Ready(commands);
        }
        if self.pending.len() >= cx.settings.max_waiting {
            cx.out.notice(Notice::Full { what: "transactions waiting for labels" });
            return Submitted::Full(commands);
        }
        match due.filter(|_| labels.is_empty()) {
            Some(due) => self.pending.until(due, Owned { owner, commands }),
            None => self.pending.for_labels(labels, grace, Owned { owner, commands }),
        }
        Submitted::Waits
    }

    /// Reports the due transactions as ready.
    pub(super) fn commit_due(&mut self, now: Time) {
        let due = self.pending.take_due(now);
        self.events.extend(due.into_iter().map(|it| FabricEvent::Ready(it.owner, it.commands)));
    }

    /// Drops the transactions that wait for a label, but keeps their packets.
    pub(super) fn drop_pending(&mut self, label: Label) {
        self.pending.drop_those_for(label);
    }
}
