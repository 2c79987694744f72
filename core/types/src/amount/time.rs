//! Lengths of time, to the nanosecond.

use std::time::Duration;

use super::{AmountError, Quantity, pattern};

static TIME: Quantity = Quantity {
    name: "a time",
    units: &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)],
    scale,
    mistake: |unit| (unit == "m").then_some("m could be minutes (min) or milliseconds (ms)"),
};

const SPELLINGS: [(&[&str], u64); 6] = [
    (&["ns", "nsec", "nanosecond", "nanoseconds"], 1),
    (&["us", "µs", "μs", "usec", "microsecond", "microseconds"], 1_000),
    (&["ms", "msec", "millisecond", "milliseconds"], 1_000_000),
    (&["s", "sec", "secs", "second", "seconds"], 1_000_000_000),
    (&["min", "mins", "minute", "minutes"], 60_000_000_000),
    (&["h", "hour", "hours"], 3_600_000_000_000),
];

fn scale(unit: &str) -> Option<u64> {
    SPELLINGS.iter().find(|(names, _)| names.contains(&unit)).map(|(_, scale)| *scale)
}

/// The pattern of the texts that [`parse_time`] reads, for JSON schemas.
pub fn time_pattern() -> String {
    pattern(SPELLINGS.iter().flat_map(|(names, _)| names.iter()))
}

/// A time such as `10ms`, `1.5 s`, `200us` or `2min`.
///
/// # Errors
///
/// [`AmountError`], which says how times are written.
pub fn parse_time(text: &str) -> Result<Duration, AmountError> {
    TIME.parse(text).map(|nanos| Duration::from_nanos(nanos.value))
}

/// A time of at most `most`, which `range` says in words.
///
/// # Errors
///
/// As [`parse_time`], and for longer ones.
pub fn parse_time_within(text: &str, most: Duration, range: &'static str) -> Result<Duration, AmountError> {
    let time = parse_time(text)?;
    if time <= most { Ok(time) } else { Err(AmountError::out_of(&TIME, text, range)) }
}

/// The time with at most four significant digits, for people.
pub fn short_time(time: Duration) -> String {
    text(time, |nanos| TIME.short(nanos))
}

/// The time with all digits, for files and tools. (Saturates at 500 years.)
pub fn exact_time(time: Duration) -> String {
    text(time, |nanos| TIME.exact(nanos))
}

fn text(time: Duration, print: impl Fn(u64) -> String) -> String {
    match u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) {
        0 => "0s".to_owned(),
        nanos => print(nanos),
    }
}
