//! Conditions on items of lists: `filter` of the HTTP API and `--filter` of the command.
//!
//! The page has the same language (`web/src/domain/filter.ts`), and both pass the same cases (`web/tests/filter.json`). An
//! item is read once, whatever the number of conditions, and nothing of it is kept.
//!
//! ```
//! use braid_filter::Filter;
//! use serde_json::Deserializer;
//!
//! let filter: Filter = "kind=mptcp sent_bps>10M".parse()?;
//! let fits = |item: &str| filter.fits(&mut Deserializer::from_str(item));
//! assert!(fits(r#"{"kind":"mptcp","streams":[{"sent_bps":20000000}]}"#));
//! assert!(!fits(r#"{"kind":"mptcp","streams":[]}"#));
//! # Ok::<(), braid_filter::FilterError>(())
//! ```

mod leaves;
mod read;

use std::borrow::Cow;

use serde::Deserializer;
use serde::de::DeserializeSeed;

use leaves::Leaves;
pub use read::FilterError;

/// Conditions that all have to hold: `kind=mptcp sent_bps>10M -path=3 "10.0.0.1"`.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Filter {
    text: String,
    conditions: Vec<Condition>,
}

#[derive(Clone, PartialEq, Debug)]
struct Condition {
    negated: bool,
    test: Test,
}

#[derive(Clone, PartialEq, Debug)]
enum Test {
    /// The text, in small letters, stands in any value.
    Text(String),
    /// A value of the field compares so; of a field that is a list, any.
    Field { path: Vec<String>, operator: Operator, value: String },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Equal,
    Contains,
    Less,
    More,
    AtMost,
    AtLeast,
}

impl Filter {
    /// Whether the item meets all conditions; one that cannot be read does not. O(length of the item · conditions).
    pub fn fits<'de, D: Deserializer<'de>>(&self, item: D) -> bool {
        let mut held = vec![false; self.conditions.len()];
        let mut visit = |at: &[Cow<'de, str>], leaf: &str| {
            for (held, condition) in held.iter_mut().zip(&self.conditions) {
                *held = *held || condition.test.holds(at, leaf);
            }
        };
        let read = Leaves { at: &mut Vec::new(), visit: &mut visit }.deserialize(item);
        let meets = |(held, condition): (&bool, &Condition)| *held != condition.negated;
        read.is_ok() && held.iter().zip(&self.conditions).all(meets)
    }

    /// Whether every item fits.
    pub const fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The conditions as they were written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Test {
    /// Whether a value that is no list and no object meets it; `at` has the names that lead there.
    fn holds(&self, at: &[Cow<'_, str>], leaf: &str) -> bool {
        match self {
            Self::Text(text) => contains(leaf, text),
            Self::Field { path, operator, value } => {
                let is_named =
                    at.len() >= path.len() && path.iter().rev().zip(at.iter().rev()).all(|(a, b)| a == b);
                is_named && operator.compares(leaf, value)
            }
        }
    }
}

impl Operator {
    fn compares(self, leaf: &str, value: &str) -> bool {
        let numbers = || number(leaf).zip(number(value));
        match self {
            Self::Contains => contains(leaf, value),
            Self::Equal => {
                leaf.eq_ignore_ascii_case(value)
                    || short(leaf).eq_ignore_ascii_case(short(value))
                    || numbers().is_some_and(|(a, b)| a == b)
            }
            Self::Less => numbers().is_some_and(|(a, b)| a < b),
            Self::More => numbers().is_some_and(|(a, b)| a > b),
            Self::AtMost => numbers().is_some_and(|(a, b)| a <= b),
            Self::AtLeast => numbers().is_some_and(|(a, b)| a >= b),
        }
    }
}

/// Whether a text in small letters is part of another, however that is written.
fn contains(leaf: &str, text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    if !leaf.is_ascii() {
        return leaf.to_lowercase().contains(text);
    }
    leaf.as_bytes().windows(text.len()).any(|part| part.eq_ignore_ascii_case(text.as_bytes()))
}

/// A datapath id without leading zeros.
fn short(text: &str) -> &str {
    let zeros = text.len() - text.trim_start_matches('0').len();
    if text.len() == 16 { text.get(zeros.min(15)..).unwrap_or(text) } else { text }
}

/// A number, in thousands if `k` follows, and so on: `10M`.
fn number(text: &str) -> Option<f64> {
    let scales = [('k', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12)];
    let scale = scales.iter().find(|(unit, _)| text.ends_with(*unit));
    let digits = scale.map_or(text, |(unit, _)| text.trim_end_matches(*unit));
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || b".-+eE".contains(&byte));
    digits.parse::<f64>().ok().filter(|_| plain).map(|value| value * scale.map_or(1.0, |(_, scale)| *scale))
}

#[cfg(test)]
mod tests;
