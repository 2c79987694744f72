//! The fabric: labelled paths in the switches, what waits until they are confirmed, and the bypasses of their links.
//!
//! A path gets a label when it is opened. Its rules are written from the egress switch inwards; it is ready when each of
//! its switches has answered a barrier. Transactions that need it are committed then, all or nothing. Labels that nothing
//! uses leave the switches, once no packet can be under way with them.

mod bypass_path;
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

use crate::command::{Commands, Held};
use crate::context::Context;
use crate::event::SwitchPorts;
use crate::label::Label;
use crate::pipeline::{Hop, Rule};
use bypasses::Bypasses;
use hairpins::Hairpins;
use labels::{Confirmed, Labels};
use leases::Leases;
use pending::Pending;

pub(crate) use transactions::{Hops, Owner, Replaces, Submitted, Transaction};

/// Labels, transactions and bypasses.
#[derive(Debug, Default)]
pub(crate) struct Fabric {
    labels: Labels,
    leases: Leases,
    pending: Pending,
    bypasses: Bypasses,
    hairpins: Hairpins,
    events: VecDeque<FabricEvent>,
}

/// What users of the fabric have to know.
#[derive(Debug)]
pub(crate) enum FabricEvent {
    /// The labels of a transaction are confirmed.
    Ready(Owner, Commands),
    /// The path that a packet waited for failed: it is to find another one.
    Stranded(Held),
    /// Labels go: what takes them is to take others, and then [`Fabric::complete`] removes them.
    Withdrawn(Withdrawal),
    /// Links of some paths are down and bypassed: what takes those is to take others, and may take its time.
    Bypassed(BTreeSet<Path>),
}

/// Labels that go.
#[derive(Debug)]
pub(crate) struct Withdrawal {
    /// The labels.
    pub(crate) labels: BTreeSet<Label>,
    /// Their paths.
    pub(crate) paths: BTreeSet<Path>,
    has_failed: bool,
}

impl Fabric {
    /// What there is to know, in its order; stranded packets come last.
    pub(crate) fn poll_event(&mut self) -> Option<FabricEvent> {
        self.events.pop_front().or_else(|| self.pending.next_stranded().map(FabricEvent::Stranded))
    }

    /// When [`Self::handle_timeout`] has something to do next, if that is known. O(1): it is asked after every event.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.labels.wake_at().into_iter().chain(self.pending.next_due()).min()
    }

    /// The labels in use.
    pub(crate) const fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Where packets enter `path`, if it has a label.
    pub(crate) fn hop(&self, path: &Path) -> Option<Hop> {
        self.entry(self.labels.of(path)?, path)
    }

    /// Whether packets of a path arrive although links of it are down: switches bypass each of those by themselves.
    fn is_bypassed(&self, topology: &Topology, path: &Path) -> bool {
        self.bypasses.cover(topology, path)
    }

    /// Where packets enter `path` under its label, which is written if it is new.
    ///
    /// `None` when the path has no link or there are too many labels. The path need not be confirmed yet: see
    /// [`Self::submit`].
    pub(crate) fn open(&mut self, cx: &mut Context<'_>, path: &Path) -> Option<Hop> {
        let label = match self.labels.of(path) {
            Some(label) => label,
            None => self.install(cx, path)?,
        };
        self.entry(label, path)
    }

    /// A switch joins, with what it has of an earlier controller.
    pub(crate) fn handle_switch_up(&mut self, cx: &mut Context<'_>, switch: &SwitchPorts) {
        if let Some(found) = &switch.found {
            self.load(switch.dpid, &found.rules);
        }
        self.bypasses.handle_switch_up(cx, switch);
    }

    /// A switch has left, and may lose what it has.
    pub(crate) fn handle_switch_down(&mut self, cx: &mut Context<'_>, dpid: DatapathId) {
        self.forget_ingress(cx, dpid);
        self.labels.groups.close_at(dpid);
        self.bypasses.handle_switch_down(cx, dpid);
    }

    /// Links have come or gone: labels whose paths are broken go.
    pub(crate) fn handle_links(&mut self, cx: &mut Context<'_>) {
        self.bypasses.handle_links(cx.now);
        self.leave_broken_labels(cx);
    }

    /// A switch has done everything before a barrier; says whether that was one of the fabric's.
    pub(crate) fn handle_barrier(&mut self, cx: &mut Context<'_>, dpid: DatapathId, token: u32) -> bool {
        match self.labels.confirm(cx.now, dpid, token) {
            Some(Confirmed::Ready(label)) => {
                self.pending.confirm(cx.now, label);
                self.commit_due(cx.now);
                true
            }
            Some(Confirmed::Leaving(label)) => {
                self.has_left(cx, label);
                true
            }
            None => self.bypasses.handle_barrier(cx, dpid, token),
        }
    }

    /// A switch does not take a rule, its table being full perhaps.
    pub(crate) fn handle_refused(&mut self, cx: &mut Context<'_>, dpid: DatapathId, rule: &Rule) {
        match *rule {
            Rule::Transit(hop) => self.give_up(self.labels.by(&hop)),
            Rule::Egress { label } => self.give_up(BTreeSet::from([label])),
            Rule::Hairpin { .. } => self.retry_hairpin(cx, dpid, *rule),
            Rule::Bypass { label, .. } | Rule::BypassEnd { label } => self.bypasses.handle_refused(cx, label),
            _ => {}
        }
    }

    /// Does what is due; called once a tick, and when [`Self::wake_at`] says so.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.commit_due(cx.now);
        self.remove_left_labels(cx);
        self.give_up(self.labels.late(cx.now - cx.settings.install_timeout));
        self.bypasses.handle_timeout(cx, &mut self.labels);
        self.write_hairpins(cx);
    }

    /// A token for a barrier that is none of the fabric's.
    pub(crate) fn next_token(&mut self) -> u32 {
        self.labels.next_token()
    }

    /// Everything that used labels which go has left them.
    pub(crate) fn complete(&mut self, cx: &mut Context<'_>, withdrawal: &Withdrawal) {
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

    /// A switch has not confirmed some labels in time, or has refused them.
    fn give_up(&mut self, labels: BTreeSet<Label>) {
        self.withdraw(labels, true);
    }
}

/// Whether all links of a path are there.
pub(crate) fn is_whole(topology: &Topology, path: &Path) -> bool {
    path.links().iter().all(|link| topology.link_at(link.src) == Some(*link))
}
