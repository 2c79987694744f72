//! The fabric: labelled paths in the switches, transactions that wait for them, and bypasses of their links.
//!
//! A path gets a label when it is opened. Its rules are written from the egress switch inwards. The label is
//! ready once every switch on the path has answered a barrier. Transactions that need it are then committed,
//! all or nothing. Unused labels are removed once no packet in flight can carry them.

mod bypasses;
mod groups;
mod hairpins;
mod labels;
mod leases;
mod pending;
mod reconcile;
mod retirement;
mod rules;
mod transactions;

use std::collections::{BTreeSet, VecDeque};

use braid_paths::Path;
use braid_topology::Topology;
use braid_types::{DatapathId, Time};

use crate::barrier::Barrier;
use crate::command::{Commands, HeldPacket};
use crate::context::Context;
use crate::event::SwitchPorts;
use crate::label::Label;
use crate::pipeline::{Hop, Rule};
use bypasses::Bypasses;
use hairpins::Hairpins;
use labels::{Confirmed, Labels};
use leases::ReservedPaths;
use pending::Pending;

pub(crate) use leases::{LabelOwner, LeaseChange, LeasedLabels};
pub(crate) use transactions::{Hops, Owner, Replaces, Submitted, Transaction};

/// Labels, transactions and bypasses.
///
/// What it shows beside the methods here: `submit` in `transactions`, `handle_lease` in `leases`, `reconcile` in the file of that
/// name. Its labels and bypasses can be read by themselves.
#[derive(Debug, Default)]
pub(crate) struct Fabric {
    labels: Labels,
    reserved: ReservedPaths,
    pending: Pending,
    bypasses: Bypasses,
    hairpins: Hairpins,
    events: VecDeque<FabricEvent>,
}

/// A report to the machines above.
#[derive(Debug)]
pub(crate) enum FabricEvent {
    /// The labels of a transaction are confirmed.
    Ready(Owner, Commands),
    /// The path of a held packet failed: the packet needs another one.
    Stranded(HeldPacket),
    /// Labels are withdrawn. Their users must take others; then [`FabricChange::Vacated`] removes the labels.
    Withdrawn(Withdrawal),
    /// Links of these paths are down and bypassed. Their users should take other paths, without hurry.
    Bypassed { labels: BTreeSet<Label>, paths: BTreeSet<Path> },
}

/// A change of the network that concerns labels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FabricChange<'a> {
    /// A switch joins, perhaps with rules of an earlier controller.
    SwitchUp(&'a SwitchPorts),
    /// A switch has left and may lose its rules.
    SwitchDown(DatapathId),
    /// Links were added, removed, degraded or taken back: labels with broken paths are withdrawn.
    Links,
    /// All links of an earlier controller's network are heard: its bypasses are kept if they match.
    Settled,
    /// The installed rules that remain unknown are about to be removed.
    Reconciled,
    /// Withdrawn labels have no users any more.
    Vacated(&'a Withdrawal),
    /// Some time has passed: labels that nothing uses are withdrawn.
    Reviewed,
    /// Another controller has all switches: what was to be removed from them later is its own.
    Replaced,
}

/// A switch's answer to a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RuleAnswer<'a> {
    /// It has processed every message before this barrier.
    Barrier(Barrier),
    /// It has refused this rule, perhaps because its table is full.
    Refused { dpid: DatapathId, rule: &'a Rule },
}

/// Labels that are withdrawn.
#[derive(Debug)]
pub(crate) struct Withdrawal {
    /// The labels.
    pub(crate) labels: BTreeSet<Label>,
    /// Their paths.
    pub(crate) paths: BTreeSet<Path>,
    has_failed: bool,
}

impl Fabric {
    /// The next report, in order; stranded packets come last.
    pub(crate) fn poll_event(&mut self) -> Option<FabricEvent> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        self.pending.next_stranded().map(FabricEvent::Stranded)
    }

    /// When [`Self::handle_timeout`] has work next, if that is known. O(1), since it is read after every
    /// event.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.labels.wake_at().into_iter().chain(self.pending.next_due()).min()
    }

    /// The labels in use.
    pub(crate) const fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The bypasses of links.
    pub(crate) const fn bypasses(&self) -> &Bypasses {
        &self.bypasses
    }

    /// The first hop of `path`, if it has a label.
    pub(crate) fn hop(&self, path: &Path) -> Option<Hop> {
        self.entry(self.labels.of(path)?, path)
    }

    /// The first hop of `path`. A path without a label gets one, and its rules are written.
    ///
    /// `None` if the path has no link or there are too many labels. The path may still be unconfirmed: see
    /// [`Self::submit`].
    pub(crate) fn open(&mut self, cx: &mut Context<'_>, path: &Path) -> Option<Hop> {
        let label = match self.labels.of(path) {
            Some(label) => label,
            None => self.install(cx, path)?,
        };
        self.entry(label, path)
    }

    /// The network has changed.
    pub(crate) fn handle_change(&mut self, cx: &mut Context<'_>, change: FabricChange<'_>) {
        match change {
            FabricChange::SwitchUp(switch) => self.handle_switch_up(cx, switch),
            FabricChange::SwitchDown(dpid) => self.handle_switch_down(cx, dpid),
            FabricChange::Links => self.handle_links(cx),
            FabricChange::Settled => self.bypasses.reconcile(cx),
            FabricChange::Reconciled => self.labels.groups.end_reconciliation(),
            FabricChange::Vacated(withdrawal) => self.complete(cx, withdrawal),
            FabricChange::Reviewed => self.review(cx),
            FabricChange::Replaced => self.forget_left(cx),
        }
    }

    /// A switch joins, perhaps with rules of an earlier controller.
    fn handle_switch_up(&mut self, cx: &mut Context<'_>, switch: &SwitchPorts) {
        if let Some(found) = &switch.installed {
            self.load(switch.dpid, &found.rules);
        }
        self.bypasses.handle_switch_up(cx, switch);
    }

    /// A switch has left and may lose its rules.
    fn handle_switch_down(&mut self, cx: &mut Context<'_>, dpid: DatapathId) {
        self.forget_ingress(cx, dpid);
        self.labels.groups.close_at(dpid);
        self.bypasses.handle_switch_down(cx, dpid);
    }

    /// Links were added or removed: labels with broken paths are withdrawn.
    fn handle_links(&mut self, cx: &mut Context<'_>) {
        self.bypasses.handle_links(cx.now);
        self.leave_broken_labels(cx);
    }

    /// A switch has answered a message. Returns whether the message was the fabric's.
    pub(crate) fn handle_answer(&mut self, cx: &mut Context<'_>, answer: RuleAnswer<'_>) -> bool {
        match answer {
            RuleAnswer::Barrier(barrier) => self.handle_barrier(cx, barrier),
            RuleAnswer::Refused { dpid, rule } => self.handle_refused(cx, dpid, rule),
        }
    }

    /// A switch has processed every message before a barrier. Returns whether the barrier was the fabric's.
    fn handle_barrier(&mut self, cx: &mut Context<'_>, barrier: Barrier) -> bool {
        match self.labels.confirm(cx.now, barrier) {
            Some(Confirmed::Ready(label)) => {
                self.pending.confirm(cx.now, label);
                self.commit_due(cx.now);
                true
            }
            Some(Confirmed::Leaving(label)) => {
                self.has_left(cx, label);
                true
            }
            None => self.bypasses.handle_barrier(cx, barrier),
        }
    }

    /// A switch has refused a rule, perhaps because its table is full.
    fn handle_refused(&mut self, cx: &mut Context<'_>, dpid: DatapathId, rule: &Rule) -> bool {
        match *rule {
            Rule::Transit(hop) => self.give_up(self.labels.by(&hop)),
            Rule::Egress { label } => self.give_up(BTreeSet::from([label])),
            Rule::Hairpin { .. } => self.retry_hairpin(cx, dpid, *rule),
            Rule::Bypass { label, .. } | Rule::BypassEnd { label } => self.bypasses.handle_refused(cx, label),
            _ => return false,
        }
        true
    }

    /// Does what is due. Called once a tick and at [`Self::wake_at`].
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.commit_due(cx.now);
        self.remove_left_labels(cx);
        self.give_up(self.labels.late(cx.stalls.before(cx.now, cx.settings.install_timeout)));
        self.bypasses.handle_timeout(cx, &mut self.labels);
        self.write_hairpins(cx);
    }

    /// Removes withdrawn labels, which have no users any more.
    fn complete(&mut self, cx: &mut Context<'_>, withdrawal: &Withdrawal) {
        for label in &withdrawal.labels {
            if withdrawal.has_failed { self.fail(cx, *label) } else { self.close(cx, *label) }
        }
    }

    fn withdraw(&mut self, labels: BTreeSet<Label>, has_failed: bool) {
        if !labels.is_empty() {
            let paths = self.labels.paths(&labels);
            self.events.push_back(FabricEvent::Withdrawn(Withdrawal { labels, paths, has_failed }));
        }
    }

    /// Withdraws labels that a switch has refused or not confirmed in time.
    fn give_up(&mut self, labels: BTreeSet<Label>) {
        self.withdraw(labels, true);
    }
}

/// Whether all links of a path exist.
pub(crate) fn is_whole(topology: &Topology, path: &Path) -> bool {
    path.links().iter().all(|link| topology.link_at(link.src) == Some(*link))
}
