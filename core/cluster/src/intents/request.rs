//! Intents as the store has them: what is asked, what is answered, what is reported.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::Term;

/// The bounds of intents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntentSettings {
    /// The interval in which the store is compared with what was promised.
    pub interval: Duration,
    /// A request to the store without an answer for this long has failed.
    pub timeout: Duration,
    /// An intent that the store has not kept for this long is given up.
    pub patience: Duration,
    /// The pause after a request that failed.
    pub retry: Duration,
    /// The most intents.
    pub max_entries: usize,
    /// The most bytes of one.
    pub max_bytes: usize,
}

impl Default for IntentSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(2),
            timeout: Duration::from_millis(1_200),
            patience: Duration::from_millis(2_500),
            retry: Duration::from_millis(100),
            max_entries: 1_024,
            max_bytes: 4 << 10,
        }
    }
}

/// Tells intents that wait for the store apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct IntentId(pub u64);

/// Values by key; as a change, `None` removes the key.
pub type Entries = BTreeMap<String, String>;

/// What the leader asks of the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IntentRequest {
    /// Read all intents and their owner.
    Read,
    /// In one transaction: if this member leads in this term, and `owner` has this revision, set `owner` to the term and change
    /// these keys.
    Write {
        /// The term of this member.
        term: Term,
        /// The revision of `owner` that was read; 0 if there was none.
        revision: u64,
        /// New values; `None` where a key is removed.
        changes: BTreeMap<String, Option<String>>,
    },
}

/// What the store answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IntentAnswer {
    /// To a read.
    View(IntentView),
    /// It is written, in this revision.
    Written(u64),
    /// It is not written, since a condition did not hold.
    Refused,
}

/// All intents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IntentView {
    /// The term of the leader that wrote last, and the revision.
    pub owner: Option<(Term, u64)>,
    /// Their values by key.
    pub entries: Entries,
}

/// Why an intent is not kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum IntentError {
    /// This member does not lead.
    #[error("this member does not lead the cluster")]
    NotLeader,
    /// The store has not kept it in time.
    #[error("the cluster's store has not kept it in time")]
    NoAnswer,
    /// There are too many.
    #[error("the cluster keeps {0}, which is the limit")]
    Full(usize),
    /// It is too long.
    #[error("it has {0} bytes: {1} may be")]
    TooLong(usize, usize),
}

/// A report about intents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IntentEvent {
    /// These are all that the cluster has promised, those that wait included: earlier ones of this member do not hold.
    Restored(Entries),
    /// The store has it.
    Kept(IntentId),
    /// The store may have it or not; this member will see to it that it has not.
    NotKept(IntentId, IntentError),
}
