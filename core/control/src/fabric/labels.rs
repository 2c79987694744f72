//! The table of labels in use.

use std::collections::{BTreeMap, BTreeSet};

use braid_paths::Path;
use braid_topology::Topology;
use braid_types::{DatapathId, Index, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::groups::{LabelGroups, middle};
use super::is_whole;
use super::leases::LeaseCounts;
use super::retirement::LabelState;
use crate::barrier::{Barrier, BarrierTokens};
use crate::label::Label;
use crate::pipeline::{Exit, Hop};

/// The labels in use, by path and by number.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    by_path: FxHashMap<Path, Label>,
    pub(super) entries: Index<Label, Entry>,
    /// What each new stream asks of its labels, apart from the rest: small enough for the processor's cache.
    pub(super) usage: Index<Label, Usage>,
    /// Labels without leases, at least since the last review.
    pub(super) idle: BTreeSet<Label>,
    /// Unused labels, by the time since when they are.
    unused: BTreeSet<(Time, Label)>,
    pub(super) groups: LabelGroups,
    barriers: BTreeMap<Barrier, Label>,
    /// When labels are removed that no packet enters any more.
    left: BTreeSet<(Time, Label)>,
    last_label: u32,
}

/// The mask of numbers of labels outside groups.
const PLAIN_LABELS: u32 = u32::MAX >> 1;

/// How a label is used. It may be leased without being installed.
#[derive(Debug, Default)]
pub(super) struct Usage {
    pub(super) leases: LeaseCounts,
    /// Whether it is installed, and all switches have confirmed it.
    is_confirmed: bool,
}

#[derive(Debug)]
pub(super) struct Entry {
    path: Path,
    /// The unanswered barriers of its rules.
    unconfirmed: SmallVec<[Barrier; 4]>,
    /// The barrier after which no packet enters.
    leaving: Option<Barrier>,
    installed_at: Time,
    confirmed_at: Time,
    pub(super) life: LabelState,
}

/// The meaning of an answered barrier.
pub(super) enum Confirmed {
    /// A label is ready for use.
    Ready(Label),
    /// No packet enters a label any more.
    Leaving(Label),
}

impl Labels {
    /// The number of labels in use.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The label of `path`, if it is in use, confirmed or not.
    pub(super) fn of(&self, path: &Path) -> Option<Label> {
        self.by_path.get(path).copied()
    }

    /// The path of a label that is in use.
    pub(crate) fn path(&self, label: Label) -> Option<&Path> {
        self.entries.get(&label).map(|entry| &entry.path)
    }

    /// Makes new labels use numbers above `label`, by `gap` if it is the highest so far.
    pub(super) fn skip(&mut self, label: Label, gap: u32) {
        if label.group().is_some() {
            self.groups.skip(label);
        } else if label.0 > self.last_label {
            self.last_label = label.0.wrapping_add(gap);
        }
    }

    /// The labels that use this hop: the hop's own, or members of its group.
    #[expect(clippy::disallowed_methods, reason = "collected into a sorted set")]
    pub(super) fn by(&self, hop: &Hop) -> BTreeSet<Label> {
        if !hop.label.is_group() {
            return BTreeSet::from([hop.label]);
        }
        let comes_in = |path: &Path| match hop.exit {
            Exit::Protected { from } if from.0 != 0 => {
                middle(path).is_some_and(|(before, _)| before.dst.port == from)
            }
            _ => true,
        };
        let members = self.entries.iter().filter(|(label, _)| label.group() == Some(hop.label));
        members.filter(|(_, entry)| comes_in(&entry.path)).map(|(label, _)| *label).collect()
    }

    /// Reconciles a label whose rules are all installed. Returns `false` if the path or the label is in use
    /// already.
    pub(super) fn restore(&mut self, now: Time, label: Label, path: &Path) -> bool {
        let is_known = self.by_path.contains_key(path) || self.entries.contains_key(&label);
        if is_known || !self.groups.fits(label, path) {
            return false;
        }
        self.by_path.insert(path.clone(), label);
        let unconfirmed = SmallVec::new();
        self.insert(now, label, path, unconfirmed);
        true
    }

    /// Whether all switches have confirmed the label.
    pub(super) fn is_confirmed(&self, label: Label) -> bool {
        self.usage.get(&label).is_some_and(|usage| usage.is_confirmed)
    }

    /// When all switches had confirmed the label; `None` if one has not.
    pub(super) fn confirmed_at(&self, label: Label) -> Option<Time> {
        let entry = self.entries.get(&label).filter(|entry| entry.unconfirmed.is_empty())?;
        Some(entry.confirmed_at)
    }

    pub(super) fn register(&mut self, now: Time, path: &Path, tokens: &mut BarrierTokens) -> Label {
        let label = self.groups.next(path).unwrap_or_else(|| self.next_label());
        self.by_path.insert(path.clone(), label);
        let unconfirmed: SmallVec<[Barrier; 4]> = path.switches().map(|dpid| tokens.draw(dpid)).collect();
        self.barriers.extend(unconfirmed.iter().map(|barrier| (*barrier, label)));
        self.insert(now, label, path, unconfirmed);
        label
    }

    fn insert(&mut self, now: Time, label: Label, path: &Path, unconfirmed: SmallVec<[Barrier; 4]>) {
        self.groups.enter(label, path);
        self.usage.entry(label).or_default().is_confirmed = unconfirmed.is_empty();
        let (path, life) = (path.clone(), LabelState::Used);
        let (installed_at, confirmed_at) = (now, now);
        let entry = Entry { path, unconfirmed, leaving: None, installed_at, confirmed_at, life };
        self.entries.insert(label, entry);
        self.idle.insert(label);
    }

    /// A number that no label in use has. There are far more numbers than labels.
    pub(super) fn next_label(&mut self) -> Label {
        loop {
            self.last_label = self.last_label.wrapping_add(1) & PLAIN_LABELS;
            if !self.entries.contains_key(&Label(self.last_label)) {
                return Label(self.last_label);
            }
        }
    }

    pub(super) fn confirm(&mut self, now: Time, answered: Barrier) -> Option<Confirmed> {
        let label = self.barriers.remove(&answered)?;
        let entry = self.entries.get_mut(&label)?;
        if entry.life == LabelState::Leaving {
            return Some(Confirmed::Leaving(label));
        }
        entry.unconfirmed.retain(|barrier| *barrier != answered);
        entry.confirmed_at = now;
        if !entry.unconfirmed.is_empty() {
            return None;
        }
        self.usage.get_mut(&label)?.is_confirmed = true;
        Some(Confirmed::Ready(label))
    }

    /// When a label is removed next, if that is known.
    pub(super) fn wake_at(&self) -> Option<Time> {
        self.left.first().map(|(at, _)| *at)
    }

    /// Forgets a label; returns its path.
    pub(super) fn remove(&mut self, label: Label) -> Option<Path> {
        self.close(label);
        let entry = self.entries.remove(&label)?;
        self.groups.leave(label, &entry.path);
        match self.usage.get_mut(&label) {
            Some(usage) if usage.leases.is_leased() => usage.is_confirmed = false,
            _ => _ = self.usage.remove(&label),
        }
        self.idle.remove(&label);
        self.forget_life(label, entry.life);
        Some(entry.path)
    }

    /// The labels that no packet enters and no packet in flight can carry.
    pub(super) fn drained(&self, now: Time) -> Vec<Label> {
        self.left.iter().take_while(|(at, _)| *at <= now).map(|(_, label)| *label).collect()
    }

    /// Makes a label unavailable to new users.
    pub(super) fn close(&mut self, label: Label) {
        let Some(entry) = self.entries.get_mut(&label) else { return };
        for barrier in entry.unconfirmed.iter().chain(&entry.leaving.take()) {
            self.barriers.remove(barrier);
        }
        if self.by_path.get(&entry.path) == Some(&label) {
            self.by_path.remove(&entry.path);
        }
    }

    /// Registers a barrier after which no packet enters the label; returns its token.
    pub(super) fn ask(&mut self, barrier: Barrier, label: Label) {
        if let Some(entry) = self.entries.get_mut(&label) {
            entry.leaving = Some(barrier);
            self.barriers.insert(barrier, label);
        }
    }

    pub(super) fn set_life(&mut self, label: Label, life: LabelState) {
        let Some(entry) = self.entries.get_mut(&label) else { return };
        let before = std::mem::replace(&mut entry.life, life);
        self.forget_life(label, before);
        match life {
            LabelState::Left(at) => _ = self.left.insert((at, label)),
            LabelState::Unused(since) => _ = self.unused.insert((since, label)),
            LabelState::Used | LabelState::Leaving => {}
        }
    }

    fn forget_life(&mut self, label: Label, life: LabelState) {
        match life {
            LabelState::Left(at) => _ = self.left.remove(&(at, label)),
            LabelState::Unused(since) => _ = self.unused.remove(&(since, label)),
            LabelState::Used | LabelState::Leaving => {}
        }
    }

    /// The labels that nothing uses, each with the time since when, longest first.
    pub(super) fn unused(&self) -> Vec<(Time, Label)> {
        self.unused.iter().copied().collect()
    }

    /// Takes the labels that nothing leases and that were not known to be unused.
    pub(super) fn take_idle(&mut self) -> BTreeSet<Label> {
        let is_used = |label: &Label| self.entries.get(label).is_some_and(|it| it.life == LabelState::Used);
        let is_leased = |label: &Label| self.usage.get(label).is_some_and(|usage| usage.leases.is_leased());
        let is_idle = |label: &Label| !is_leased(label) && is_used(label);
        std::mem::take(&mut self.idle).into_iter().filter(is_idle).collect()
    }

    /// The labels that wait for this ingress to confirm that no packet enters them, in order.
    pub(super) fn leaving(&self, ingress: DatapathId) -> BTreeSet<Label> {
        let is_leaving =
            |label: &&Label| self.entries.get(label).is_some_and(|entry| entry.life == LabelState::Leaving);
        // Nothing but the last confirmation of their ingress is awaited for them.
        let awaited = self.barriers.range(Barrier::all_of(ingress)).map(|(_, label)| label);
        awaited.filter(is_leaving).copied().collect()
    }

    /// The unanswered barriers of a label.
    pub(super) fn unconfirmed(&self, label: Label) -> &[Barrier] {
        self.entries.get(&label).map(|entry| &entry.unconfirmed[..]).unwrap_or_default()
    }

    /// The paths of `labels` that are in use.
    pub(super) fn paths(&self, labels: &BTreeSet<Label>) -> BTreeSet<Path> {
        labels.iter().filter_map(|label| self.path(*label).cloned()).collect()
    }

    /// The unconfirmed labels whose rules were written before `time`.
    pub(super) fn late(&self, time: Time) -> BTreeSet<Label> {
        let late = |label: &&Label| {
            let entry = self.entries.get(label);
            entry.is_some_and(|entry| !entry.unconfirmed.is_empty() && entry.installed_at < time)
        };
        self.barriers.values().filter(late).copied().collect()
    }

    /// The labels that packets may enter although links of their paths are lost. O(labels).
    pub(super) fn broken(&self, topology: &Topology) -> BTreeSet<Label> {
        self.enterable(|path| !is_whole(topology, path)).into_iter().collect()
    }

    /// The labels that packets may enter and whose paths pass `test`, in order.
    #[expect(clippy::disallowed_methods, reason = "sorted at once")]
    pub(super) fn enterable(&self, test: impl Fn(&Path) -> bool) -> Vec<Label> {
        let is_open = |entry: &Entry| matches!(entry.life, LabelState::Used | LabelState::Unused(_));
        let matching = self.entries.iter().filter(|(_, entry)| is_open(entry) && test(&entry.path));
        let mut matching: Vec<_> = matching.map(|(label, _)| *label).collect();
        matching.sort_unstable();
        matching
    }
}
