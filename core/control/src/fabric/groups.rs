//! Label groups: labels that share one rule in the middle of their paths.
//!
//! Each path between two edges has its own label. Labels of paths that leave their middle switch by the same
//! link are in one group and share a prefix. That switch has one rule for the group, or one for each ingress
//! port where the exit is protected. So rules in the middle of a network do not grow with paths or streams.

use std::collections::{BTreeMap, BTreeSet};

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::installed::label_of;
use crate::label::{GROUPS, Label, MEMBERS};
use crate::pipeline::{Exit, Hop, Rule};

/// Numbers left free above the installed ones, since switches that join later may use them: of groups, and of
/// members of a group.
const GROUP_NUMBER_GAP: u32 = 1 << 12;
const MEMBER_NUMBER_GAP: u32 = 1 << 5;

/// No port comes after it.
pub(super) const LAST_PORT: SwitchPort = SwitchPort::new(DatapathId(u64::MAX), PortNo::ANY);

/// The groups in use.
#[derive(Debug, Default)]
pub(super) struct LabelGroups {
    groups: BTreeMap<Label, LabelGroup>,
    /// The same groups, by the link that their paths leave the middle by.
    by_link: BTreeSet<(Link, Label)>,
    /// The group of each link that supplies new labels.
    open: BTreeMap<Link, Label>,
    installed: InstalledGroups,
    last: u32,
}

#[derive(Debug)]
struct LabelGroup {
    link: Link,
    members: BTreeSet<Label>,
    /// How many of the members' paths enter the middle switch by each port.
    from: BTreeMap<PortNo, usize>,
    /// The group's rules in the middle switch.
    written: BTreeSet<Rule>,
    /// The number of the newest member.
    last: u32,
}

/// Labels that an earlier controller left in switches, until reconciliation ends.
#[derive(Debug, Default)]
struct InstalledGroups {
    /// The group that leaves each port.
    at: BTreeMap<SwitchPort, Label>,
    /// Members of groups that appear in rules.
    members: BTreeSet<Label>,
}

const fn group_of(rule: &Rule) -> Option<Label> {
    match rule {
        Rule::Transit(Hop { label, .. }) | Rule::Hairpin { label, .. } if label.is_group() => Some(*label),
        _ => None,
    }
}

/// The links by which a path enters and leaves its middle switch; `None` for a path without inner switches.
pub(super) fn middle(path: &Path) -> Option<(&Link, &Link)> {
    let (before, after) = path.links().split_at_checked(path.links().len() / 2)?;
    before.last().zip(after.first())
}

impl LabelGroups {
    /// A free label; `None` for a path without inner switches, or when all labels are taken.
    pub(super) fn next(&mut self, path: &Path) -> Option<Label> {
        let (_, link) = middle(path)?;
        let known = self.next_in_known(link);
        let label = known.or_else(|| {
            let group = self.next_group()?;
            self.last = group.group_number()?;
            self.next_member(group)
        })?;
        self.open.insert(*link, label.group()?);
        Some(label)
    }

    /// A free label in a group that the link already has.
    fn next_in_known(&self, link: &Link) -> Option<Label> {
        let leads_there = |it: &LabelGroup| it.link == *link;
        let is_free = |group: &&Label| self.groups.get(group).is_none_or(leads_there);
        let found = self.installed.at.get(&link.src).filter(is_free);
        let preferred = self.open.get(link).into_iter().chain(found);
        let others = self.by_link.range((*link, Label(0))..=(*link, Label(u32::MAX))).map(|(_, group)| group);
        preferred.chain(others).find_map(|group| self.next_member(*group))
    }

    fn next_group(&self) -> Option<Label> {
        let mut next = (1..=GROUPS).map(|step| Label::of_group(self.last.wrapping_add(step)));
        next.find(|group| !self.groups.contains_key(group))
    }

    /// The next free label of a group, wrapping around.
    fn next_member(&self, group: Label) -> Option<Label> {
        let last = self.groups.get(&group).map_or(0, |it| it.last).max(self.installed.last_of(group));
        let next = (0..MEMBERS).map(|step| group.member((last + step) % MEMBERS + 1));
        let is_taken = |label: &Label| self.groups.get(&group).is_some_and(|it| it.members.contains(label));
        { next }.find(|label| !is_taken(label) && !self.installed.members.contains(label))
    }

    /// Gives new groups higher numbers than that of `label`.
    pub(super) fn skip(&mut self, label: Label) {
        if let Some(number) = label.group_number().filter(|number| *number > self.last) {
            self.last = (number + GROUP_NUMBER_GAP) % GROUPS;
        }
    }

    /// A switch joins with these rules.
    pub(super) fn load(&mut self, dpid: DatapathId, rules: &[Rule]) {
        for rule in rules {
            match rule {
                Rule::Transit(Hop { label, port, .. }) if label.is_group() => {
                    self.installed.at.insert(SwitchPort::new(dpid, *port), *label);
                }
                rule => {
                    let label = label_of(rule).filter(|label| label.group().is_some() && !label.is_group());
                    self.installed.members.extend(label);
                }
            }
        }
    }

    /// Ends reconciliation: all installed state has been reconciled or removed.
    pub(super) fn end_reconciliation(&mut self) {
        self.installed = InstalledGroups::default();
    }

    /// Whether a path may have this label: its group uses the same link, or does not exist yet.
    pub(super) fn fits(&self, label: Label, path: &Path) -> bool {
        let Some(group) = label.group().filter(|_| !label.is_group()) else { return !label.is_group() };
        let link = middle(path).map(|(_, link)| *link);
        link.is_some() && self.groups.get(&group).is_none_or(|known| Some(known.link) == link)
    }

    /// Adds a path with a label that fits.
    pub(super) fn enter(&mut self, label: Label, path: &Path) {
        let (Some(id), Some((from, link))) = (label.group(), middle(path)) else { return };
        let by_link = &mut self.by_link;
        let group = self.groups.entry(id).or_insert_with(|| {
            by_link.insert((*link, id));
            LabelGroup::new(*link)
        });
        *group.from.entry(from.dst.port).or_default() += 1;
        group.members.insert(label);
        group.last = label.member_number();
        self.open.entry(*link).or_insert(id);
    }

    /// Removes a path and its label.
    pub(super) fn leave(&mut self, label: Label, path: &Path) {
        let (Some(id), Some((from, link))) = (label.group(), middle(path)) else { return };
        let Some(group) = self.groups.get_mut(&id) else { return };
        group.members.remove(&label);
        if let Some(count) = group.from.get_mut(&from.dst.port) {
            *count -= 1;
        }
        group.from.retain(|_, count| *count > 0);
        if group.members.is_empty() {
            self.by_link.remove(&(group.link, id));
            self.groups.remove(&id);
            if self.open.get(link) == Some(&id) {
                self.open.remove(link);
            }
        }
    }

    /// Records that a label needs a rule. Returns whether the rule must be written: its group may have it
    /// already.
    pub(super) fn is_first(&mut self, rule: &Rule) -> bool {
        let group = group_of(rule).and_then(|label| self.groups.get_mut(&label));
        group.is_none_or(|group| group.written.insert(*rule))
    }

    /// Records that a label no longer needs a rule. Returns whether the rule must be removed.
    pub(super) fn is_last(&mut self, rule: &Rule) -> bool {
        let Some(group) = group_of(rule).and_then(|label| self.groups.get_mut(&label)) else { return true };
        let is_last = group.users(rule) < 2;
        if is_last {
            group.written.remove(rule);
        }
        is_last
    }

    /// The hairpin rule of a label's group, if this is the last member.
    pub(super) fn last_hairpin(&self, label: Label) -> Option<(DatapathId, Rule)> {
        let id = label.group()?;
        let group = self.groups.get(&id).filter(|group| group.members.len() < 2)?;
        let SwitchPort { dpid, port } = group.link.src;
        let rule = Rule::Hairpin { label: id, port };
        group.written.contains(&rule).then_some((dpid, rule))
    }

    /// Whether a switch should have a rule of a group.
    pub(super) fn has(&self, dpid: DatapathId, rule: &Rule) -> bool {
        let group = group_of(rule).and_then(|label| self.groups.get(&label));
        group.is_some_and(|group| group.link.src.dpid == dpid && group.written.contains(rule))
    }

    /// The port by which a label's group leaves this switch, if it is the middle one.
    pub(super) fn exit(&self, label: Label, dpid: DatapathId) -> Option<PortNo> {
        let link = self.groups.get(&label.group()?)?.link;
        (link.src.dpid == dpid).then_some(link.src.port)
    }

    /// Forgets the rules of a switch that may have lost them. New labels write them again.
    pub(super) fn close_at(&mut self, dpid: DatapathId) {
        self.installed.at.extract_if(SwitchPort::all_of(dpid), |_, _| true).for_each(drop);
        let (first, last) = SwitchPort::all_of(dpid).into_inner();
        let (first, last) = (
            Link { src: first, dst: SwitchPort::new(DatapathId(0), PortNo(0)) },
            Link { src: last, dst: LAST_PORT },
        );
        for (_, id) in self.by_link.range((first, Label(0))..=(last, Label(u32::MAX))) {
            if let Some(group) = self.groups.get_mut(id) {
                group.written.clear();
            }
        }
    }
}

impl LabelGroup {
    const fn new(link: Link) -> Self {
        Self { link, members: BTreeSet::new(), from: BTreeMap::new(), written: BTreeSet::new(), last: 0 }
    }

    /// How many labels use a rule. The hairpin rule stays until the last member leaves, as its users are not
    /// known.
    fn users(&self, rule: &Rule) -> usize {
        match rule {
            Rule::Transit(Hop { exit: Exit::Protected { from }, .. }) if from.0 != 0 => {
                self.from.get(from).copied().unwrap_or_default()
            }
            Rule::Hairpin { .. } => usize::MAX,
            _ => self.members.len(),
        }
    }
}

impl InstalledGroups {
    /// A number above which those of a group are most likely free; 0 if none was installed.
    fn last_of(&self, group: Label) -> u32 {
        let mut members = self.members.range(group..=group.member(MEMBERS));
        members.next_back().map_or(0, |label| label.member_number() + MEMBER_NUMBER_GAP)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn a_group_gives_its_numbers_away_again_and_none_twice() {
        let port = |at, to| SwitchPort::new(DatapathId(at), PortNo(to));
        let link = |a, b| Link { src: port(a, b as u32), dst: port(b, a as u32) };
        let path = Path::over(&[link(1, 5), link(5, 6)]).expect("a path");
        let mut groups = LabelGroups::default();
        let mut used = VecDeque::new();
        for _ in 0..3 * MEMBERS {
            let label = groups.next(&path).expect("there are more");
            assert!(!used.contains(&label), "{label:?}");
            groups.enter(label, &path);
            used.push_back(label);
            // One member stays, so that the group does.
            if used.len() as u32 == MEMBERS {
                let gone = used.remove(1).expect("it is full");
                groups.leave(gone, &path);
            }
        }
        let of: BTreeSet<_> = used.iter().filter_map(|label| label.group()).collect();
        assert_eq!(of.len(), 1);
        let last = groups.next(&path).expect("one is free");
        groups.enter(last, &path);
        assert_ne!(
            groups.next(&path).and_then(Label::group),
            of.first().copied(),
            "a full one is followed by another"
        );
    }
}
