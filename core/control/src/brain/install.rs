//! Labelled paths in the switches, and what waits until they are confirmed.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Brain;
use super::batches::Replaces;
use super::retire::Life;
use crate::command::{Command, Commands};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Exit, Hop, Rule};

/// The labels in use and the batches that wait for them.
///
/// A label's rules are written from the egress switch inwards. It is ready when each of its switches
/// has answered a barrier; batches that need it are let go then, all or nothing. Those that change what works
/// wait some more: a switch may confirm a rule before it applies to packets.
#[derive(Debug, Default)]
pub(super) struct Labels {
    by_path: FxHashMap<Path, Label>,
    entries: BTreeMap<Label, Entry>,
    waiting: BTreeMap<u64, Waiting>,
    barriers: BTreeMap<(DatapathId, u32), Label>,
    last_label: u32,
    last_token: u32,
    last_waiting: u64,
}

#[derive(Debug)]
struct Entry {
    path: Path,
    unconfirmed: SmallVec<[DatapathId; 4]>,
    installed_at: Time,
    confirmed_at: Time,
    life: Life,
}

#[derive(Debug)]
struct Waiting {
    labels: SmallVec<[Label; 2]>,
    grace: Duration,
    /// When it is let go, once its labels are confirmed.
    due: Option<Time>,
    commands: Commands,
}

/// What a barrier was for.
pub(super) enum Confirmed {
    /// A label is ready.
    Ready(Label),
    /// No packet enters a label any more.
    Leaving(Label),
}

impl Labels {
    /// The number of labels in use.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The label of `path`, if it is in use, confirmed or not.
    pub(super) fn of(&self, path: &Path) -> Option<Label> {
        self.by_path.get(path).copied()
    }

    /// The path of a label that is in use.
    pub(super) fn path(&self, label: Label) -> Option<&Path> {
        self.entries.get(&label).map(|entry| &entry.path)
    }

    /// New labels get higher numbers than `label`, by `gap` if it is above all so far.
    pub(super) fn skip(&mut self, label: Label, gap: u32) {
        if label.0 > self.last_label {
            self.last_label = label.0.wrapping_add(gap);
        }
    }

    /// Goes on with the label of a path whose rules were found in full; says whether there was none for that path.
    pub(super) fn adopt(&mut self, now: Time, label: Label, path: &Path) -> bool {
        if self.by_path.contains_key(path) || self.entries.contains_key(&label) {
            return false;
        }
        self.by_path.insert(path.clone(), label);
        let unconfirmed = SmallVec::new();
        self.insert(now, label, path, unconfirmed);
        true
    }

    /// When the label is safe to use; `None` while it is not confirmed.
    pub(super) fn confirmed_at(&self, label: Label) -> Option<Time> {
        let entry = self.entries.get(&label).filter(|entry| entry.unconfirmed.is_empty())?;
        Some(entry.confirmed_at)
    }

    fn register(&mut self, now: Time, path: &Path) -> Label {
        let label = self.next_label();
        self.by_path.insert(path.clone(), label);
        let unconfirmed = path.switches().collect();
        self.insert(now, label, path, unconfirmed);
        label
    }

    fn insert(&mut self, now: Time, label: Label, path: &Path, unconfirmed: SmallVec<[DatapathId; 4]>) {
        let (path, life) = (path.clone(), Life::Used);
        self.entries.insert(label, Entry { path, unconfirmed, installed_at: now, confirmed_at: now, life });
    }

    /// A number that no label in use has; there are far more numbers than labels.
    pub(super) fn next_label(&mut self) -> Label {
        loop {
            self.last_label = self.last_label.wrapping_add(1);
            if !self.entries.contains_key(&Label(self.last_label)) {
                return Label(self.last_label);
            }
        }
    }

    pub(super) fn next_token(&mut self) -> u32 {
        self.last_token = self.last_token.wrapping_add(1);
        self.last_token
    }

    pub(super) fn confirm(&mut self, now: Time, dpid: DatapathId, token: u32) -> Option<Confirmed> {
        let label = self.barriers.remove(&(dpid, token))?;
        let entry = self.entries.get_mut(&label)?;
        if entry.life == Life::Leaving {
            return Some(Confirmed::Leaving(label));
        }
        entry.unconfirmed.retain(|switch| *switch != dpid);
        entry.confirmed_at = now;
        entry.unconfirmed.is_empty().then_some(Confirmed::Ready(label))
    }

    /// The label is confirmed: what waited for nothing else is due, at once or after its grace time.
    pub(super) fn release(&mut self, now: Time, label: Label) {
        for waiting in self.waiting.values_mut().filter(|waiting| waiting.due.is_none()) {
            waiting.labels.retain(|needed| *needed != label);
            if waiting.labels.is_empty() {
                waiting.due = Some(now + waiting.grace);
            }
        }
    }

    /// Takes out the batches that are due.
    pub(super) fn due(&mut self, now: Time) -> Vec<Commands> {
        let is_due = |waiting: &mut Waiting| waiting.due.is_some_and(|at| at <= now);
        let due = self.waiting.extract_if(.., |_, waiting| is_due(waiting));
        due.map(|(_, waiting)| waiting.commands).collect()
    }

    /// When a batch is let go or a label is removed next, if that is known.
    pub(super) fn wake_at(&self) -> Option<Time> {
        let due = self.waiting.values().filter_map(|waiting| waiting.due);
        let left = self.entries.values().filter_map(|entry| match entry.life {
            Life::Left(at) => Some(at),
            _ => None,
        });
        due.chain(left).min()
    }

    /// Forgets a label; returns its path.
    pub(super) fn remove(&mut self, label: Label) -> Option<Path> {
        self.close(label);
        self.entries.remove(&label).map(|entry| entry.path)
    }

    /// The label is given to nobody any more, and what waited for it is dropped.
    pub(super) fn close(&mut self, label: Label) {
        let path = self.entries.get(&label).map(|entry| &entry.path);
        if let Some(path) = path.filter(|path| self.by_path.get(*path) == Some(&label)) {
            self.by_path.remove(path);
        }
        self.waiting.retain(|_, waiting| !waiting.labels.contains(&label));
        self.barriers.retain(|_, waiting| *waiting != label);
    }

    /// The token of a barrier after which no packet enters the label.
    pub(super) fn ask(&mut self, ingress: DatapathId, label: Label) -> u32 {
        let token = self.next_token();
        self.barriers.insert((ingress, token), label);
        token
    }

    pub(super) fn set_life(&mut self, label: Label, life: Life) {
        if let Some(entry) = self.entries.get_mut(&label) {
            entry.life = life;
        }
    }

    /// The labels, and how far each is from being removed.
    pub(super) fn lives(&self) -> Vec<(Label, Life)> {
        self.entries.iter().map(|(label, entry)| (*label, entry.life)).collect()
    }

    /// The number of batches that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Keeps a batch for `grace` after `labels` are confirmed, or until `due` if they are.
    pub(super) fn wait(
        &mut self,
        labels: SmallVec<[Label; 2]>,
        grace: Duration,
        due: Option<Time>,
        commands: Commands,
    ) {
        self.last_waiting += 1;
        self.waiting.insert(self.last_waiting, Waiting { labels, grace, due, commands });
    }

    /// The labels that batches wait for.
    pub(super) fn awaited(&self) -> impl Iterator<Item = Label> {
        self.waiting.values().flat_map(|waiting| waiting.labels.iter().copied())
    }

    fn matching(&self, test: impl Fn(&Entry) -> bool) -> Vec<Label> {
        self.entries.iter().filter(|(_, entry)| test(entry)).map(|(label, _)| *label).collect()
    }
}

impl Brain {
    /// The first hop of `path` under its label, which is installed if it is new.
    ///
    /// `None` when the path has no link or there are too many labels. The path need not be confirmed
    /// yet: see [`Brain::when_ready`].
    pub(super) fn first_hop(&mut self, now: Time, path: &Path, out: &mut Commands) -> Option<Hop> {
        if let Some(label) = self.labels.of(path) {
            return self.entry(label, path);
        }
        if self.labels.len() >= self.settings.max_labels {
            out.notice(Notice::Full { what: "labels" });
            return None;
        }
        let label = self.labels.register(now, path);
        self.write_label(label, path, out);
        self.entry(label, path)
    }

    /// Where packets of hosts enter a label's path.
    pub(super) fn entry(&self, label: Label, path: &Path) -> Option<Hop> {
        let at = path.links().first()?.src;
        Some(Hop { label, port: at.port, exit: self.detours.exit(at, PortNo(0)) })
    }

    /// Takes back the paths that were not confirmed in time.
    pub(super) fn expire_installs(&mut self, now: Time, out: &mut Commands) {
        let timeout = self.settings.install_timeout;
        let late = |entry: &Entry| !entry.unconfirmed.is_empty() && now.since(entry.installed_at) > timeout;
        for label in self.labels.matching(late) {
            self.give_up(now, label, out);
        }
        self.place_again(now, Replaces::Working, out);
    }

    /// Takes a path back that a switch has not confirmed, or has refused, and chooses others for some time.
    pub(super) fn give_up(&mut self, now: Time, label: Label, out: &mut Commands) {
        let Some(path) = self.labels.path(label).cloned() else { return };
        self.release_streams(&path, out);
        self.release_routes(label, out);
        self.remove_label(label, out);
        out.notice(Notice::InstallFailed { path: path.switches().collect() });
        self.paths.bar(path, now + self.settings.bar);
    }

    /// Leaves the labels whose paths use a link that is no more.
    pub(super) fn leave_broken_labels(&mut self, now: Time, out: &mut Commands) {
        let topology = &self.topology;
        let is_gone = |link: &Link| topology.link_at(link.src).is_none_or(|now| now.dst != link.dst);
        let is_open = |entry: &Entry| matches!(entry.life, Life::Used | Life::Unused(_));
        let broken = self.labels.matching(|entry| is_open(entry) && entry.path.links().iter().any(is_gone));
        for label in broken {
            match self.labels.path(label).cloned() {
                Some(path) if self.is_gone_round(&path) => self.vacate(now, &path, out),
                _ => self.retire(now, label, out),
            }
        }
    }

    /// Whether all links of a path are there.
    pub(super) fn is_whole(&self, path: &Path) -> bool {
        path.links().iter().all(|link| self.topology.link_at(link.src) == Some(*link))
    }

    /// The rules of a label, from the egress inwards.
    pub(super) fn label_rules<'a>(
        &'a self,
        label: Label,
        path: &'a Path,
    ) -> impl Iterator<Item = (DatapathId, Rule)> + use<'a> {
        let pairs = path.links().iter().zip(path.links().iter().skip(1)).rev();
        let inner = pairs.flat_map(move |(from, to)| self.transit_rules(label, from, to));
        std::iter::once((path.egress(), Rule::Egress { label })).chain(inner)
    }

    /// The rules of a label at the switch between two links of its path.
    fn transit_rules(
        &self,
        label: Label,
        from: &Link,
        to: &Link,
    ) -> impl Iterator<Item = (DatapathId, Rule)> + use<> {
        let SwitchPort { dpid, port } = to.src;
        let exit = self.detours.exit(to.src, from.dst.port);
        // Round the link before, packets may come from the switch behind.
        let may_return = self.detours.exit(from.src, PortNo(0)) != Exit::Plain;
        let back = may_return.then_some((dpid, Rule::Return { label, port }));
        back.into_iter().chain([(dpid, Rule::Transit(Hop { label, port, exit }))])
    }

    fn write_label(&mut self, label: Label, path: &Path, out: &mut Commands) {
        self.label_rules(label, path).for_each(|(dpid, rule)| out.add(dpid, rule));
        for dpid in path.switches() {
            let token = self.labels.next_token();
            self.labels.barriers.insert((dpid, token), label);
            out.push(Command::Barrier { dpid, token });
        }
    }

    /// Deletes a rule at a switch that may have left.
    pub(super) fn delete(&self, dpid: DatapathId, rule: Rule, out: &mut Commands) {
        if self.topology.switch(dpid).is_some() {
            out.delete(dpid, rule);
        }
    }
}
