//! Identifiers of transfers and streams.

use std::fmt;

use braid_types::Number;
use serde::{Deserialize, Serialize};

/// Numbers a transfer; never used twice by one controller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransferId(pub u64);

impl fmt::Display for TransferId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Numbers a stream; never used twice by one controller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StreamId(pub u64);

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Number for TransferId {
    fn number(self) -> u64 {
        self.0
    }
}

impl Number for StreamId {
    fn number(self) -> u64 {
        self.0
    }
}
