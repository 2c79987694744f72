//! A delay of at most one minute, parsed and printed as `20ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use braid_types::{
    AmountError, amount_schema, exact_time, parse_time_within, serde_as_exact_text, short_time, time_pattern,
    with_schema,
};

/// The longest delay: longer ones only fill memory with frames in flight.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// A delay of at most a minute. Text: `20ms`; `Display` rounds to four digits, and [`Self::exact`] does not.
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

    /// All digits, for files and tools.
    pub fn exact(self) -> String {
        self.text(exact_time)
    }

    fn text(self, print: fn(Duration) -> String) -> String {
        if self.0.is_zero() { "0ms".to_owned() } else { print(self.0) }
    }

    /// The delay as a `Duration`.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Delay {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        parse_time_within(text, MAX_DELAY, "at most 60s").map(Self)
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(short_time))
    }
}

serde_as_exact_text!(Delay);
with_schema!(Delay, amount_schema("a time of at most 60s, such as 20ms", &time_pattern()));

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
            ("286.115us", 286_115, "286.1us"),
            ("0", 0, "0ms"),
            ("0ms", 0, "0ms"),
        ] {
            let delay = text.parse::<Delay>().unwrap();
            assert_eq!((delay.duration(), delay.to_string()), (Duration::from_nanos(nanos), printed.into()));
            assert_eq!(delay.exact().parse(), Ok(delay));
        }
    }

    #[test]
    fn what_is_no_time_or_too_long_is_refused() {
        for text in ["", "ms", "20", "-1ms", "1e3ms", "61s", "20 parsecs", "1.2.3s"] {
            assert!(text.parse::<Delay>().is_err(), "{text}");
        }
    }
}
