//! Policy values of spraying: when to resequence, and the greatest delay imbalance.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// When the packets of a sprayed connection are resequenced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resequence {
    /// Always: queues make paths unequal that are equal without load.
    #[default]
    Always,
    /// When the delays of the paths differ by more than the gate allows.
    Unequal,
    /// Never: the hosts receive packets in the order of arrival.
    Never,
}

/// A maximum delay imbalance, in thousandths: 0 to 500.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Imbalance(u16);

/// Text, or a number, that is not a value of a policy.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SprayingError {
    /// It is not a [`Resequence`].
    #[error("{0:?} is not always, unequal or never")]
    Resequence(String),
    /// It is not an [`Imbalance`].
    #[error("{0} is not an imbalance from 0 to 0.5")]
    Imbalance(f64),
}

impl Imbalance {
    /// As a number from 0 to 0.5.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

impl TryFrom<f64> for Imbalance {
    type Error = SprayingError;

    fn try_from(share: f64) -> Result<Self, SprayingError> {
        let valid = (0.0..=0.5).contains(&share);
        // Between 0 and 500, so nothing is cut.
        valid.then(|| Self((share * 1_000.0).round() as u16)).ok_or(SprayingError::Imbalance(share))
    }
}

impl FromStr for Resequence {
    type Err = SprayingError;

    fn from_str(text: &str) -> Result<Self, SprayingError> {
        match text {
            "always" => Ok(Self::Always),
            "unequal" => Ok(Self::Unequal),
            "never" => Ok(Self::Never),
            _ => Err(SprayingError::Resequence(text.to_owned())),
        }
    }
}

impl fmt::Display for Resequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Always => "always",
            Self::Unequal => "unequal",
            Self::Never => "never",
        })
    }
}

impl Serialize for Imbalance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.share())
    }
}
