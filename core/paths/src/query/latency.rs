//! Latencies as users write and read them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use braid_topology::Graph;
use braid_types::{AmountError, exact_time, parse_time, short_time};

use crate::Path;

/// A latency. Text: `10ms`, `500us`, `1.5s`; `Display` rounds to four digits, and [`Self::exact`] does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Latency(pub Duration);

impl Latency {
    /// So many microseconds; negative values become zero.
    pub fn from_micros(micros: f64) -> Self {
        Self(Duration::from_nanos((micros * 1e3).round() as u64))
    }

    /// All digits, for requests.
    pub fn exact(self) -> String {
        exact_time(self.0)
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

impl FromStr for Latency {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        parse_time(text).map(Self)
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short_time(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_rounded_for_people_and_not_for_requests() {
        let latency: Latency = "286.115us".parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((latency.to_string(), latency.exact()), ("286.1us".to_owned(), "286.115us".to_owned()));
        assert_eq!(latency.exact().parse(), Ok(latency));
    }

    #[test]
    fn text_without_a_number_or_a_unit_is_refused() {
        for text in
            ["", "ms", "10", "-1ms", "NaNs", "infs", "10 parsecs", "1.2.3s", "99999999999999999999999s"]
        {
            assert!(text.parse::<Latency>().is_err(), "{text}");
        }
    }
}
