//! Facts as lines of JSON: a header with their version, then batches of changes, each of which is confirmed.

use std::sync::Arc;

use braid_control::{FACTS_VERSION, FactChange};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of a line at most. The changes of a batch are fewer; one change may be longer.
pub(super) const MAX_LINE: usize = 1 << 20;
/// Bytes of the changes of a batch.
pub(super) const MAX_BATCH: usize = 128 << 10;

/// The first line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version of facts.
    pub(super) facts: u32,
}

/// A later line.
#[derive(Debug, Deserialize)]
pub(super) struct Batch {
    pub(super) number: u64,
    /// Whether more of the snapshot follows.
    pub(super) more: bool,
    /// Changes, of which some may be of a kind that this member does not know.
    changes: Vec<Value>,
}

/// The answer to a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Applied {
    pub(super) applied: u64,
}

impl Header {
    pub(super) const OWN: Self = Self { facts: FACTS_VERSION };

    /// Why what follows cannot be read, if it cannot.
    pub(super) fn problem(self) -> Option<String> {
        let Self { facts } = self;
        let newer = format!(
            "the leader's facts have version {facts}, and this member reads up to {FACTS_VERSION}: upgrade it. Until \
             then it would begin with what switches say"
        );
        (facts > FACTS_VERSION).then_some(newer)
    }
}

impl Batch {
    /// The changes that this member can read.
    pub(super) fn into_changes(self) -> impl Iterator<Item = FactChange> {
        self.changes.into_iter().filter_map(|change| serde_json::from_value(change).ok())
    }
}

/// A batch of changes, each of which is JSON already.
pub(super) fn batch(number: u64, more: bool, changes: &[Arc<str>]) -> String {
    format!(r#"{{"number":{number},"more":{more},"changes":[{}]}}"#, changes.join(","))
}

/// Changes in batches of a bounded length.
pub(super) fn batches(changes: &[Arc<str>]) -> impl Iterator<Item = &[Arc<str>]> {
    let mut bytes = 0;
    changes.chunk_by(move |last, _| {
        bytes += last.len();
        let fits = bytes < MAX_BATCH;
        if !fits {
            bytes = 0;
        }
        fits
    })
}
