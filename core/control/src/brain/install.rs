//! Labelled paths in the switches, and what waits until they are confirmed.

use std::collections::{BTreeMap, BTreeSet};

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, Index, PortNo, SwitchPort, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Brain;
use super::batches::Replaces;
use super::retire::Life;
use super::trunks::{Trunks, middle};
use super::waits::Waits;
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
    entries: Index<Label, Entry>,
    pub(super) waits: Waits,
    pub(super) trunks: Trunks,
    barriers: BTreeMap<Barrier, Label>,
    /// When labels are removed that nothing enters any more.
    left: BTreeSet<(Time, Label)>,
    last_label: u32,
    last_token: u32,
}

/// Numbers of labels that are of no trunk.
const PLAIN_LABELS: u32 = u32::MAX >> 1;

/// A switch, and the token that its answer carries.
type Barrier = (DatapathId, u32);

#[derive(Debug)]
struct Entry {
    path: Path,
    /// Of its rules' barriers those that were not answered yet.
    unconfirmed: SmallVec<[Barrier; 4]>,
    /// The barrier after which nothing enters.
    leaving: Option<Barrier>,
    installed_at: Time,
    confirmed_at: Time,
    life: Life,
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
        if label.trunk().is_some() {
            self.trunks.skip(label);
        } else if label.0 > self.last_label {
            self.last_label = label.0.wrapping_add(gap);
        }
    }

    /// The label that goes by this hop, or those of the trunk that do.
    pub(super) fn by(&self, hop: &Hop) -> BTreeSet<Label> {
        if !hop.label.is_trunk() {
            return BTreeSet::from([hop.label]);
        }
        let comes_in = |path: &Path| match hop.exit {
            Exit::Guarded { from } if from.0 != 0 => {
                middle(path).is_some_and(|(before, _)| before.dst.port == from)
            }
            _ => true,
        };
        let members = self.entries.iter().filter(|(label, _)| label.trunk() == Some(hop.label));
        members.filter(|(_, entry)| comes_in(&entry.path)).map(|(label, _)| *label).collect()
    }

    /// Goes on with the label of a path whose rules were found in full; says whether there was none for that path.
    pub(super) fn adopt(&mut self, now: Time, label: Label, path: &Path) -> bool {
        let is_known = self.by_path.contains_key(path) || self.entries.contains_key(&label);
        if is_known || !self.trunks.fits(label, path) {
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
        let label = self.trunks.next(path).unwrap_or_else(|| self.next_label());
        self.by_path.insert(path.clone(), label);
        let unconfirmed: SmallVec<[Barrier; 4]> =
            path.switches().map(|dpid| (dpid, self.next_token())).collect();
        self.barriers.extend(unconfirmed.iter().map(|barrier| (*barrier, label)));
        self.insert(now, label, path, unconfirmed);
        label
    }

    fn insert(&mut self, now: Time, label: Label, path: &Path, unconfirmed: SmallVec<[Barrier; 4]>) {
        self.trunks.enter(label, path);
        let (path, life) = (path.clone(), Life::Used);
        let entry = Entry { path, unconfirmed, leaving: None, installed_at: now, confirmed_at: now, life };
        self.entries.insert(label, entry);
    }

    /// A number that no label in use has; there are far more numbers than labels.
    pub(super) fn next_label(&mut self) -> Label {
        loop {
            self.last_label = self.last_label.wrapping_add(1) & PLAIN_LABELS;
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
        entry.unconfirmed.retain(|barrier| *barrier != (dpid, token));
        entry.confirmed_at = now;
        entry.unconfirmed.is_empty().then_some(Confirmed::Ready(label))
    }

    /// When a batch is let go or a label is removed next, if that is known. O(1): it is asked after every event.
    pub(super) fn wake_at(&self) -> Option<Time> {
        let left = self.left.first().map(|(at, _)| *at);
        self.waits.next_due().into_iter().chain(left).min()
    }

    /// Forgets a label; returns its path.
    pub(super) fn remove(&mut self, label: Label) -> Option<Path> {
        self.close(label);
        let entry = self.entries.remove(&label)?;
        self.trunks.leave(label, &entry.path);
        if let Life::Left(at) = entry.life {
            self.left.remove(&(at, label));
        }
        Some(entry.path)
    }

    /// The labels that nothing enters and no packet can be under way with.
    pub(super) fn left_by(&self, now: Time) -> Vec<Label> {
        self.left.iter().take_while(|(at, _)| *at <= now).map(|(_, label)| *label).collect()
    }

    /// The label is given to nobody any more, and what waited for it is dropped, but for packets.
    pub(super) fn close(&mut self, label: Label) {
        let Some(entry) = self.entries.get_mut(&label) else { return };
        for barrier in entry.unconfirmed.iter().chain(&entry.leaving.take()) {
            self.barriers.remove(barrier);
        }
        if self.by_path.get(&entry.path) == Some(&label) {
            self.by_path.remove(&entry.path);
        }
        self.waits.drop_those_for(label);
    }

    /// The token of a barrier after which no packet enters the label.
    pub(super) fn ask(&mut self, ingress: DatapathId, label: Label) -> u32 {
        let token = self.next_token();
        if let Some(entry) = self.entries.get_mut(&label) {
            entry.leaving = Some((ingress, token));
            self.barriers.insert((ingress, token), label);
        }
        token
    }

    pub(super) fn set_life(&mut self, label: Label, life: Life) {
        let Some(entry) = self.entries.get_mut(&label) else { return };
        if let Life::Left(at) = std::mem::replace(&mut entry.life, life) {
            self.left.remove(&(at, label));
        }
        if let Life::Left(at) = life {
            self.left.insert((at, label));
        }
    }

    /// The labels, in their order, and how far each is from being removed.
    pub(super) fn lives(&self) -> Vec<(Label, Life)> {
        let mut lives: Vec<_> = self.entries.iter().map(|(label, entry)| (*label, entry.life)).collect();
        lives.sort_unstable_by_key(|(label, _)| *label);
        lives
    }

    fn unconfirmed(&self, label: Label) -> &[Barrier] {
        self.entries.get(&label).map(|entry| &entry.unconfirmed[..]).unwrap_or_default()
    }

    /// The paths of those of `labels` that are in use.
    fn paths(&self, labels: &BTreeSet<Label>) -> BTreeSet<Path> {
        labels.iter().filter_map(|label| self.path(*label).cloned()).collect()
    }

    /// The labels that are not confirmed though their rules were written before `time`.
    fn late(&self, time: Time) -> BTreeSet<Label> {
        let late = |label: &&Label| {
            let entry = self.entries.get(label);
            entry.is_some_and(|entry| !entry.unconfirmed.is_empty() && entry.installed_at < time)
        };
        self.barriers.values().filter(late).copied().collect()
    }

    fn matching(&self, test: impl Fn(&Entry) -> bool) -> Vec<Label> {
        let matching = self.entries.iter().filter(|(_, entry)| test(entry));
        let mut matching: Vec<_> = matching.map(|(label, _)| *label).collect();
        matching.sort_unstable();
        matching
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
        let late = self.labels.late(now - self.settings.install_timeout);
        self.give_up(now, &late, out);
        self.place_again(now, Replaces::Working, out);
    }

    /// Takes paths back that a switch has not confirmed, or has refused, and chooses others for some time.
    pub(super) fn give_up(&mut self, now: Time, labels: &BTreeSet<Label>, out: &mut Commands) {
        self.release_users(labels, out);
        for label in labels {
            let Some(path) = self.labels.path(*label).cloned() else { continue };
            self.remove_label(*label, out);
            out.notice(Notice::InstallFailed { path: path.switches().collect() });
            self.paths.bar(path, now + self.settings.bar);
        }
        self.resume_stranded(now, out);
    }

    /// What takes these labels takes others, or none. O(streams + routes).
    pub(super) fn release_users(&mut self, labels: &BTreeSet<Label>, out: &mut Commands) {
        if !labels.is_empty() {
            self.release_streams(&self.labels.paths(labels), out);
            self.release_routes(labels, out);
        }
    }

    /// Leaves the labels whose paths use a link that is no more.
    pub(super) fn leave_broken_labels(&mut self, now: Time, out: &mut Commands) {
        let topology = &self.topology;
        let is_gone = |link: &Link| topology.link_at(link.src).is_none_or(|now| now.dst != link.dst);
        let is_open = |entry: &Entry| matches!(entry.life, Life::Used | Life::Unused(_));
        let broken = self.labels.matching(|entry| is_open(entry) && entry.path.links().iter().any(is_gone));
        let is_gone_round =
            |label: &Label| self.labels.path(*label).is_some_and(|path| self.is_gone_round(path));
        let (gone_round, useless): (BTreeSet<_>, BTreeSet<_>) = broken.into_iter().partition(is_gone_round);
        self.retire(now, &useless, out);
        self.vacate(now, &self.labels.paths(&gone_round), out);
    }

    /// Whether all links of a path are there.
    pub(super) fn is_whole(&self, path: &Path) -> bool {
        path.links().iter().all(|link| self.topology.link_at(link.src) == Some(*link))
    }

    /// The rules of a label, from the egress inwards. Those in the middle are its trunk's.
    pub(super) fn label_rules<'a>(
        &'a self,
        label: Label,
        path: &'a Path,
    ) -> impl Iterator<Item = (DatapathId, Rule)> + use<'a> {
        let trunk = label.trunk().zip(middle(path).map(|(_, link)| *link));
        let pairs = path.links().iter().zip(path.links().iter().skip(1)).rev();
        let inner = pairs.flat_map(move |(from, to)| match trunk {
            Some((trunk, link)) if link == *to => self.transit_rules(trunk, from, to),
            _ => self.transit_rules(label, from, to),
        });
        std::iter::once((path.egress(), Rule::Egress { label })).chain(inner)
    }

    /// The rules of a label, or of a trunk, at the switch between two links of its path.
    fn transit_rules(&self, label: Label, from: &Link, to: &Link) -> SmallVec<[(DatapathId, Rule); 3]> {
        let SwitchPort { dpid, port } = to.src;
        let mut rules = SmallVec::new();
        // Round the link before, packets may come from the switch behind.
        if self.detours.exit(from.src, PortNo(0)) != Exit::Plain {
            rules.push((dpid, Rule::Return { label, port }));
        }
        let exit = self.detours.exit(to.src, from.dst.port);
        if label.is_trunk() && exit != Exit::Plain {
            // For those that come, on a detour, from anywhere else.
            let exit = self.detours.exit(to.src, PortNo(0));
            rules.push((dpid, Rule::Transit(Hop { label, port, exit })));
        }
        rules.push((dpid, Rule::Transit(Hop { label, port, exit })));
        rules
    }

    /// Writes the rules of a label that is new here, without those that its trunk has already.
    pub(super) fn write_rules(&mut self, label: Label, path: &Path, out: &mut Commands) {
        let rules: SmallVec<[_; 8]> = self.label_rules(label, path).collect();
        for (dpid, rule) in rules {
            if self.labels.trunks.is_first(&rule) {
                out.add(dpid, rule);
            }
        }
    }

    fn write_label(&mut self, label: Label, path: &Path, out: &mut Commands) {
        self.write_rules(label, path, out);
        for (dpid, token) in self.labels.unconfirmed(label) {
            out.push(Command::Barrier { dpid: *dpid, token: *token });
        }
    }

    /// Deletes a rule at a switch that may have left.
    pub(super) fn delete(&self, dpid: DatapathId, rule: Rule, out: &mut Commands) {
        if self.topology.switch(dpid).is_some() {
            out.delete(dpid, rule);
        }
    }
}
