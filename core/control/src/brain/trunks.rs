//! Labels are numbered so that one rule is enough, in the middle of their paths, for all that leave there by one link.
//!
//! Each path between two edges has a label of its own, but a switch between them needs no rule for each. The labels of
//! paths that leave their middle switch by the same link are of the same trunk, and begin alike: that switch has one rule
//! for a trunk, or as many as it has ports where it guards them. What the middle of a network holds does so not grow with
//! paths or streams, whatever its edges are asked for.

use std::collections::{BTreeMap, BTreeSet};

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SwitchPort};

use super::found::label_of;
use crate::label::{Label, MEMBERS, TRUNKS};
use crate::pipeline::{Exit, Hop, Rule};

/// Numbers left free above those that were found, for what switches may know that join later: of trunks, and of labels
/// in one.
const GAP: u32 = 1 << 12;
const GAP_IN_TRUNK: u32 = 1 << 5;

/// The trunks in use.
#[derive(Debug, Default)]
pub(super) struct Trunks {
    trunks: BTreeMap<Label, Trunk>,
    /// The trunk of each link from which new labels are taken.
    open: BTreeMap<Link, Label>,
    found: Earlier,
    last: u32,
}

#[derive(Debug)]
struct Trunk {
    link: Link,
    members: BTreeSet<Label>,
    /// How many of their paths come to the middle switch by each port.
    from: BTreeMap<PortNo, usize>,
    /// The rules that the middle switch has for them.
    written: BTreeSet<Rule>,
    /// The number of the last one that was given away.
    last: u32,
}

/// What switches have of an earlier controller, until all of it is adopted or removed.
#[derive(Debug, Default)]
struct Earlier {
    /// The trunk that leaves each port.
    at: BTreeMap<SwitchPort, Label>,
    /// Labels in trunks that rules speak of.
    members: BTreeSet<Label>,
}

const fn trunk_of(rule: &Rule) -> Option<Label> {
    match rule {
        Rule::Transit(Hop { label, .. }) | Rule::Return { label, .. } if label.is_trunk() => Some(*label),
        _ => None,
    }
}

/// The links by which a path comes to its middle switch and leaves it; `None` for one that passes none.
pub(super) fn middle(path: &Path) -> Option<(&Link, &Link)> {
    let (before, after) = path.links().split_at_checked(path.links().len() / 2)?;
    before.last().zip(after.first())
}

impl Trunks {
    /// A label that none has; `None` for a path that passes no switch between its ends, or when there are too many.
    pub(super) fn next(&mut self, path: &Path) -> Option<Label> {
        let (_, link) = middle(path)?;
        let known = self.next_in_known(link);
        let label = known.or_else(|| {
            let trunk = self.next_trunk()?;
            self.last = trunk.trunk_number()?;
            self.next_member(trunk)
        })?;
        self.open.insert(*link, label.trunk()?);
        Some(label)
    }

    /// A label in a trunk that there is for the link already.
    fn next_in_known(&self, link: &Link) -> Option<Label> {
        let leads_there = |it: &Trunk| it.link == *link;
        let is_free = |trunk: &&Label| self.trunks.get(trunk).is_none_or(leads_there);
        let found = self.found.at.get(&link.src).filter(is_free);
        let usual = self.open.get(link).into_iter().chain(found);
        let others = self.trunks.iter().filter(|(_, it)| leads_there(it)).map(|(trunk, _)| trunk);
        usual.chain(others).find_map(|trunk| self.next_member(*trunk))
    }

    fn next_trunk(&self) -> Option<Label> {
        let mut next = (1..=TRUNKS).map(|step| Label::of_trunk(self.last.wrapping_add(step)));
        next.find(|trunk| !self.trunks.contains_key(trunk))
    }

    /// The next label of a trunk that nobody has, going round.
    fn next_member(&self, trunk: Label) -> Option<Label> {
        let last = self.trunks.get(&trunk).map_or(0, |it| it.last).max(self.found.last_of(trunk));
        let next = (0..MEMBERS).map(|step| trunk.member((last + step) % MEMBERS + 1));
        let is_taken = |label: &Label| self.trunks.get(&trunk).is_some_and(|it| it.members.contains(label));
        { next }.find(|label| !is_taken(label) && !self.found.members.contains(label))
    }

    /// New trunks get higher numbers than that of `label`.
    pub(super) fn skip(&mut self, label: Label) {
        if let Some(number) = label.trunk_number().filter(|number| *number > self.last) {
            self.last = (number + GAP) % TRUNKS;
        }
    }

    /// A switch joins with rules.
    pub(super) fn take_up(&mut self, dpid: DatapathId, rules: &[Rule]) {
        for rule in rules {
            match rule {
                Rule::Transit(Hop { label, port, .. }) if label.is_trunk() => {
                    self.found.at.insert(SwitchPort::new(dpid, *port), *label);
                }
                rule => {
                    let label = label_of(rule).filter(|label| label.trunk().is_some() && !label.is_trunk());
                    self.found.members.extend(label);
                }
            }
        }
    }

    /// What was found is adopted or removed.
    pub(super) fn end_adoption(&mut self) {
        self.found = Earlier::default();
    }

    /// Whether a label may be that of a path: its trunk leads there, or nowhere yet.
    pub(super) fn fits(&self, label: Label, path: &Path) -> bool {
        let Some(trunk) = label.trunk().filter(|_| !label.is_trunk()) else { return !label.is_trunk() };
        let link = middle(path).map(|(_, link)| *link);
        link.is_some() && self.trunks.get(&trunk).is_none_or(|known| Some(known.link) == link)
    }

    /// A path has a label, which fits.
    pub(super) fn enter(&mut self, label: Label, path: &Path) {
        let (Some(id), Some((from, link))) = (label.trunk(), middle(path)) else { return };
        let trunk = self.trunks.entry(id).or_insert_with(|| Trunk::new(*link));
        *trunk.from.entry(from.dst.port).or_default() += 1;
        trunk.members.insert(label);
        trunk.last = label.member_number();
        self.open.entry(*link).or_insert(id);
    }

    /// A path has its label no more.
    pub(super) fn leave(&mut self, label: Label, path: &Path) {
        let (Some(id), Some((from, link))) = (label.trunk(), middle(path)) else { return };
        let Some(trunk) = self.trunks.get_mut(&id) else { return };
        trunk.members.remove(&label);
        if let Some(count) = trunk.from.get_mut(&from.dst.port) {
            *count -= 1;
        }
        trunk.from.retain(|_, count| *count > 0);
        if trunk.members.is_empty() {
            self.trunks.remove(&id);
            if self.open.get(link) == Some(&id) {
                self.open.remove(link);
            }
        }
    }

    /// Whether a rule of a label that has entered is to be written: others of its trunk may have it already.
    pub(super) fn is_first(&mut self, rule: &Rule) -> bool {
        let trunk = trunk_of(rule).and_then(|label| self.trunks.get_mut(&label));
        trunk.is_none_or(|trunk| trunk.written.insert(*rule))
    }

    /// Takes note that a rule of a label that is about to leave goes; says whether it is not needed any more.
    pub(super) fn is_last(&mut self, rule: &Rule) -> bool {
        let Some(trunk) = trunk_of(rule).and_then(|label| self.trunks.get_mut(&label)) else { return true };
        let is_last = trunk.users(rule) < 2;
        if is_last {
            trunk.written.remove(rule);
        }
        is_last
    }

    /// The rule for packets that return, if this is the last label of its trunk.
    pub(super) fn last_return(&self, label: Label) -> Option<(DatapathId, Rule)> {
        let id = label.trunk()?;
        let trunk = self.trunks.get(&id).filter(|trunk| trunk.members.len() < 2)?;
        let SwitchPort { dpid, port } = trunk.link.src;
        let rule = Rule::Return { label: id, port };
        trunk.written.contains(&rule).then_some((dpid, rule))
    }

    /// Whether a switch is to have a rule of a trunk.
    pub(super) fn has(&self, dpid: DatapathId, rule: &Rule) -> bool {
        let trunk = trunk_of(rule).and_then(|label| self.trunks.get(&label));
        trunk.is_some_and(|trunk| trunk.link.src.dpid == dpid && trunk.written.contains(rule))
    }

    /// By which port of a switch the packets of a label's trunk leave it, if that is its middle.
    pub(super) fn exit(&self, label: Label, dpid: DatapathId) -> Option<PortNo> {
        let link = self.trunks.get(&label.trunk()?)?.link;
        (link.src.dpid == dpid).then_some(link.src.port)
    }

    /// The switch may have lost its rules: what is new there writes them again.
    pub(super) fn close_at(&mut self, dpid: DatapathId) {
        self.found.at.retain(|at, _| at.dpid != dpid);
        for trunk in self.trunks.values_mut().filter(|trunk| trunk.link.src.dpid == dpid) {
            trunk.written.clear();
        }
    }
}

impl Trunk {
    const fn new(link: Link) -> Self {
        Self { link, members: BTreeSet::new(), from: BTreeMap::new(), written: BTreeSet::new(), last: 0 }
    }

    /// How many labels use a rule. That for packets that return stays to the end, as it is not known whose they are.
    fn users(&self, rule: &Rule) -> usize {
        match rule {
            Rule::Transit(Hop { exit: Exit::Guarded { from }, .. }) if from.0 != 0 => {
                self.from.get(from).copied().unwrap_or_default()
            }
            Rule::Return { .. } => usize::MAX,
            _ => self.members.len(),
        }
    }
}

impl Earlier {
    /// A number from which on those of a trunk are most likely free; 0 if nothing was found of it.
    fn last_of(&self, trunk: Label) -> u32 {
        let mut members = self.members.range(trunk..=trunk.member(MEMBERS));
        members.next_back().map_or(0, |label| label.member_number() + GAP_IN_TRUNK)
    }
}
