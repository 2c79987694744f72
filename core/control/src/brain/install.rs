//! Labelled paths in the switches, and what waits until they are confirmed.

use std::collections::BTreeMap;

use braid_paths::Path;
use braid_types::{DatapathId, SwitchPort, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Brain;
use crate::command::{Command, Commands};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};

/// The labels in use and the batches that wait for them.
///
/// A label's rules are written from the egress switch inwards. It is ready when each of its switches
/// has answered a barrier; batches that need it are let go then, all or nothing.
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
}

#[derive(Debug)]
struct Waiting {
    labels: SmallVec<[Label; 2]>,
    commands: Commands,
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
        self.entries.insert(label, Entry { path: path.clone(), unconfirmed, installed_at: now });
        true
    }

    fn is_ready(&self, label: Label) -> bool {
        self.entries.get(&label).is_some_and(|entry| entry.unconfirmed.is_empty())
    }

    fn register(&mut self, now: Time, path: &Path) -> Label {
        let label = self.next_label();
        self.by_path.insert(path.clone(), label);
        let unconfirmed = path.switches().collect();
        self.entries.insert(label, Entry { path: path.clone(), unconfirmed, installed_at: now });
        label
    }

    /// A number that no label in use has; there are far more numbers than labels.
    fn next_label(&mut self) -> Label {
        loop {
            self.last_label = self.last_label.wrapping_add(1);
            if !self.entries.contains_key(&Label(self.last_label)) {
                return Label(self.last_label);
            }
        }
    }

    fn next_token(&mut self) -> u32 {
        self.last_token = self.last_token.wrapping_add(1);
        self.last_token
    }

    fn confirm(&mut self, dpid: DatapathId, token: u32) -> Option<Label> {
        let label = self.barriers.remove(&(dpid, token))?;
        let entry = self.entries.get_mut(&label)?;
        entry.unconfirmed.retain(|switch| *switch != dpid);
        entry.unconfirmed.is_empty().then_some(label)
    }

    /// Takes out the batches that waited for nothing but `label`.
    fn release(&mut self, label: Label) -> Vec<Commands> {
        let mut free = Vec::new();
        self.waiting.retain(|_, waiting| {
            waiting.labels.retain(|needed| *needed != label);
            if waiting.labels.is_empty() {
                free.push(std::mem::take(&mut waiting.commands));
            }
            !waiting.labels.is_empty()
        });
        free
    }

    fn remove(&mut self, label: Label) -> Option<Entry> {
        let entry = self.entries.remove(&label)?;
        self.by_path.remove(&entry.path);
        self.waiting.retain(|_, waiting| !waiting.labels.contains(&label));
        self.barriers.retain(|_, waiting| *waiting != label);
        Some(entry)
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
        let port = path.links().first()?.src.port;
        if let Some(label) = self.labels.of(path) {
            return Some(Hop { label, port });
        }
        if self.labels.len() >= self.settings.max_labels {
            out.notice(Notice::Full { what: "labels" });
            return None;
        }
        let label = self.labels.register(now, path);
        self.write_label(label, path, out);
        Some(Hop { label, port })
    }

    /// Lets `batch` go once every path in `hops` is confirmed, which may be at once.
    pub(super) fn when_ready(&mut self, hops: &[Hop], batch: Commands, out: &mut Commands) {
        let labels = hops.iter().map(|hop| hop.label).filter(|label| !self.labels.is_ready(*label));
        let labels: SmallVec<[Label; 2]> = labels.collect();
        if labels.is_empty() {
            out.append(batch);
        } else if self.labels.waiting.len() >= self.settings.max_waiting {
            self.abandon(&batch, out);
            out.notice(Notice::Full { what: "batches waiting for paths" });
        } else {
            self.labels.last_waiting += 1;
            self.labels.waiting.insert(self.labels.last_waiting, Waiting { labels, commands: batch });
        }
    }

    /// The batch is dropped: what it would have installed is not there.
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
    }

    /// A switch has done everything before a barrier.
    pub(super) fn on_barrier(&mut self, dpid: DatapathId, token: u32, out: &mut Commands) {
        if let Some(label) = self.labels.confirm(dpid, token) {
            for mut batch in self.labels.release(label) {
                batch.retain(|command| self.is_current(command));
                out.append(batch);
            }
        }
    }

    /// Whether a command that waited is still wanted: its stream or route may have gone or moved.
    fn is_current(&self, command: &Command) -> bool {
        match command {
            Command::Add { dpid, rule: Rule::Stream { id, reverse, hop, .. } } => {
                self.stream_hop(*id, *reverse) == Some((*dpid, *hop))
            }
            Command::Add { dpid, rule: rule @ Rule::Route { dst, .. } } => {
                self.routes.get(*dst, *dpid) == Some(rule)
            }
            _ => true,
        }
    }

    /// Takes back the paths that were not confirmed in time.
    pub(super) fn expire_installs(&mut self, now: Time, out: &mut Commands) {
        let timeout = self.settings.install_timeout;
        let late = |entry: &Entry| !entry.unconfirmed.is_empty() && now.since(entry.installed_at) > timeout;
        for label in self.labels.matching(late) {
            self.give_up(now, label, out);
        }
        self.place_again(now, out);
    }

    /// Takes a path back that a switch has not confirmed, or has refused, and chooses others for some time.
    pub(super) fn give_up(&mut self, now: Time, label: Label, out: &mut Commands) {
        if let Some(entry) = self.remove_label(label, out) {
            self.paths.bar(entry.path.clone(), now + self.settings.bar);
            out.notice(Notice::InstallFailed { path: entry.path.switches().collect() });
        }
    }

    /// Removes the labels whose paths use a link that is no more.
    pub(super) fn remove_broken_labels(&mut self, out: &mut Commands) {
        let topology = &self.topology;
        let broken = |entry: &Entry| {
            entry
                .path
                .links()
                .iter()
                .any(|link| topology.link_at(link.src).is_none_or(|now| now.dst != link.dst))
        };
        for label in self.labels.matching(broken) {
            self.remove_label(label, out);
        }
    }

    /// The rules of a label, from the egress inwards.
    pub(super) fn label_rules<'a>(
        &self,
        label: Label,
        path: &'a Path,
    ) -> impl Iterator<Item = (DatapathId, Rule)> + use<'a> {
        let hop = move |at: SwitchPort| (at.dpid, Rule::Transit(Hop { label, port: at.port }));
        let inner = path.links().iter().skip(1).rev().map(move |link| hop(link.src));
        std::iter::once((path.egress(), Rule::Egress { label })).chain(inner)
    }

    fn write_label(&mut self, label: Label, path: &Path, out: &mut Commands) {
        self.label_rules(label, path).for_each(|(dpid, rule)| out.add(dpid, rule));
        for dpid in path.switches() {
            let token = self.labels.next_token();
            self.labels.barriers.insert((dpid, token), label);
            out.push(Command::Barrier { dpid, token });
        }
    }

    fn remove_label(&mut self, label: Label, out: &mut Commands) -> Option<Entry> {
        let entry = self.labels.remove(label)?;
        self.release_streams(&entry.path, out);
        self.release_routes(label, out);
        self.delete(entry.path.egress(), Rule::Egress { label }, out);
        for link in entry.path.links().iter().skip(1) {
            self.delete(link.src.dpid, Rule::Transit(Hop { label, port: link.src.port }), out);
        }
        Some(entry)
    }

    /// Deletes a rule at a switch that may have left.
    pub(super) fn delete(&self, dpid: DatapathId, rule: Rule, out: &mut Commands) {
        if self.topology.switch(dpid).is_some() {
            out.delete(dpid, rule);
        }
    }
}
