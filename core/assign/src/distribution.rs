//! The distributions that users can choose: by weight, round robin, shortest path only, or one fixed path.

use std::fmt;
use std::str::FromStr;

use braid_types::{text_schema, with_schema};
use serde::{Deserialize, Serialize};

use crate::next_path::next_path;
use crate::plan::{Candidate, Plan, plan};

/// How streams are distributed over the paths of an assignment; as text `weight`, `round-robin`, `shortest` or `path:2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Distribution {
    /// In proportion to what each path can use.
    #[default]
    Weight,
    /// To all paths in turn.
    RoundRobin,
    /// All on the shortest path.
    Shortest,
    /// All on the path at this index, the shortest having 0: to measure it.
    Path(usize),
}

/// Text that is no distribution.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not weight, round-robin, shortest, or the number of a path such as path:2, from 0")]
pub struct DistributionError(String);

impl Distribution {
    /// The weights of these paths, given shortest first, for so many `expected` streams.
    ///
    /// A path that is measured alone is weighed as if there were no other.
    pub fn plan(self, paths: &[Candidate], expected: Option<usize>) -> Plan {
        match self {
            Self::Path(number) => alone(paths, number),
            Self::Weight => plan(paths, expected),
            Self::RoundRobin | Self::Shortest => plan(paths, None),
        }
    }

    /// The path of the next stream, where `held[i]` streams are on path i, by the weights of its plan; `None` if no
    /// allowed path has a weight.
    pub fn next(self, weights: &[f64], held: &[usize]) -> Option<usize> {
        let has_weight = |weight: &f64| *weight > 0.0;
        match self {
            Self::Weight => next_path(weights, held),
            Self::RoundRobin => {
                let equal: Vec<_> =
                    weights.iter().map(|weight| f64::from(u8::from(has_weight(weight)))).collect();
                next_path(&equal, held)
            }
            Self::Shortest => weights.iter().position(has_weight),
            Self::Path(number) => weights.get(number).filter(|weight| has_weight(weight)).map(|_| number),
        }
    }
}

/// The plan for one path, as if there were no other.
fn alone(paths: &[Candidate], number: usize) -> Plan {
    let nothing = || vec![0.0; paths.len()];
    let mut all = Plan { weights: nothing(), rates: nothing() };
    if let Some(path) = paths.get(number) {
        let Plan { weights, rates } = plan(std::slice::from_ref(path), None);
        (all.weights[number], all.rates[number]) = (weights[0], rates[0]);
    }
    all
}

impl FromStr for Distribution {
    type Err = DistributionError;

    fn from_str(text: &str) -> Result<Self, DistributionError> {
        let number = text.strip_prefix("path:").and_then(|number| number.parse().ok());
        match (text, number) {
            ("weight", _) => Ok(Self::Weight),
            ("round-robin", _) => Ok(Self::RoundRobin),
            ("shortest", _) => Ok(Self::Shortest),
            (_, Some(number)) => Ok(Self::Path(number)),
            _ => Err(DistributionError(text.chars().take(32).collect())),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weight => f.write_str("weight"),
            Self::RoundRobin => f.write_str("round-robin"),
            Self::Shortest => f.write_str("shortest"),
            Self::Path(number) => write!(f, "path:{number}"),
        }
    }
}

with_schema!(
    Distribution,
    text_schema(
        "weight, round-robin, shortest, or path:NUMBER from 0",
        r"weight|round-robin|shortest|path:\+?\d+"
    )
);

impl TryFrom<String> for Distribution {
    type Error = DistributionError;

    fn try_from(text: String) -> Result<Self, DistributionError> {
        text.parse()
    }
}

impl From<Distribution> for String {
    fn from(distribution: Distribution) -> Self {
        distribution.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_deal_takes_its_paths_in_its_order() {
        let distributed = |distribution: Distribution, weights: [f64; 3]| {
            let mut held = [0; 3];
            for _ in 0..6 {
                if let Some(path) = distribution.next(&weights, &held) {
                    held[path] += 1;
                }
            }
            held
        };
        let weights = [1.0, 0.0, 5.0];
        assert_eq!(distributed(Distribution::Weight, weights), [1, 0, 5]);
        assert_eq!(distributed(Distribution::RoundRobin, weights), [3, 0, 3]);
        assert_eq!(distributed(Distribution::Shortest, [0.0, 2.0, 5.0]), [0, 6, 0]);
        assert_eq!(distributed(Distribution::Path(2), weights), [0, 0, 6]);
        assert_eq!([1, 9].map(|number| distributed(Distribution::Path(number), weights)), [[0; 3]; 2]);
    }

    #[test]
    fn ways_to_deal_read_back_as_written() {
        for distribution in [
            Distribution::Weight,
            Distribution::RoundRobin,
            Distribution::Shortest,
            Distribution::Path(0),
            Distribution::Path(15),
        ] {
            assert_eq!(distribution.to_string().parse(), Ok(distribution));
        }
        for text in ["", "path:", "path:-1", "path:x", "Weight", "path: 1"] {
            assert!(text.parse::<Distribution>().is_err(), "{text}");
        }
    }
}
