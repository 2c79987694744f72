use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How streams are dealt over the paths of an assignment; as text `weight`, `round-robin`, `shortest` or `path:2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DealBy {
    /// In proportion to what each path can use.
    #[default]
    Weight,
    /// To all in turn.
    RoundRobin,
    /// All on the shortest.
    Shortest,
    /// All on the one at this place, the shortest being at 0: to measure it.
    Path(usize),
}

/// Text that is no way to deal.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not weight, round-robin, shortest, or the number of a path such as path:2, from 0")]
pub struct DealByError(String);

impl FromStr for DealBy {
    type Err = DealByError;

    fn from_str(text: &str) -> Result<Self, DealByError> {
        let number = text.strip_prefix("path:").and_then(|number| number.parse().ok());
        match (text, number) {
            ("weight", _) => Ok(Self::Weight),
            ("round-robin", _) => Ok(Self::RoundRobin),
            ("shortest", _) => Ok(Self::Shortest),
            (_, Some(number)) => Ok(Self::Path(number)),
            _ => Err(DealByError(text.chars().take(32).collect())),
        }
    }
}

impl fmt::Display for DealBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weight => f.write_str("weight"),
            Self::RoundRobin => f.write_str("round-robin"),
            Self::Shortest => f.write_str("shortest"),
            Self::Path(number) => write!(f, "path:{number}"),
        }
    }
}

impl TryFrom<String> for DealBy {
    type Error = DealByError;

    fn try_from(text: String) -> Result<Self, DealByError> {
        text.parse()
    }
}

impl From<DealBy> for String {
    fn from(deal: DealBy) -> Self {
        deal.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_deal_read_back_as_written() {
        for deal in [DealBy::Weight, DealBy::RoundRobin, DealBy::Shortest, DealBy::Path(0), DealBy::Path(15)]
        {
            assert_eq!(deal.to_string().parse(), Ok(deal));
        }
        for text in ["", "path:", "path:-1", "path:x", "Weight", "path: 1"] {
            assert!(text.parse::<DealBy>().is_err(), "{text}");
        }
    }
}
