//! Data rates in bits per second, parsed and printed as `100Mbit`.

use std::fmt;
use std::str::FromStr;

use crate::{ParseError, serde_as_text};

const FORM: &str = "a rate such as 100Mbit, 2.5Gbit or 64000 (bits per second)";
const UNITS: [(&str, u64); 5] =
    [("Tbit", 1_000_000_000_000), ("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];

/// A data rate in bits per second, in powers of ten.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitsPerSec(pub u64);

impl BitsPerSec {
    /// The rate as a number of bits per second.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl fmt::Display for BitsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Up to three decimals, as `1.544Mbit`; never rounded.
        let exact = |scale: u64| self.0 >= scale && self.0.is_multiple_of((scale / 1_000).max(1));
        let (unit, scale) = *UNITS.iter().find(|(_, scale)| exact(*scale)).unwrap_or(&("bit", 1));
        let thousandths = (self.0 % scale) / (scale / 1_000).max(1);
        match format!("{thousandths:03}").trim_end_matches('0') {
            "" => write!(f, "{}{unit}", self.0 / scale),
            decimals => write!(f, "{}.{decimals}{unit}", self.0 / scale),
        }
    }
}

impl fmt::Debug for BitsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BitsPerSec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text).map(Self).ok_or_else(|| ParseError::new(FORM, text))
    }
}

fn parse(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim_start() {
        "" => 1,
        unit => UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1,
    };
    let bits = number.parse::<f64>().ok()? * scale as f64;
    (bits.is_finite() && bits <= u64::MAX as f64).then_some(bits.round() as u64)
}

serde_as_text!(BitsPerSec);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_and_print_in_the_units_of_tc() {
        assert_eq!("100Mbit".parse(), Ok(BitsPerSec(100_000_000)));
        assert_eq!("2.5 gbit".parse(), Ok(BitsPerSec(2_500_000_000)));
        assert_eq!(BitsPerSec(2_500_000_000).to_string(), "2.5Gbit");
        assert_eq!(BitsPerSec(1_544_000).to_string(), "1.544Mbit");
        assert_eq!(BitsPerSec(1_000_050).to_string(), "1000.05kbit");
        assert_eq!(BitsPerSec(64_001).to_string(), "64.001kbit");
        assert_eq!(BitsPerSec(999).to_string(), "999bit");
        assert_eq!(BitsPerSec(0).to_string(), "0bit");
    }

    #[test]
    fn text_without_a_number_or_with_a_foreign_unit_is_refused() {
        for text in ["", "Mbit", "-1Mbit", "1e9", "10 furlongs", "1.2.3kbit"] {
            assert!(text.parse::<BitsPerSec>().is_err(), "{text}");
        }
    }
}
