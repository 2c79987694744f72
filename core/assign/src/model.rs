//! The model of goodput by number of parallel streams on a path. Huang et al. (2017).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use braid_types::BitsPerSec;
use serde::{Deserialize, Serialize};

/// The number of parallel streams that a path can use, and the goodput of fewer streams.
///
/// Where losses limit a stream, the goodput of n streams follows from models of TCP's rate (Huang et al. 2017,
/// equation 4): its square is a parabola in n, with its peak at n = a·B·R. The paper keeps only the position of the
/// peak, `a`. This model also keeps the height at which the curve begins, as `saturation_loss`. Where windows limit a stream,
/// goodput grows in a [line](Growth::Line), and `a` is one over the window.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamModel {
    /// Streams per Mbit/s of available bandwidth and ms of round-trip time.
    pub a: f64,
    /// The missing part of the goodput where the curve begins, squared on a parabola: from 0, where one stream carries
    /// as much as many, to 1.
    pub saturation_loss: f64,
    /// The form of the curve from there to the peak.
    #[serde(default)]
    pub growth: Growth,
}

/// The growth of goodput with the number of streams, up to the peak.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Growth {
    /// The square of goodput is a parabola: losses limit each stream.
    #[default]
    Parabola,
    /// Each stream adds as much as the one before: windows limit them.
    Line,
}

impl Growth {
    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parabola => "parabola",
            Self::Line => "line",
        }
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Growth {
    type Err = UnknownGrowth;

    fn from_str(name: &str) -> Result<Self, UnknownGrowth> {
        let all = [Self::Parabola, Self::Line];
        all.into_iter().find(|it| it.name() == name).ok_or_else(|| UnknownGrowth(name.to_owned()))
    }
}

/// A word that is not a [`Growth`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not a way to grow: give parabola, where losses limit streams, or line, where windows do")]
pub struct UnknownGrowth(String);

/// Values outside their ranges.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum ModelError {
    /// `a` is not a positive number, or greater than any network's.
    #[error("a is {0}: it is a positive number of at most 1,000,000, such as 0.0015")]
    A(f64),
    /// `saturation_loss` is not a number from 0 to 1.
    #[error("the saturation loss is {0}: it is a number from 0 to 1")]
    SaturationLoss(f64),
}

/// The greatest `a`: with it every product with rates and times is a finite number.
const MAX_A: f64 = 1e6;

/// The values that Huang et al. fitted in their laboratory.
impl Default for StreamModel {
    fn default() -> Self {
        Self { a: 0.001_495, saturation_loss: 0.1, growth: Growth::Parabola }
    }
}

impl StreamModel {
    /// The model, if its values are in range.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn checked(self) -> Result<Self, ModelError> {
        if !(self.a > 0.0 && self.a <= MAX_A) {
            return Err(ModelError::A(self.a));
        }
        if !(0.0..=1.0).contains(&self.saturation_loss) {
            return Err(ModelError::SaturationLoss(self.saturation_loss));
        }
        Ok(self)
    }

    /// The number of streams with the greatest goodput of a path, n = max(1, a·B·R); not rounded.
    pub fn streams(&self, available: BitsPerSec, round_trip: Duration) -> f64 {
        let (mbits, millis) = (available.as_f64() / 1e6, round_trip.as_secs_f64() * 1e3);
        (self.a * mbits * millis).max(1.0)
    }

    /// The part of a path's bandwidth that `streams` achieve, where `best` would achieve all of it.
    pub fn efficiency(&self, streams: usize, best: f64) -> f64 {
        if streams == 0 {
            return 0.0;
        }
        let missing = (1.0 - streams as f64 / best).max(0.0);
        match self.growth {
            Growth::Parabola => (1.0 - self.saturation_loss * missing * missing).sqrt(),
            Growth::Line => 1.0 - self.saturation_loss * missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(a: f64, mbits: u64, millis: u64) -> f64 {
        let model = StreamModel { a, ..StreamModel::default() };
        model.streams(BitsPerSec(mbits * 1_000_000), Duration::from_millis(millis)).round()
    }

    #[test]
    fn the_numbers_of_the_paper_come_out() {
        let lab = [0, 20, 40, 60, 80, 100].map(|millis| streams(0.001_495, 50, millis));
        assert_eq!(lab, [1.0, 1.0, 3.0, 4.0, 6.0, 7.0]);
        let ocean = [(660, 191), (200, 183), (740, 211), (170, 191)];
        assert_eq!(ocean.map(|(mbits, millis)| streams(0.000_065, mbits, millis)), [8.0, 2.0, 10.0, 2.0]);
    }

    #[test]
    fn there_is_one_stream_at_least_whatever_the_path() {
        assert_eq!(streams(0.001_495, 0, 100), 1.0);
        assert_eq!(streams(0.001_495, 100, 0), 1.0);
    }

    #[test]
    fn more_streams_carry_more_until_there_are_enough() {
        for growth in [Growth::Parabola, Growth::Line] {
            let model = StreamModel { a: 0.001, saturation_loss: 1.0, growth };
            let shares: Vec<_> = (0..=20).map(|streams| model.efficiency(streams, 8.0)).collect();
            assert_eq!(shares[0], 0.0);
            assert!(shares[..=8].windows(2).all(|pair| pair[0] < pair[1]), "{shares:?}");
            assert!(shares[8..].iter().all(|share| *share == 1.0), "{shares:?}");
        }
    }

    #[test]
    fn streams_that_windows_limit_carry_one_window_each_round_trip() {
        let window = 83_600.0;
        let model = StreamModel { a: 1e9 / (window * 8.0) / 1e6, saturation_loss: 1.0, growth: Growth::Line };
        let (rate, round_trip) = (BitsPerSec(100_000_000), Duration::from_millis(100));
        let best = model.streams(rate, round_trip);
        let three = rate.as_f64() * model.efficiency(3, best);
        assert!((three - 3.0 * window * 8.0 / 0.1).abs() < 1.0, "{three}");
    }

    #[test]
    fn ways_to_grow_have_names() {
        for growth in [Growth::Parabola, Growth::Line] {
            assert_eq!(growth.to_string().parse(), Ok(growth));
        }
        assert!("curve".parse::<Growth>().is_err());
    }

    #[test]
    fn values_that_no_network_has_are_refused() {
        for a in [0.0, -1.0, f64::NAN, f64::INFINITY, 1.79e308, 1e6 + 1.0] {
            assert!(StreamModel { a, ..StreamModel::default() }.checked().is_err(), "{a}");
        }
        for saturation_loss in [-0.1, 1.1, f64::NAN] {
            assert!(
                StreamModel { saturation_loss, ..StreamModel::default() }.checked().is_err(),
                "{saturation_loss}"
            );
        }
    }
}
