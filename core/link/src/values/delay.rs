//! A delay of at most one minute, parsed and printed as `20ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use braid_types::{ParseError, serde_as_text};

use super::split_number;

const FORM: &str = "a time of at most 60s, such as 20ms, 1.5s or 200us";
const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
/// The longest delay: longer ones only fill memory with frames in flight.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// A delay of at most a minute, parsed and printed as `20ms`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Delay(Duration);

impl Delay {
    /// No delay.
    pub const ZERO: Self = Self(Duration::ZERO);

    /// A delay of `millis` milliseconds, at most a minute.
    pub const fn from_millis(millis: u64) -> Self {
        let most = MAX_DELAY.as_millis() as u64;
        Self(Duration::from_millis(if millis < most { millis } else { most }))
    }

    /// A delay of `duration`; `None` above a minute.
    pub fn new(duration: Duration) -> Option<Self> {
        (duration <= MAX_DELAY).then_some(Self(duration))
    }

    /// The delay as a `Duration`.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Delay {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text).and_then(Self::new).ok_or_else(|| ParseError::new(FORM, text))
    }
}

fn parse(text: &str) -> Option<Duration> {
    let (number, unit) = split_number(text)?;
    let scale = match (unit, number) {
        ("", 0.0) => 1,
        ("µs", _) => 1_000,
        _ => UNITS.iter().find(|(name, _)| *name == unit)?.1,
    };
    let nanos = number * scale as f64;
    // Well within what a float holds exactly: a minute is 2^36 ns.
    (nanos <= MAX_DELAY.as_nanos() as f64).then(|| Duration::from_nanos(nanos.round() as u64))
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        if nanos == 0 {
            return f.write_str("0ms");
        }
        // The largest unit of which there is at least one: 1.5ms, not 1500us.
        let (unit, scale) = UNITS.iter().find(|(_, scale)| nanos >= (*scale).into()).unwrap_or(&UNITS[3]);
        write!(f, "{}{unit}", nanos as f64 / *scale as f64)
    }
}

serde_as_text!(Delay);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_and_print_in_the_unit_that_people_use() {
        for (text, nanos, printed) in [
            ("20ms", 20_000_000, "20ms"),
            ("1.5s", 1_500_000_000, "1.5s"),
            ("200us", 200_000, "200us"),
            ("200 µs", 200_000, "200us"),
            ("1500us", 1_500_000, "1.5ms"),
            ("7ns", 7, "7ns"),
            ("0", 0, "0ms"),
            ("0ms", 0, "0ms"),
        ] {
            let delay = text.parse::<Delay>().unwrap();
            assert_eq!((delay.duration(), delay.to_string()), (Duration::from_nanos(nanos), printed.into()));
            assert_eq!(printed.parse(), Ok(delay));
        }
    }

    #[test]
    fn what_is_no_time_or_too_long_is_refused() {
        for text in ["", "ms", "20", "-1ms", "1e3ms", "61s", "20 parsecs", "1.2.3s"] {
            assert!(text.parse::<Delay>().is_err(), "{text}");
        }
    }
}
