//! Values in files. A number without a unit is what the formats mean by it: bit/s, or seconds. With a unit they are
//! amounts as everywhere.

use std::time::Duration;

use braid_types::{AmountError, BitsPerSec, parse_time_within};

/// The longest delay of a link.
const MAX_DELAY: Duration = Duration::from_secs(3_600);

/// The base rates of SONET and SDH by prefix.
const OPTICAL: [(&str, f64); 2] = [("OC", 51.84e6), ("STM", 155.52e6)];

/// A rate: a number of bit/s, or text such as `100Mbit`, `2.5 Gbit/s`, `10Gbps`, `OC-48`, `10GbE`; a `B` would mean
/// bytes.
pub(super) fn rate(text: &str) -> Result<BitsPerSec, String> {
    if let Some(number) = number(text) {
        return rate_of(number);
    }
    let text = text.trim();
    optical(text)
        .or_else(|| ethernet(text))
        .map_or_else(|| text.parse(), Ok)
        .map_err(|error: AmountError| format!("{error}; or a number of bit/s"))
}

/// A SONET or SDH rate, such as `OC-192c` or `STM16`.
fn optical(text: &str) -> Option<BitsPerSec> {
    let (rest, unit) = OPTICAL.iter().find_map(|(name, unit)| Some((text.strip_prefix(name)?, unit)))?;
    let level = rest.strip_prefix(['-', ' ']).unwrap_or(rest);
    let level: u16 = level.strip_suffix('c').unwrap_or(level).parse().ok()?;
    rate_of(f64::from(level) * unit).ok()
}

/// An Ethernet rate, such as `10GbE`, `100 GigE` or `GE`.
fn ethernet(text: &str) -> Option<BitsPerSec> {
    let gigabits = ["GbE", "GigE", "GE"].iter().find_map(|unit| text.strip_suffix(unit))?.trim_end();
    let gigabits = if gigabits.is_empty() { Some(1.0) } else { number(gigabits) };
    rate_of(gigabits? * 1e9).ok()
}

/// A number of bit/s.
pub(super) fn rate_of(bits: f64) -> Result<BitsPerSec, String> {
    if (0.0..u64::MAX as f64).contains(&bits) {
        return Ok(BitsPerSec(bits.round() as u64));
    }
    Err(format!("{bits} bit/s is not a rate: that is 0 or more, and below 2^64"))
}

/// A link's delay: a number of seconds, or one with a unit such as `10ms`, `5us`, `1.5 s`; an hour at most.
pub(super) fn delay(text: &str) -> Result<Duration, String> {
    match number(text) {
        Some(seconds) => delay_of(seconds),
        None => parse_time_within(text, MAX_DELAY, "at most 3600s")
            .map_err(|error| format!("{error}; or a number of seconds")),
    }
}

/// A number of seconds.
pub(super) fn delay_of(seconds: f64) -> Result<Duration, String> {
    let most = MAX_DELAY.as_secs_f64();
    if (0.0..=most).contains(&seconds) {
        return Ok(Duration::from_nanos((seconds * 1e9).round() as u64));
    }
    Err(format!("{seconds} s is not a delay: that is 0 to {most} s; for less than seconds write 10ms"))
}

/// A decimal number, as XML Schema and JSON write it; it may be infinite or NaN.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_by_the_names_of_what_carries_them() {
        for (text, rate_of_it) in [
            ("OC-3", 155_520_000),
            ("OC48c", 2_488_320_000),
            ("STM-64", 9_953_280_000),
            ("10GbE", 10_000_000_000),
            ("100 GigE", 100_000_000_000),
            ("GE", 1_000_000_000),
        ] {
            assert_eq!(rate(text), Ok(BitsPerSec(rate_of_it)), "{text}");
        }
    }

    #[test]
    fn rates_are_read_as_the_field_writes_them() {
        for text in
            ["10Gbit", "10 Gbit/s", "10Gbps", "10G", "10 Gb/s", "10000 Mbits/s", "1e10", " 10000000000.0 "]
        {
            assert_eq!(rate(text), Ok(BitsPerSec(10_000_000_000)), "{text}");
        }
        for text in [
            "", "fast", "-1", "NaN", "inf", "1e30", "10GB/s", "-5Mbit", "9b", "OC-", "OC-x", "STM--1",
            "-1GbE", "badGE",
        ] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn delays_are_seconds_or_have_a_unit() {
        for text in ["0.01", "10ms", "10 ms", "10000us", "10000 µs", "10000000ns", "0.01s"] {
            assert_eq!(delay(text), Ok(Duration::from_millis(10)), "{text}");
        }
        for text in ["", "soon", "-1ms", "NaN", "infs", "3601", "61min", "ms", "1 m"] {
            assert!(delay(text).is_err(), "{text}");
        }
    }
}
