//! The numbers in rules, explained: transfers of streams, and paths of labels and bypasses.

use std::collections::{BTreeMap, BTreeSet};

use braid_steering::{StreamId, TransferId};
use braid_types::DatapathId;

use super::Brain;
use crate::fabric::bypass_paths;
use crate::label::Label;

/// Numbers in rules.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RuleNumbers {
    /// Streams.
    pub streams: BTreeSet<StreamId>,
    /// Labels of paths.
    pub labels: BTreeSet<Label>,
    /// Labels of bypasses.
    pub bypasses: BTreeSet<Label>,
}

/// The meaning of numbers, as far as they are in use.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RuleMeanings {
    /// The transfer of each stream.
    pub transfers: BTreeMap<StreamId, TransferId>,
    /// The switches on the path of each label.
    pub paths: BTreeMap<Label, Vec<DatapathId>>,
    /// The switches on each bypass, between the two ends of the link that is bypassed.
    pub bypasses: BTreeMap<Label, Vec<DatapathId>>,
}

impl Brain {
    /// What these numbers of rules mean. O(n log n), and O(links) where a bypass is among them.
    pub fn explain(&self, numbers: &RuleNumbers) -> RuleMeanings {
        let RuleNumbers { streams, labels, bypasses } = numbers;
        let transfer = |id: &StreamId| Some((*id, self.transfers.stream(*id)?.transfer));
        let path = |label: &Label| Some((*label, self.fabric.path_of(*label)?.switches().collect()));
        let bypass_paths = (!bypasses.is_empty()).then(|| bypass_paths(&self.fabric));
        let wanted = bypass_paths.into_iter().flatten().filter(|(label, _)| bypasses.contains(label));
        RuleMeanings {
            transfers: streams.iter().filter_map(transfer).collect(),
            paths: labels.iter().filter_map(path).collect(),
            bypasses: wanted.map(|(label, path)| (label, path.switches().collect())).collect(),
        }
    }
}
