//! The numbers in rules, explained: transfers of streams, and paths of labels and bypasses.

use std::collections::{BTreeMap, BTreeSet};

use braid_steering::{StreamId, TransferId};
use braid_types::DatapathId;

use crate::label::Label;

/// Numbers in rules.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RuleNumbers {
    /// Streams.
    pub streams: BTreeSet<StreamId>,
    /// Labels of paths, and of groups of paths.
    pub labels: BTreeSet<Label>,
    /// Labels of bypasses.
    pub bypasses: BTreeSet<Label>,
}

/// The meaning of numbers, as far as they are in use.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RuleMeanings {
    /// The transfer of each stream.
    pub transfers: BTreeMap<StreamId, TransferId>,
    /// The switches on the path of each label; of a group, on one of its paths.
    pub paths: BTreeMap<Label, Vec<DatapathId>>,
    /// The switches on each bypass, between the two ends of the link that is bypassed.
    pub bypasses: BTreeMap<Label, Vec<DatapathId>>,
}

impl RuleNumbers {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty() && self.labels.is_empty() && self.bypasses.is_empty()
    }

    /// Takes up to `count` of them.
    pub fn take(&mut self, count: usize) -> Self {
        let streams = take(&mut self.streams, count);
        let labels = take(&mut self.labels, count.saturating_sub(streams.len()));
        let left = count.saturating_sub(streams.len()).saturating_sub(labels.len());
        Self { streams, labels, bypasses: take(&mut self.bypasses, left) }
    }
}

fn take<T: Ord>(set: &mut BTreeSet<T>, count: usize) -> BTreeSet<T> {
    std::iter::from_fn(|| set.pop_first()).take(count).collect()
}

impl RuleMeanings {
    /// Adds those of other numbers.
    pub fn extend(&mut self, other: Self) {
        let Self { transfers, paths, bypasses } = other;
        self.transfers.extend(transfers);
        self.paths.extend(paths);
        self.bypasses.extend(bypasses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_until_none_is_left() {
        let mut numbers = RuleNumbers {
            streams: (1..=3).map(StreamId).collect(),
            labels: (1..=4).map(Label).collect(),
            bypasses: (7..=9).map(Label).collect(),
        };
        let (all, mut again) = (numbers.clone(), RuleNumbers::default());
        let mut counts = Vec::new();
        while !numbers.is_empty() {
            let RuleNumbers { streams, labels, bypasses } = numbers.take(4);
            counts.push(streams.len() + labels.len() + bypasses.len());
            again.streams.extend(streams);
            again.labels.extend(labels);
            again.bypasses.extend(bypasses);
        }
        assert_eq!((counts, again), (vec![4, 4, 2], all));
    }
}
