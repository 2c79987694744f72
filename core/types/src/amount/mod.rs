//! Rates, times and sizes as text: one parser and one printer for everything that people write and read.
//!
//! An amount is a decimal number and a unit. A bare number is refused, except zero, which is the same in every unit.
//! Two printers: the short one rounds to four digits, for people; the exact one loses nothing, for files and tools.

mod error;
mod number;
mod rate;
mod size;
mod time;

pub use error::AmountError;
use error::Problem;
pub use rate::BitsPerSec;
pub use size::{exact_size, parse_size, short_size, size_pattern};
pub use time::{exact_time, parse_time, parse_time_within, short_time, time_pattern};

/// The pattern of an amount in these units, of which each is a pattern itself; for JSON schemas.
fn pattern<T: AsRef<str>>(units: impl IntoIterator<Item = T>) -> String {
    let units: Vec<_> = units.into_iter().map(|unit| unit.as_ref().to_owned()).collect();
    format!(r"(?:\d+\.?\d*|\.\d+) *(?:{})", units.join("|"))
}

/// What is measured, with the units that it is printed in.
#[derive(Debug)]
struct Quantity {
    /// With its article.
    name: &'static str,
    /// The largest first; each a power of ten of the last.
    units: &'static [(&'static str, u64)],
    /// The scale of a unit in any of its spellings.
    scale: fn(&str) -> Option<u64>,
    /// Why a unit that is often taken for one of these is none.
    mistake: fn(&str) -> Option<&'static str>,
}

/// There is one of each name.
impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Quantity {}

impl Quantity {
    /// The amount in the smallest unit, rounded; and whether nothing was lost by that.
    fn parse(&'static self, text: &str) -> Result<number::Scaled, AmountError> {
        let refuse = |problem| AmountError { quantity: self, text: text.trim().to_owned(), problem };
        let (number, unit) = number::split(text.trim());
        if !number::is_decimal(number) {
            return Err(refuse(Problem::NoNumber));
        }
        let scale = match unit {
            "" if number::is_zero(number) => 1,
            "" => return Err(refuse(Problem::NoUnit)),
            unit => (self.scale)(unit).ok_or_else(|| refuse(Problem::UnknownUnit(unit.to_owned())))?,
        };
        number::scaled(number, scale).ok_or_else(|| refuse(Problem::TooLarge))
    }

    /// At most four significant digits, in the largest unit of which there is at least one.
    fn short(&self, amount: u64) -> String {
        self.exact(number::rounded(amount))
    }

    /// All digits.
    fn exact(&self, amount: u64) -> String {
        let last = self.units.last().copied().unwrap_or(("", 1));
        let (unit, scale) = self.units.iter().copied().find(|(_, scale)| amount >= *scale).unwrap_or(last);
        let digits = scale.ilog10() as usize;
        let rest = format!("{:0digits$}", amount % scale);
        match rest.trim_end_matches('0') {
            "" => format!("{}{unit}", amount / scale),
            rest => format!("{}.{rest}{unit}", amount / scale),
        }
    }
}

#[cfg(test)]
mod tests;
