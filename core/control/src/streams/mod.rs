//! Streams and their transfers: setup, placement, migration and teardown.

mod call_backs;
mod deps;
mod handshakes;
mod migration;
mod placing;
mod rebalance;
mod reroute;
mod rules;
mod setup;
mod spraying;
mod teardown;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use braid_paths::Path;
use braid_steering::StreamId;
use braid_types::{Numbered, Time};

use crate::command::{Command, Commands, HeldPacket};
use crate::fabric::{Owner, Replaces, Submitted, Transaction};
use crate::label::Label;
use crate::pipeline::{Hop, Rule};
use crate::spray::SprayChange;
use handshakes::Handshakes;
use rebalance::Rebalance;
use rules::{is_known, read_counters};
use teardown::Teardowns;

pub(crate) use deps::StreamDeps;
pub(crate) use placing::PlaceOn;
pub(crate) use rules::{Counted, RuleSources, switches_of};
pub(crate) use setup::PacketSource;

/// The placement, migration and teardown of streams, and the state observed for them.
///
/// What it shows beside the methods here: `handle_tcp` and `open_stream` in `setup`; `place` in `placing`; `handle_counters`,
/// `end` and `set_route` in `rules`.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    handshakes: Handshakes,
    teardowns: Teardowns,
    rebalance: Rebalance,
    /// Streams that lost their path, and when.
    unplaced: BTreeMap<StreamId, Time>,
    /// Where streams whose first rules are not written enter their first paths, forward first.
    unwritten: BTreeMap<StreamId, [Hop; 2]>,
    /// Streams that may have ended under another controller. They get no path before a rule of them is found.
    unconfirmed: BTreeSet<StreamId>,
    /// Whether links were added since streams were last spread.
    may_spread: bool,
    reviewed_at: Time,
    /// The labels of both directions that each stream leases.
    leases: Numbered<StreamId, [Option<Label>; 2]>,
    events: VecDeque<StreamEvent>,
}

/// A report to the machines above.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StreamEvent {
    /// A stream has ended.
    Ended(StreamId),
}

/// A change of the network that concerns streams.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NetworkChange<'a> {
    /// Links were added or removed: sprayed streams follow.
    Links,
    /// Paths and default paths are in line with the network again: streams without a path get one.
    Settled,
    /// A link was added: streams may be spread over it.
    LinkUp,
    /// The added links existed under an earlier controller: that is no reason to move traffic.
    Restored,
    /// A host has moved: streams of its address lead to the wrong switch.
    AddressMoved(IpAddr),
    /// The labels of these paths are withdrawn.
    Withdrawn(&'a BTreeSet<Path>),
    /// Links are degraded, or work again.
    Degraded,
    /// These paths are bypassed: their streams move to others when possible.
    Bypassed(&'a BTreeSet<Path>),
    /// Another controller has all switches: which streams end, this one does not hear.
    Replaced,
    /// What an earlier controller has installed is known: streams that ended under it have no rules there.
    Reconciled,
}

impl Streams {
    /// The next report, in order.
    pub(crate) fn poll_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    /// When [`Self::handle_timeout`] has work next, if that is known.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.handshakes.call_backs.wake_at()
    }

    /// The network has changed.
    pub(crate) fn handle_change(&mut self, deps: &mut StreamDeps<'_>, change: NetworkChange<'_>) {
        match change {
            NetworkChange::Links => {
                deps.spray.handle_change(&mut deps.cx, SprayChange::Links(deps.fabric));
                self.drain_spray(deps);
            }
            NetworkChange::Settled => self.place_again(deps, Replaces::Nothing),
            NetworkChange::LinkUp => self.may_spread = true,
            NetworkChange::Restored => self.may_spread = false,
            NetworkChange::AddressMoved(address) => self.release_address(deps, address),
            NetworkChange::Withdrawn(paths) => self.release(deps, paths),
            NetworkChange::Degraded => self.leave_degraded(deps),
            NetworkChange::Bypassed(paths) => self.migrate_off(deps, paths),
            NetworkChange::Replaced => self.unconfirmed = deps.transfers.streams().map(|it| it.id).collect(),
            NetworkChange::Reconciled => self.end_unconfirmed(deps),
        }
    }

    /// Does what is due. Called once a tick and at [`Self::wake_at`].
    pub(crate) fn handle_timeout(&mut self, deps: &mut StreamDeps<'_>) {
        self.place_again(deps, Replaces::Working);
        self.release_joins(deps);
        self.settle_transfers(deps);
        self.handshakes.call_backs.handle_timeout(deps.cx.now);
        if deps.cx.now.since(self.reviewed_at) >= deps.cx.settings.counters_interval {
            self.reviewed_at = deps.cx.now;
            self.review(deps);
        }
    }

    /// Reads the counters of streams and reviews their paths.
    fn review(&mut self, deps: &mut StreamDeps<'_>) {
        read_counters(deps);
        self.review_spray(deps);
        self.spread_again(deps);
        self.rebalance(deps);
        self.expire_unplaced(deps);
    }

    /// Commits a ready transaction, except rules that are not wanted any more.
    ///
    /// The first rules of a stream that is to move are wanted until later ones are written: hosts and held packets wait for them.
    pub(crate) fn commit(&mut self, deps: &mut StreamDeps<'_>, mut commands: Commands) {
        commands.retain(|command| match command {
            Command::Add { dpid, rule: Rule::Stream { id, reverse, hop, .. } } => {
                let is_first = self.unwritten.get(id).is_some_and(|[forward, back]| match reverse {
                    true => back == hop,
                    false => forward == hop,
                });
                let wanted = deps.rules().hop(*id, *reverse);
                wanted.is_some_and(|(at, to)| at == *dpid && (to == *hop || is_first))
            }
            Command::Add { rule: Rule::Resequence { id, .. }, .. } => deps.spray.stream(*id).is_some(),
            Command::Add { rule: Rule::AdvisedHandshake { tuple, .. }, .. } => {
                is_known(deps.transfers, tuple)
            }
            _ => true,
        });
        self.write(deps, commands);
    }

    /// Submits a transaction that needs every path in `hops` to be confirmed.
    pub(crate) fn submit(
        &mut self,
        deps: &mut StreamDeps<'_>,
        hops: &[Hop],
        batch: Commands,
        replaces: Replaces,
    ) {
        let transaction = Transaction::new(Owner::Streams, hops, batch).replacing(replaces);
        match deps.fabric.submit(&mut deps.cx, transaction) {
            // Nothing can have changed since it was made.
            Submitted::Ready(commands) => self.write(deps, commands),
            Submitted::Waits => {}
            Submitted::Full(commands) => self.abandon(deps, &commands),
        }
    }

    /// Ends the streams of a transaction that does not fit. Its packets are sent directly to their hosts.
    fn abandon(&mut self, deps: &mut StreamDeps<'_>, commands: &Commands) {
        for command in commands {
            if let Command::Add { rule: Rule::Stream { id, .. }, .. } = command {
                self.end(deps, *id);
            }
        }
        commands.held().for_each(|HeldPacket { frame, .. }| deps.cx.send_to_host(frame));
    }

    fn write(&mut self, deps: &mut StreamDeps<'_>, commands: Commands) {
        for command in &commands {
            if let Command::Add { rule: Rule::Stream { id, .. }, .. } = command {
                self.unwritten.remove(id);
            }
        }
        deps.cx.out.commit(commands);
    }
}
