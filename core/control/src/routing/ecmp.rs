//! Groups over equal-cost paths: default paths between two switches with several shortest paths.
//!
//! A group belongs to its ingress and the switch where its paths end, and serves every destination there. So
//! labels and groups grow with pairs of switches, not with hosts. Each path is a label, which is confirmed before the
//! group uses it and has no loop.

use std::collections::{BTreeMap, BTreeSet};

use braid_paths::Path;
use braid_planner::{ecmp_buckets, ecmp_paths, ecmp_rate};
use braid_types::{BitsPerSec, DatapathId, SwitchPair};

use crate::command::Command;
use crate::context::Context;
use crate::event::SwitchPorts;
use crate::fabric::{Fabric, Hops, LabelOwner, LeaseChange, LeasedLabels};
use crate::label::Label;
use crate::pipeline::{EcmpBuckets, EcmpGroup, Hop};

/// A group of a switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct GroupKey {
    pub(crate) dpid: DatapathId,
    pub(crate) group: EcmpGroup,
}

/// The groups of all switches.
#[derive(Debug, Default)]
pub(super) struct EcmpGroups {
    /// The switches that support them.
    capable: BTreeSet<DatapathId>,
    groups: BTreeMap<GroupKey, Group>,
    /// The group of each pair of switches.
    by_ends: BTreeMap<SwitchPair, EcmpGroup>,
    /// Groups of an earlier controller that are not reconciled yet.
    found: BTreeMap<GroupKey, Vec<Hop>>,
    /// The newest number at each switch.
    last: BTreeMap<DatapathId, EcmpGroup>,
    /// Groups to compare with the graph, since one of their paths failed.
    stale: BTreeSet<GroupKey>,
}

#[derive(Debug)]
struct Group {
    egress: DatapathId,
    /// The hop of each bucket.
    wanted: Vec<Hop>,
    /// The installed ones, until the paths of `wanted` are confirmed.
    written: Option<Vec<Hop>>,
}

impl Group {
    /// The labels of its buckets, each once.
    fn labels(&self) -> LeasedLabels {
        let hops = self.wanted.iter().chain(self.written.iter().flatten());
        let labels: BTreeSet<_> = hops.map(|hop| hop.label).collect();
        labels.into_iter().collect()
    }

    /// Changes its buckets, and leases their labels instead of those before.
    fn change<T>(&mut self, fabric: &mut Fabric, change: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.labels();
        let result = change(self);
        lease(fabric, &before, &self.labels());
        result
    }

    fn takes(&self, labels: &BTreeSet<Label>) -> bool {
        self.wanted.iter().chain(self.written.iter().flatten()).any(|hop| labels.contains(&hop.label))
    }
}

impl EcmpGroups {
    /// A switch joins, perhaps with groups of an earlier controller. Edges spray through their select groups.
    pub(super) fn handle_switch_up(&mut self, switch: &SwitchPorts, is_wanted: bool) {
        let dpid = switch.dpid;
        if is_wanted && switch.select_groups > 0 && !switch.is_edge() {
            self.capable.insert(dpid);
        }
        for buckets in switch.installed.iter().flat_map(|found| &found.ecmp_groups) {
            self.found.insert(GroupKey { dpid, group: buckets.group }, buckets.hops.clone());
        }
    }

    /// A switch has left and may lose its groups.
    pub(super) fn handle_switch_down(&mut self, fabric: &mut Fabric, dpid: DatapathId) {
        self.capable.remove(&dpid);
        for (_, group) in self.groups.extract_if(.., |key, _| key.dpid == dpid) {
            lease(fabric, &group.labels(), &[]);
        }
        self.found.retain(|key, _| key.dpid != dpid);
        self.stale.retain(|key| key.dpid != dpid);
        self.by_ends.retain(|ends, _| ends.src != dpid);
        self.last.remove(&dpid);
    }

    /// A switch has refused a group, or a rule that leads to one.
    pub(super) fn refuse(&mut self, dpid: DatapathId) {
        self.capable.remove(&dpid);
        self.by_ends.retain(|ends, _| ends.src != dpid);
    }

    /// The group for packets from one switch to another, which is made if there are several shortest paths.
    pub(super) fn group(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        ends: SwitchPair,
    ) -> Option<EcmpGroup> {
        if let Some(group) = self.by_ends.get(&ends) {
            return Some(*group);
        }
        // Streams need labels more than default paths do.
        let labels = fabric.labels().len().saturating_add(cx.settings.ecmp_paths);
        if !self.capable.contains(&ends.src) || labels > cx.settings.max_labels / 2 {
            return None;
        }
        let paths = equal_paths(cx, ends, &[]);
        let buckets = (paths.len() > 1).then(|| ecmp_buckets(&[], &rates(cx, &paths)))?;
        let wanted = open(cx, fabric, &paths, &buckets)?;
        let group = self.next_number(ends.src);
        self.by_ends.insert(ends, group);
        let opened = Group { egress: ends.dst, wanted, written: None };
        lease(fabric, &[], &opened.labels());
        self.groups.insert(GroupKey { dpid: ends.src, group }, opened);
        Some(group)
    }

    fn next_number(&mut self, dpid: DatapathId) -> EcmpGroup {
        let mut group = EcmpGroup::after(self.last.get(&dpid).copied());
        // There are fewer groups than numbers, as switches are fewer.
        while [GroupKey { dpid, group }]
            .iter()
            .any(|key| self.groups.contains_key(key) || self.found.contains_key(key))
        {
            group = EcmpGroup::after(Some(group));
        }
        self.last.insert(dpid, group);
        group
    }

    /// The paths that must be confirmed, and the command that must be executed, before a rule may lead to a group.
    pub(super) fn before(&self, key: GroupKey) -> Option<(Hops, Command)> {
        let group = self.groups.get(&key).filter(|group| group.written.is_none())?;
        Some((distinct(&group.wanted).into(), command(key, &group.wanted)))
    }

    /// Where the paths of a group end.
    pub(super) fn egress(&self, key: GroupKey) -> Option<DatapathId> {
        Some(self.groups.get(&key)?.egress)
    }

    /// Whether a switch has a group.
    pub(super) fn is_written(&self, key: GroupKey) -> bool {
        self.groups.get(&key).is_some_and(|group| group.written.is_some())
    }

    /// Links of these labels are lost: their groups are compared with the graph.
    pub(super) fn note_broken(&mut self, labels: &BTreeSet<Label>) {
        self.stale.extend(self.groups.iter().filter(|(_, group)| group.takes(labels)).map(|(key, _)| *key));
    }

    /// Whether a group has a path that failed.
    pub(super) fn has_stale(&self) -> bool {
        !self.stale.is_empty()
    }

    /// The groups in use, or only those with a path that failed.
    pub(super) fn keys(&mut self, only_stale: bool) -> Vec<GroupKey> {
        let stale = std::mem::take(&mut self.stale);
        if only_stale {
            let is_in_use = |key: &GroupKey| {
                let ends = self.egress(*key).map(|egress| SwitchPair::new(key.dpid, egress));
                ends.and_then(|ends| self.by_ends.get(&ends)) == Some(&key.group)
            };
            return stale.into_iter().filter(is_in_use).collect();
        }
        self.by_ends.iter().map(|(ends, group)| GroupKey { dpid: ends.src, group: *group }).collect()
    }

    /// Compares a group with the graph; returns the paths and the command of a change. A group without a path is retired.
    ///
    /// While its paths are the same it stays as it is, whatever capacities are measured.
    pub(super) fn review(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        key: GroupKey,
    ) -> Option<(Vec<Hop>, Command)> {
        let group = self.groups.get_mut(&key)?;
        let ends = SwitchPair::new(key.dpid, group.egress);
        let now: Vec<_> = group.wanted.iter().map(|hop| fabric.labels().path(hop.label).cloned()).collect();
        let mut kept: Vec<_> = now.iter().flatten().cloned().collect();
        kept.sort_unstable();
        kept.dedup();
        let paths = equal_paths(cx, ends, &kept);
        if !paths.is_empty() && is_same(&paths, &kept) && now.iter().all(Option::is_some) {
            return None;
        }
        let place = |path: &Option<Path>| paths.iter().position(|it| Some(it) == path.as_ref());
        let before: Vec<_> = now.iter().map(place).collect();
        let buckets = ecmp_buckets(&before, &rates(cx, &paths));
        let Some(wanted) = open(cx, fabric, &paths, &buckets) else {
            self.by_ends.remove(&ends);
            return None;
        };
        group.change(fabric, |group| group.wanted = wanted);
        Some((distinct(&group.wanted), command(key, &group.wanted)))
    }

    /// Labels are withdrawn: their buckets take the other paths of their groups at once, by the shares that those
    /// have. Returns the groups without other paths, which are retired.
    pub(super) fn withdraw(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        labels: &BTreeSet<Label>,
    ) -> BTreeSet<GroupKey> {
        let mut retired = BTreeSet::new();
        for (key, group) in self.groups.iter_mut().filter(|(_, group)| group.takes(labels)) {
            match group.written.as_deref().and_then(|written| without(written, labels)) {
                Some(left) => {
                    group.change(fabric, |group| {
                        group.wanted = left;
                        write(cx, *key, group);
                    });
                    self.stale.insert(*key);
                }
                None => {
                    self.by_ends.remove(&SwitchPair::new(key.dpid, group.egress));
                    retired.insert(*key);
                }
            }
        }
        retired
    }

    /// Writes a group whose paths are confirmed, unless it has changed meanwhile.
    pub(super) fn commit(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        key: GroupKey,
        buckets: &EcmpBuckets,
    ) {
        if let Some(group) = self.groups.get_mut(&key).filter(|group| group.wanted == buckets.hops) {
            group.change(fabric, |group| write(cx, key, group));
        }
    }

    /// A change does not fit into the pending ones. The group stays as it is, and is compared again later.
    pub(super) fn abandon(&mut self, fabric: &mut Fabric, key: GroupKey) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        group.change(fabric, |group| {
            if let Some(written) = &group.written {
                group.wanted.clone_from(written);
            }
        });
    }

    /// Removes groups that no route uses.
    pub(super) fn remove_unused(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        is_used: impl Fn(GroupKey) -> bool,
    ) {
        let unused: Vec<_> = self.groups.keys().copied().filter(|key| !is_used(*key)).collect();
        for key in unused {
            let Some(group) = self.groups.remove(&key) else { continue };
            lease(fabric, &group.labels(), &[]);
            let ends = SwitchPair::new(key.dpid, group.egress);
            if self.by_ends.get(&ends) == Some(&key.group) {
                self.by_ends.remove(&ends);
            }
            if group.written.is_some() {
                remove(cx, key);
            }
        }
    }

    /// Keeps the groups of an earlier controller whose paths are all known; returns them.
    pub(super) fn reconcile(&mut self, fabric: &mut Fabric) -> Vec<GroupKey> {
        let ends_of =
            |(key, hops): (&GroupKey, &Vec<Hop>)| Some((*key, common_ends(fabric, key.dpid, hops)?));
        let known: Vec<_> = self.found.iter().filter_map(ends_of).collect();
        let mut kept = Vec::new();
        for (key, ends) in known {
            if !self.capable.contains(&key.dpid) || self.by_ends.contains_key(&ends) {
                continue;
            }
            let Some(hops) = self.found.remove(&key) else { continue };
            self.by_ends.insert(ends, key.group);
            let last = self.last.entry(key.dpid).or_insert(key.group);
            *last = key.group.max(*last);
            let group = Group { egress: ends.dst, wanted: hops.clone(), written: Some(hops) };
            lease(fabric, &[], &group.labels());
            self.groups.insert(key, group);
            kept.push(key);
        }
        kept
    }

    /// Removes the groups of an earlier controller that are not wanted.
    pub(super) fn end_reconciliation(&mut self, cx: &mut Context<'_>) {
        std::mem::take(&mut self.found).into_keys().for_each(|key| remove(cx, key));
    }
}

fn lease(fabric: &mut Fabric, before: &[Label], after: &[Label]) {
    fabric.handle_lease(LeaseChange::Labels { owner: LabelOwner::EcmpGroups, before, after });
}

/// The usable shortest paths of a group.
fn equal_paths(cx: &mut Context<'_>, ends: SwitchPair, kept: &[Path]) -> Vec<Path> {
    let all = cx.paths.equal_cost(cx.now, ends);
    ecmp_paths(&all, kept, cx.settings.ecmp_paths.max(1))
}

fn rates(cx: &Context<'_>, paths: &[Path]) -> Vec<BitsPerSec> {
    paths.iter().map(|path| ecmp_rate(cx.paths.graph(), path)).collect()
}

/// The hop of each bucket; `None` if there is none, or there are too many labels.
fn open(cx: &mut Context<'_>, fabric: &mut Fabric, paths: &[Path], buckets: &[usize]) -> Option<Vec<Hop>> {
    let used = |(index, _): &(usize, &Path)| buckets.contains(index);
    let hops: BTreeMap<_, _> = (paths.iter().enumerate().filter(used))
        .map(|(index, path)| Some((index, fabric.open(cx, path)?)))
        .collect::<Option<_>>()?;
    let hops: Vec<_> = buckets.iter().filter_map(|path| hops.get(path).copied()).collect();
    (!hops.is_empty()).then_some(hops)
}

/// The buckets, where those of `labels` take the paths of the others; `None` if there are none.
fn without(hops: &[Hop], labels: &BTreeSet<Label>) -> Option<Vec<Hop>> {
    let left: Vec<_> = distinct(hops).into_iter().filter(|hop| !labels.contains(&hop.label)).collect();
    let place = |hop: &Hop| left.iter().position(|it| it == hop);
    let held = |hop: &Hop| BitsPerSec(hops.iter().filter(|it| *it == hop).count() as u64);
    let before: Vec<_> = hops.iter().map(place).collect();
    let shares: Vec<_> = left.iter().map(held).collect();
    let after = ecmp_buckets(&before, &shares);
    (!after.is_empty()).then(|| after.iter().filter_map(|index| left.get(*index).copied()).collect())
}

fn is_same(paths: &[Path], kept: &[Path]) -> bool {
    paths.len() == kept.len() && paths.iter().all(|path| kept.contains(path))
}

fn distinct(hops: &[Hop]) -> Vec<Hop> {
    hops.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
}

fn command(GroupKey { dpid, group }: GroupKey, hops: &[Hop]) -> Command {
    Command::SetEcmp { dpid, buckets: EcmpBuckets { group, hops: hops.to_vec() }, known: false }
}

fn write(cx: &mut Context<'_>, key: GroupKey, group: &mut Group) {
    if group.written.as_ref() == Some(&group.wanted) {
        return;
    }
    let buckets = EcmpBuckets { group: key.group, hops: group.wanted.clone() };
    let known = group.written.replace(group.wanted.clone()).is_some();
    cx.out.push(Command::SetEcmp { dpid: key.dpid, buckets, known });
}

fn remove(cx: &mut Context<'_>, GroupKey { dpid, group }: GroupKey) {
    if cx.topology.switch(dpid).is_some() {
        cx.out.push(Command::RemoveEcmp { dpid, group });
    }
}

/// The switches that all paths of a found group join, if they are known and still in use.
fn common_ends(fabric: &Fabric, dpid: DatapathId, hops: &[Hop]) -> Option<SwitchPair> {
    let path = |hop: &Hop| fabric.labels().path(hop.label).filter(|path| fabric.hop(path) == Some(*hop));
    let ends = |hop: &Hop| path(hop).map(|path| SwitchPair::new(path.ingress(), path.egress()));
    let first = ends(hops.first()?)?;
    (first.src == dpid && hops.iter().all(|hop| ends(hop) == Some(first))).then_some(first)
}

#[cfg(test)]
impl EcmpGroups {
    /// The labels of all groups, as often as they are in one.
    pub(super) fn labels(&self) -> Vec<Label> {
        self.groups.values().flat_map(Group::labels).collect()
    }
}
