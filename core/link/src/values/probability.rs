//! A probability, parsed and printed as a percentage.

use std::fmt;
use std::str::FromStr;

use braid_types::{ParseError, amount_schema, serde_as_text, with_schema};

use super::split_number;

const FORM: &str = "a share from 0% to 100%, such as 1% or 0.05%";

/// A probability, parsed and printed as `1%`.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Probability(f64);

impl Probability {
    /// Probability zero.
    pub const ZERO: Self = Self(0.0);

    /// The probability `share`; `None` unless it is from 0 to 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// The value from 0 to 1.
    pub const fn share(self) -> f64 {
        self.0
    }
}

impl FromStr for Probability {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let share = match split_number(text) {
            // Rounds to a millionth of a percent, which hides binary fractions.
            Some((percent, "%")) => Some((percent * 1e6).round() / 1e8),
            Some((0.0, "")) => Some(0.0),
            _ => None,
        };
        share.and_then(Self::new).ok_or_else(|| ParseError::new(FORM, text))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", (self.0 * 1e8).round() / 1e6)
    }
}

serde_as_text!(Probability);
with_schema!(Probability, amount_schema(FORM, r"(?:100|\d{1,2})(?:\.\d*)? *%|\.\d+ *%"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_read_and_print_in_percent() {
        for (text, share) in [("1%", 0.01), ("0.07%", 0.0007), ("100 %", 1.0), ("0%", 0.0), ("0", 0.0)] {
            assert_eq!(text.parse::<Probability>().map(Probability::share), Ok(share));
        }
        for text in ["0%", "0.07%", "33.3%", "100%"] {
            assert_eq!(text.parse::<Probability>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_a_share_is_refused() {
        for text in ["", "%", "1", "0.5", "101%", "-1%", "one%", "1%%"] {
            assert!(text.parse::<Probability>().is_err(), "{text}");
        }
        assert_eq!(Probability::new(f64::NAN), None);
    }
}
