//! Values as files write them: numbers, or text with a unit.

use std::time::Duration;

use braid_types::BitsPerSec;

/// The longest delay of a link.
const MAX_DELAY_SECONDS: f64 = 3_600.0;
const SECONDS: [(&str, f64); 6] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// A rate: a number of bit/s, or text such as `100Mbit`, `2.5 Gbit/s`, `10Gbps`; a `B` would mean bytes.
pub(super) fn rate(text: &str) -> Result<BitsPerSec, String> {
    if let Some(number) = number(text) {
        return rate_of(number);
    }
    let text = text.trim();
    let short = text.strip_suffix("/s").or_else(|| text.strip_suffix("ps")).unwrap_or(text);
    let bits = short.strip_suffix("bits").or_else(|| short.strip_suffix("bit"));
    let bits = bits.or_else(|| short.strip_suffix('b').filter(|_| short != text));
    let rate = bits.and_then(|bits| format!("{bits}bit").parse().ok());
    rate.ok_or_else(|| format!("{text:?} is not a rate: write 100Mbit, 2.5Gbit/s or a number of bit/s"))
}

/// A number of bit/s.
pub(super) fn rate_of(bits: f64) -> Result<BitsPerSec, String> {
    if (0.0..u64::MAX as f64).contains(&bits) {
        return Ok(BitsPerSec(bits.round() as u64));
    }
    Err(format!("{bits} bit/s is not a rate: that is 0 or more, and below 2^64"))
}

/// A link's delay: a number of seconds, or one with a unit such as `10ms`, `5us`, `1.5 s`; an hour at most.
///
/// # Errors
///
/// A text that says what is wrong and how delays are written.
pub fn delay(text: &str) -> Result<Duration, String> {
    if let Some(seconds) = number(text) {
        return delay_of(seconds);
    }
    let text = text.trim();
    let with_unit = SECONDS.iter().find_map(|(unit, scale)| Some((number(text.strip_suffix(unit)?)?, scale)));
    let (value, scale) = with_unit
        .ok_or_else(|| format!("{text:?} is not a delay: write 10ms, 5us or a number of seconds"))?;
    delay_of(value * scale)
}

/// A number of seconds.
pub(super) fn delay_of(seconds: f64) -> Result<Duration, String> {
    if (0.0..=MAX_DELAY_SECONDS).contains(&seconds) {
        return Ok(Duration::from_nanos((seconds * 1e9).round() as u64));
    }
    Err(format!(
        "{seconds} s is not a delay: that is 0 to {MAX_DELAY_SECONDS} s; for less than seconds write 10ms"
    ))
}

/// A decimal number, as XML Schema and JSON write it; it may be infinite or NaN.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_the_field_writes_them() {
        for text in ["10Gbit", "10 Gbit/s", "10Gbps", "10 Gb/s", "10000 Mbits/s", "1e10", " 10000000000.0 "] {
            assert_eq!(rate(text), Ok(BitsPerSec(10_000_000_000)), "{text}");
        }
        for text in ["", "fast", "-1", "NaN", "inf", "1e30", "10GB/s", "10G", "-5Mbit", "STM-4", "9b"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn delays_are_seconds_or_have_a_unit() {
        for text in ["0.01", "10ms", "10 ms", "10000us", "10000 µs", "1e7ns", "0.01s"] {
            assert_eq!(delay(text), Ok(Duration::from_millis(10)), "{text}");
        }
        for text in ["", "soon", "-1ms", "NaN", "infs", "3601", "ms", "1 min"] {
            assert!(delay(text).is_err(), "{text}");
        }
    }
}
