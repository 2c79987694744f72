//! Labels are numbered so that one rule is enough, in the middle of their paths, for all that leave there by one link.
//!
//! Each path between two edges has a label of its own, but a switch between them needs no rule for each. The labels of
//! paths that leave their middle switch by the same link are of the same trunk, and begin alike: that switch has one rule
//! for a trunk, or as many as it has ports where it guards them. What the middle of a network holds does so not grow with
//! paths or streams, whatever its edges are asked for.

use std::collections::BTreeMap;

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::label::{Label, MEMBERS, TRUNKS};
use crate::pipeline::{Exit, Hop, Rule};

/// Numbers left free above those that were found, for what switches may know that join later.
const GAP: u32 = 1 << 12;

/// The trunks in use.
#[derive(Debug, Default)]
pub(super) struct Trunks {
    trunks: BTreeMap<Label, Trunk>,
    /// The trunk of each link from which new labels are taken, and the last that was.
    open: BTreeMap<Link, (Label, u32)>,
    last: u32,
}

#[derive(Debug)]
struct Trunk {
    link: Link,
    /// How many paths come to the middle switch by each port.
    members: BTreeMap<PortNo, usize>,
    /// Whether packets that come, on a detour, from where they are to go have their rule.
    returns: bool,
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
        let (trunk, last) = match self.open.get(link) {
            Some((trunk, last)) if *last < MEMBERS => (*trunk, *last),
            _ => (self.next_trunk()?, 0),
        };
        self.open.insert(*link, (trunk, last + 1));
        Some(trunk.member(last + 1))
    }

    fn next_trunk(&mut self) -> Option<Label> {
        let next = (1..=TRUNKS).map(|step| Label::of_trunk(self.last.wrapping_add(step)));
        let next = { next }.find(|trunk| !self.trunks.contains_key(trunk))?;
        self.last = next.trunk_number()?;
        Some(next)
    }

    /// New trunks get higher numbers than that of `label`.
    pub(super) fn skip(&mut self, label: Label) {
        if let Some(number) = label.trunk_number().filter(|number| *number > self.last) {
            self.last = (number + GAP) % TRUNKS;
        }
    }

    /// Whether a label may be that of a path: its trunk leads there, or nowhere yet.
    pub(super) fn fits(&self, label: Label, path: &Path) -> bool {
        let Some(trunk) = label.trunk().filter(|_| !label.is_trunk()) else { return !label.is_trunk() };
        let link = middle(path).map(|(_, link)| *link);
        link.is_some() && self.trunks.get(&trunk).is_none_or(|known| Some(known.link) == link)
    }

    /// A path has a label, which fits.
    pub(super) fn enter(&mut self, label: Label, path: &Path) {
        let (Some(trunk), Some((from, link))) = (label.trunk(), middle(path)) else { return };
        let new = || Trunk { link: *link, members: BTreeMap::new(), returns: false };
        *self.trunks.entry(trunk).or_insert_with(new).members.entry(from.dst.port).or_default() += 1;
    }

    /// A path has its label no more.
    pub(super) fn leave(&mut self, label: Label, path: &Path) {
        let (Some(id), Some((from, _))) = (label.trunk(), middle(path)) else { return };
        let Some(trunk) = self.trunks.get_mut(&id) else { return };
        if let Some(count) = trunk.members.get_mut(&from.dst.port) {
            *count -= 1;
        }
        trunk.members.retain(|_, count| *count > 0);
        if trunk.members.is_empty() {
            let link = trunk.link;
            self.trunks.remove(&id);
            if self.open.get(&link).is_some_and(|(open, _)| *open == id) {
                self.open.remove(&link);
            }
        }
    }

    /// Whether a rule of a label that has entered is to be written: others of its trunk may have it already.
    pub(super) fn is_first(&mut self, rule: &Rule) -> bool {
        let users = self.users(rule);
        match trunk_of(rule).and_then(|label| self.trunks.get_mut(&label)) {
            Some(trunk) if matches!(rule, Rule::Return { .. }) => {
                !std::mem::replace(&mut trunk.returns, true)
            }
            _ => users < 2,
        }
    }

    /// Whether a rule of a label that is about to leave is not needed any more.
    pub(super) fn is_last(&self, rule: &Rule) -> bool {
        let returns = trunk_of(rule).is_some() && matches!(rule, Rule::Return { .. });
        !returns && self.users(rule) < 2
    }

    /// The rule for packets that return, if this is the last label of its trunk.
    pub(super) fn last_return(&self, label: Label) -> Option<(DatapathId, Rule)> {
        let id = label.trunk()?;
        let trunk = self
            .trunks
            .get(&id)
            .filter(|trunk| trunk.returns && trunk.members.values().sum::<usize>() < 2)?;
        let SwitchPort { dpid, port } = trunk.link.src;
        Some((dpid, Rule::Return { label: id, port }))
    }

    /// How many labels use a rule of a trunk; of other rules, no others.
    fn users(&self, rule: &Rule) -> usize {
        let Some(trunk) = trunk_of(rule).and_then(|label| self.trunks.get(&label)) else { return 0 };
        match rule {
            Rule::Transit(Hop { exit: Exit::Guarded { from }, .. }) if from.0 != 0 => {
                trunk.members.get(from).copied().unwrap_or_default()
            }
            _ => trunk.members.values().sum(),
        }
    }

    /// By which port of a switch the packets of a label's trunk leave it, if that is its middle.
    pub(super) fn exit(&self, label: Label, dpid: DatapathId) -> Option<PortNo> {
        let link = self.trunks.get(&label.trunk()?)?.link;
        (link.src.dpid == dpid).then_some(link.src.port)
    }

    /// The switch may have lost its rules: new labels are not of trunks that it had.
    pub(super) fn close_at(&mut self, dpid: DatapathId) {
        self.open.retain(|link, _| link.src.dpid != dpid);
    }
}
