//! Timestamps of captured packets.

use std::fmt;

use serde::{Serialize, Serializer};

const NANOS: u64 = 1_000_000_000;
const DAY: u64 = 86_400;

/// A timestamp in nanoseconds since 1970 UTC, printed and serialised as in RFC 3339.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Timestamp(u64);

impl Timestamp {
    /// `seconds` since 1970, and `units` of which a second has `per_second`.
    ///
    /// Saturates. Without units in a second, the units are seconds.
    pub fn new(seconds: u64, units: u64, per_second: u64) -> Self {
        let nanos = u128::from(units).saturating_mul(u128::from(NANOS));
        let nanos = nanos.checked_div(per_second.max(1).into()).and_then(|nanos| u64::try_from(nanos).ok());
        let nanos = nanos.unwrap_or(u64::MAX);
        Self(seconds.saturating_mul(NANOS).saturating_add(nanos))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0 / NANOS, self.0 % NANOS);
        let ((year, month, day), second) = (date(seconds / DAY), seconds % DAY);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Year, month and day of a number of days since 1970-01-01. Hinnant's `civil_from_days`.
#[cfg_attr(not(test), expect(clippy::arithmetic_side_effects, reason = "a u64 of nanoseconds has few days"))]
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March, so that the leap day is the last of them; eras are of 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year_of_era + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_print_as_utc() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000000Z"),
            (951_868_799, "2000-02-29T23:59:59.000000000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000000Z"),
        ] {
            assert_eq!(Timestamp::new(seconds, 0, 1).to_string(), text);
        }
    }

    #[test]
    fn fractions_of_any_unit_become_nanoseconds() {
        assert_eq!(Timestamp::new(1, 250_000, 1_000_000), Timestamp(1_250_000_000));
        assert_eq!(Timestamp::new(1, 1 << 31, 1 << 32), Timestamp(1_500_000_000));
        assert_eq!(Timestamp::new(u64::MAX, u64::MAX, 0), Timestamp(u64::MAX));
    }
}
