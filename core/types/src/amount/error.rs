//! Why a text is no amount, and how to write it.

use std::fmt;

use super::Quantity;

/// The error of parsing a rate, a time or a size from text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct AmountError {
    pub(super) quantity: &'static Quantity,
    pub(super) text: String,
    pub(super) problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    NoNumber,
    NoUnit,
    UnknownUnit(String),
    TooLarge,
    /// A part of the smallest unit.
    Fraction,
    /// Beyond what the user of the amount takes.
    OutOf(&'static str),
}

impl AmountError {
    /// The same text refused since the amount is not in `range`, such as "0s to 60s".
    pub(super) fn out_of(quantity: &'static Quantity, text: &str, range: &'static str) -> Self {
        Self { quantity, text: text.trim().to_owned(), problem: Problem::OutOf(range) }
    }
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quantity, text, problem } = self;
        let name = quantity.name;
        let units = |prefix: &str| units(quantity, prefix);
        match problem {
            Problem::NoNumber => {
                write!(f, "{text:?} is not {name}: write a number with a unit: {}", units(""))
            }
            Problem::NoUnit => write!(f, "{text:?} lacks a unit: write {}", units(text)),
            Problem::UnknownUnit(unit) => match (quantity.mistake)(unit) {
                Some(mistake) => write!(f, "{text:?} is not {name}: {mistake}: write {}", units("")),
                None => write!(f, "{text:?} is not {name}: there is no unit {unit:?}: write {}", units("")),
            },
            Problem::TooLarge => write!(f, "{text:?} is too large"),
            Problem::Fraction => {
                write!(f, "{text:?} is not {name}: it is not a whole number of {}", units_least(quantity))
            }
            Problem::OutOf(range) => write!(f, "{text:?} is out of range: write {range}"),
        }
    }
}

/// `100bit, 100kbit or 100Mbit`; the smallest first.
fn units(quantity: &Quantity, prefix: &str) -> String {
    let mut all: Vec<_> = quantity.units.iter().rev().map(|(unit, _)| format!("{prefix}{unit}")).collect();
    let last = all.pop().unwrap_or_default();
    format!("{} or {last}", all.join(", "))
}

fn units_least(quantity: &Quantity) -> &'static str {
    quantity.units.last().map_or("", |(unit, _)| *unit)
}
