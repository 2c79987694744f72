//! Labels are numbered so that one rule is enough, in the middle of their paths, for all that leave there by one link.
//!
//! Each path between two edges has a label of its own, but a switch between them needs no rule for each. The labels of
//! paths that leave their middle switch by the same link are of the same group, and begin alike: that switch has one rule
//! for a group, or as many as it has ports where it protects them. What the middle of a network holds does so not grow with
//! paths or streams, whatever its edges are asked for.

use std::collections::{BTreeMap, BTreeSet};

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::installed::label_of;
use crate::label::{GROUPS, Label, MEMBERS};
use crate::pipeline::{Exit, Hop, Rule};

/// Numbers left free above those that were found, for what switches may know that join later: of groups, and of labels
/// in one.
const GROUP_NUMBER_GAP: u32 = 1 << 12;
const MEMBER_NUMBER_GAP: u32 = 1 << 5;

/// The groups in use.
#[derive(Debug, Default)]
pub(super) struct LabelGroups {
    groups: BTreeMap<Label, LabelGroup>,
    /// The group of each link from which new labels are taken.
    open: BTreeMap<Link, Label>,
    found: Earlier,
    last: u32,
}

#[derive(Debug)]
struct LabelGroup {
    link: Link,
    members: BTreeSet<Label>,
    /// How many of their paths come to the middle switch by each port.
    from: BTreeMap<PortNo, usize>,
    /// The rules that the middle switch has for them.
    written: BTreeSet<Rule>,
    /// The number of the last one that was given away.
    last: u32,
}

/// What switches have of an earlier controller, until all of it is taken over or removed.
#[derive(Debug, Default)]
struct Earlier {
    /// The group that leaves each port.
    at: BTreeMap<SwitchPort, Label>,
    /// Labels in groups that rules speak of.
    members: BTreeSet<Label>,
}

const fn group_of(rule: &Rule) -> Option<Label> {
    match rule {
        Rule::Transit(Hop { label, .. }) | Rule::Hairpin { label, .. } if label.is_group() => Some(*label),
        _ => None,
    }
}

/// The links by which a path comes to its middle switch and leaves it; `None` for one that passes none.
pub(super) fn middle(path: &Path) -> Option<(&Link, &Link)> {
    let (before, after) = path.links().split_at_checked(path.links().len() / 2)?;
    before.last().zip(after.first())
}

impl LabelGroups {
    /// A label that none has; `None` for a path that passes no switch between its ends, or when there are too many.
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

    /// A label in a group that there is for the link already.
    fn next_in_known(&self, link: &Link) -> Option<Label> {
        let leads_there = |it: &LabelGroup| it.link == *link;
        let is_free = |group: &&Label| self.groups.get(group).is_none_or(leads_there);
        let found = self.found.at.get(&link.src).filter(is_free);
        let usual = self.open.get(link).into_iter().chain(found);
        let others = self.groups.iter().filter(|(_, it)| leads_there(it)).map(|(group, _)| group);
        usual.chain(others).find_map(|group| self.next_member(*group))
    }

    fn next_group(&self) -> Option<Label> {
        let mut next = (1..=GROUPS).map(|step| Label::of_group(self.last.wrapping_add(step)));
        next.find(|group| !self.groups.contains_key(group))
    }

    /// The next label of a group that nobody has, going round.
    fn next_member(&self, group: Label) -> Option<Label> {
        let last = self.groups.get(&group).map_or(0, |it| it.last).max(self.found.last_of(group));
        let next = (0..MEMBERS).map(|step| group.member((last + step) % MEMBERS + 1));
        let is_taken = |label: &Label| self.groups.get(&group).is_some_and(|it| it.members.contains(label));
        { next }.find(|label| !is_taken(label) && !self.found.members.contains(label))
    }

    /// New groups get higher numbers than that of `label`.
    pub(super) fn skip(&mut self, label: Label) {
        if let Some(number) = label.group_number().filter(|number| *number > self.last) {
            self.last = (number + GROUP_NUMBER_GAP) % GROUPS;
        }
    }

    /// A switch joins with rules.
    pub(super) fn load(&mut self, dpid: DatapathId, rules: &[Rule]) {
        for rule in rules {
            match rule {
                Rule::Transit(Hop { label, port, .. }) if label.is_group() => {
                    self.found.at.insert(SwitchPort::new(dpid, *port), *label);
                }
                rule => {
                    let label = label_of(rule).filter(|label| label.group().is_some() && !label.is_group());
                    self.found.members.extend(label);
                }
            }
        }
    }

    /// What was found is taken over or removed.
    pub(super) fn end_reconciliation(&mut self) {
        self.found = Earlier::default();
    }

    /// Whether a label may be that of a path: its group leads there, or nowhere yet.
    pub(super) fn fits(&self, label: Label, path: &Path) -> bool {
        let Some(group) = label.group().filter(|_| !label.is_group()) else { return !label.is_group() };
        let link = middle(path).map(|(_, link)| *link);
        link.is_some() && self.groups.get(&group).is_none_or(|known| Some(known.link) == link)
    }

    /// A path has a label, which fits.
    pub(super) fn enter(&mut self, label: Label, path: &Path) {
        let (Some(id), Some((from, link))) = (label.group(), middle(path)) else { return };
        let group = self.groups.entry(id).or_insert_with(|| LabelGroup::new(*link));
        *group.from.entry(from.dst.port).or_default() += 1;
        group.members.insert(label);
        group.last = label.member_number();
        self.open.entry(*link).or_insert(id);
    }

    /// A path has its label no more.
    pub(super) fn leave(&mut self, label: Label, path: &Path) {
        let (Some(id), Some((from, link))) = (label.group(), middle(path)) else { return };
        let Some(group) = self.groups.get_mut(&id) else { return };
        group.members.remove(&label);
        if let Some(count) = group.from.get_mut(&from.dst.port) {
            *count -= 1;
        }
        group.from.retain(|_, count| *count > 0);
        if group.members.is_empty() {
            self.groups.remove(&id);
            if self.open.get(link) == Some(&id) {
                self.open.remove(link);
            }
        }
    }

    /// Whether a rule of a label that has entered is to be written: others of its group may have it already.
    pub(super) fn is_first(&mut self, rule: &Rule) -> bool {
        let group = group_of(rule).and_then(|label| self.groups.get_mut(&label));
        group.is_none_or(|group| group.written.insert(*rule))
    }

    /// Takes note that a rule of a label that is about to leave goes; says whether it is not needed any more.
    pub(super) fn is_last(&mut self, rule: &Rule) -> bool {
        let Some(group) = group_of(rule).and_then(|label| self.groups.get_mut(&label)) else { return true };
        let is_last = group.users(rule) < 2;
        if is_last {
            group.written.remove(rule);
        }
        is_last
    }

    /// The rule for packets that come back on a bypass, if this is the last label of its group.
    pub(super) fn last_hairpin(&self, label: Label) -> Option<(DatapathId, Rule)> {
        let id = label.group()?;
        let group = self.groups.get(&id).filter(|group| group.members.len() < 2)?;
        let SwitchPort { dpid, port } = group.link.src;
        let rule = Rule::Hairpin { label: id, port };
        group.written.contains(&rule).then_some((dpid, rule))
    }

    /// Whether a switch is to have a rule of a group.
    pub(super) fn has(&self, dpid: DatapathId, rule: &Rule) -> bool {
        let group = group_of(rule).and_then(|label| self.groups.get(&label));
        group.is_some_and(|group| group.link.src.dpid == dpid && group.written.contains(rule))
    }

    /// By which port of a switch the packets of a label's group leave it, if that is its middle.
    pub(super) fn exit(&self, label: Label, dpid: DatapathId) -> Option<PortNo> {
        let link = self.groups.get(&label.group()?)?.link;
        (link.src.dpid == dpid).then_some(link.src.port)
    }

    /// The switch may have lost its rules: what is new there writes them again.
    pub(super) fn close_at(&mut self, dpid: DatapathId) {
        self.found.at.retain(|at, _| at.dpid != dpid);
        for group in self.groups.values_mut().filter(|group| group.link.src.dpid == dpid) {
            group.written.clear();
        }
    }
}

impl LabelGroup {
    const fn new(link: Link) -> Self {
        Self { link, members: BTreeSet::new(), from: BTreeMap::new(), written: BTreeSet::new(), last: 0 }
    }

    /// How many labels use a rule. That for packets that come back on a bypass stays to the end, as it is not known whose they are.
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

impl Earlier {
    /// A number from which on those of a group are most likely free; 0 if nothing was found of it.
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
            // One stays, so that the group does.
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
