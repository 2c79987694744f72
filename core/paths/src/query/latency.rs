use std::fmt;
use std::str::FromStr;
use std::time::Duration;

// The units that end with the letter of another one go first.
const UNITS: [(&str, f64); 5] = [("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9), ("s", 1.0)];
const PRINTED: [(&str, u128); 3] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];

/// How long something takes on the way. Text: `10ms`, `500us`, `1.5s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Latency(pub Duration);

/// Text that is not a latency.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a latency such as 10ms, 500us or 1.5s")]
pub struct LatencyError(String);

impl FromStr for Latency {
    type Err = LatencyError;

    fn from_str(text: &str) -> Result<Self, LatencyError> {
        parse(text).map(Self).ok_or_else(|| LatencyError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Duration> {
    let (number, scale) =
        UNITS.into_iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)))?;
    let number = number.trim_end();
    // Numbers such as -1, 1e3 and inf are none here.
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = number.parse::<f64>().ok().filter(|_| plain)? * scale;
    // Whatever is smaller than a clock can tell is exact in nanoseconds.
    Duration::try_from_secs_f64(seconds).ok()
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let (unit, scale) = PRINTED.into_iter().find(|(_, scale)| nanos >= *scale).unwrap_or(("ns", 1));
        let (whole, rest) = (nanos / scale, nanos % scale);
        let digits = scale.ilog10() as usize;
        let rest = format!("{rest:0digits$}");
        match rest.trim_end_matches('0') {
            "" => write!(f, "{whole}{unit}"),
            rest => write!(f, "{whole}.{rest}{unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_read_in_every_unit_and_print_in_the_one_that_fits() {
        let cases = [
            ("10ms", "10ms"),
            ("0.5ms", "500us"),
            ("500 us", "500us"),
            ("500µs", "500us"),
            ("1500ms", "1.5s"),
            ("0s", "0ns"),
            ("3.4616ms", "3.4616ms"),
            ("70ns", "70ns"),
            ("1.005us", "1.005us"),
        ];
        for (text, printed) in cases {
            let latency: Latency = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(latency.to_string(), printed, "{text}");
            assert_eq!(printed.parse(), Ok(latency));
        }
    }

    #[test]
    fn text_without_a_number_or_a_unit_is_refused() {
        for text in
            ["", "ms", "10", "-1ms", "1e3ms", "NaNs", "infs", "10 min", "1.2.3s", "99999999999999999999999s"]
        {
            assert!(text.parse::<Latency>().is_err(), "{text}");
        }
    }
}
