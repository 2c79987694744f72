//! Latencies as users write and read them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use braid_topology::Graph;
use braid_topology::import::read_delay;

use crate::Path;

const PRINTED: [(&str, u128); 3] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];

/// A latency. Text: `10ms`, `500us`, `1.5s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Latency(pub Duration);

impl Latency {
    /// So many microseconds; negative values become zero.
    pub fn from_micros(micros: f64) -> Self {
        Self(Duration::from_nanos((micros * 1e3).round() as u64))
    }
}

/// The sum of a path's delays, if all are known.
pub(super) fn known_latency(path: &Path, graph: &Graph) -> Option<Duration> {
    let mut delays = path.edges(graph).map(|edge| graph.state(edge?).delay);
    delays.try_fold(Duration::ZERO, |sum, delay| Some(sum.saturating_add(delay?)))
}

/// A delay in microseconds, as shown to users.
pub(super) fn micros(delay: Duration) -> f64 {
    delay.as_nanos() as f64 / 1e3
}

/// Text that is not a latency.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a latency such as 10ms, 500us or 1.5s")]
pub struct LatencyError(String);

impl FromStr for Latency {
    type Err = LatencyError;

    fn from_str(text: &str) -> Result<Self, LatencyError> {
        // Files give delays in seconds without a unit; users should not have to know that.
        let has_unit = text.trim().parse::<f64>().is_err();
        let latency = read_delay(text).ok().filter(|_| has_unit);
        latency.map(Self).ok_or_else(|| LatencyError(text.to_owned()))
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        if nanos == 0 {
            return f.write_str("0s");
        }
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
            ("0ms", "0s"),
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
        for text in ["", "ms", "10", "-1ms", "NaNs", "infs", "10 min", "1.2.3s", "99999999999999999999999s"] {
            assert!(text.parse::<Latency>().is_err(), "{text}");
        }
    }
}
