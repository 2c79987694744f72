//! Leases: who uses which labels, so that unused labels are known without a scan.

use braid_paths::Path;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Fabric;
use super::labels::Labels;
use super::retirement::LabelState;
use crate::label::Label;

/// Labels that something uses. It counts as often as it is leased.
pub(crate) type LeasedLabels = SmallVec<[Label; 4]>;

/// A change of what is in use: all of `before` is released, and all of `after` is leased.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LeaseChange<'a> {
    /// Labels, whether they are installed or not.
    Labels { owner: LabelOwner, before: &'a [Label], after: &'a [Label] },
    /// Paths that are set aside, whether they have labels or not. Their labels in both directions stay.
    Paths { before: &'a [Path], after: &'a [Path] },
}

/// What leases labels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LabelOwner {
    /// The directions of streams on single paths.
    Streams,
    /// Default paths, installed and pending.
    Routes,
    /// Groups over equal-cost paths.
    EcmpGroups,
    /// Bundles of paths that packets are sprayed over.
    Bundles,
}

/// The number of kinds of owners.
const OWNERS: usize = 4;

/// The leases of a label, by owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LeaseCounts([u32; OWNERS]);

/// The paths that are set aside, each in the direction in which it was, and how often.
#[derive(Debug, Default)]
pub(super) struct ReservedPaths(FxHashMap<Path, u32>);

impl Fabric {
    /// Something uses other labels than before.
    pub(crate) fn handle_lease(&mut self, change: LeaseChange<'_>) {
        match change {
            LeaseChange::Labels { owner, before, after } => {
                after.iter().for_each(|label| self.labels.lease(owner, *label));
                before.iter().for_each(|label| self.labels.release(owner, *label));
            }
            LeaseChange::Paths { before, after } => {
                after.iter().for_each(|path| self.reserved.add(path));
                before.iter().filter(|path| self.reserved.remove(path)).for_each(|path| {
                    let labels = [self.labels.of(path), self.labels.of(&path.reversed())];
                    self.labels.idle.extend(labels.into_iter().flatten());
                });
            }
        }
    }

    /// Whether a label that nobody leases stays: a transaction waits for it, or its path is set aside.
    pub(super) fn is_needed(&self, label: Label) -> bool {
        let is_reserved = || self.labels.path(label).is_some_and(|path| self.reserved.contains(path));
        self.pending.needs(label) || is_reserved()
    }
}

impl LeaseCounts {
    pub(super) fn is_leased(self) -> bool {
        self.0.iter().any(|count| *count > 0)
    }

    const fn of(&mut self, owner: LabelOwner) -> &mut u32 {
        let [streams, routes, groups, bundles] = &mut self.0;
        match owner {
            LabelOwner::Streams => streams,
            LabelOwner::Routes => routes,
            LabelOwner::EcmpGroups => groups,
            LabelOwner::Bundles => bundles,
        }
    }
}

impl ReservedPaths {
    fn add(&mut self, path: &Path) {
        *self.0.entry(path.clone()).or_default() += 1;
    }

    /// Returns whether the path is not set aside any more.
    fn remove(&mut self, path: &Path) -> bool {
        let Some(count) = self.0.get_mut(path) else { return false };
        *count -= 1;
        *count == 0 && self.0.remove(path).is_some()
    }

    fn contains(&self, path: &Path) -> bool {
        !self.0.is_empty() && (self.0.contains_key(path) || self.0.contains_key(&path.reversed()))
    }
}

impl Labels {
    fn lease(&mut self, owner: LabelOwner, label: Label) {
        let leases = &mut self.usage.entry(label).or_default().leases;
        let is_first = !leases.is_leased();
        *leases.of(owner) += 1;
        if is_first && self.entries.get(&label).is_some_and(|it| matches!(it.life, LabelState::Unused(_))) {
            self.set_life(label, LabelState::Used);
        }
    }

    fn release(&mut self, owner: LabelOwner, label: Label) {
        let Some(usage) = self.usage.get_mut(&label) else { return };
        let count = usage.leases.of(owner);
        *count = count.saturating_sub(1);
        if usage.leases.is_leased() {
            return;
        }
        match self.entries.contains_key(&label) {
            true => _ = self.idle.insert(label),
            false => _ = self.usage.remove(&label),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// How often each label is leased, by owner.
    pub(crate) type Counts = BTreeMap<(Label, LabelOwner), u32>;

    impl Fabric {
        /// How often each label is leased by each kind of owner.
        #[expect(clippy::disallowed_methods, reason = "collected into a sorted map")]
        pub(crate) fn leases(&self) -> Counts {
            let owners =
                [LabelOwner::Streams, LabelOwner::Routes, LabelOwner::EcmpGroups, LabelOwner::Bundles];
            let counts = self.labels.usage.iter().flat_map(|(label, usage)| {
                let mut leases = usage.leases;
                owners.map(|owner| ((*label, owner), *leases.of(owner)))
            });
            counts.filter(|(_, count)| *count > 0).collect()
        }

        /// How often each path is set aside.
        #[expect(clippy::disallowed_methods, reason = "collected into a sorted map")]
        pub(crate) fn reserved(&self) -> BTreeMap<Path, u32> {
            self.reserved.0.iter().map(|(path, count)| (path.clone(), *count)).collect()
        }
    }

    #[test]
    fn a_label_is_idle_once_its_last_owner_has_released_it() {
        let (mut fabric, label) = (Fabric::default(), Label(7));
        let mut change = |owner, before: &[Label], after: &[Label]| {
            fabric.handle_lease(LeaseChange::Labels { owner, before, after });
            fabric.leases().values().sum::<u32>()
        };
        assert_eq!(change(LabelOwner::Streams, &[], &[label, label]), 2);
        assert_eq!(change(LabelOwner::Routes, &[], &[label]), 3);
        assert_eq!(change(LabelOwner::Bundles, &[label], &[]), 3, "it leases nothing");
        assert_eq!(change(LabelOwner::Streams, &[label], &[label]), 3);
        assert_eq!(change(LabelOwner::Streams, &[label, label], &[]), 1);
        assert_eq!(change(LabelOwner::Routes, &[label], &[]), 0);
        assert_eq!(fabric.labels.usage.len(), 0, "nothing is left of a label that is not installed");
    }
}
