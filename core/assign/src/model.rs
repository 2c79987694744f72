use std::time::Duration;

use braid_types::BitsPerSec;
use serde::{Deserialize, Serialize};

/// How many parallel streams a path can use, and how much fewer carry.
///
/// The goodput of n streams follows from models of TCP's rate under loss (Huang et al. 2017, equation 4): its square is a
/// parabola in n, with its peak at n = a·B·R. What the paper keeps of it is where the peak is, `a`; how high the parabola
/// begins is kept here too, as `lack`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamModel {
    /// Streams per Mbit/s of available bandwidth and ms of round-trip time.
    pub a: f64,
    /// Of the squared goodput at the peak, what is lacking where the parabola begins: from 0, where one stream carries as
    /// much as many, to 1.
    pub lack: f64,
}

/// Values that no network has.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum ModelError {
    /// It is a number of streams for a product of rate and time.
    #[error("a is {0}: it is a positive number, such as 0.0015")]
    A(f64),
    /// It is a share.
    #[error("the lack is {0}: it is a number from 0 to 1")]
    Lack(f64),
}

/// Huang et al. fitted this in their laboratory.
impl Default for StreamModel {
    fn default() -> Self {
        Self { a: 0.001_495, lack: 0.1 }
    }
}

impl StreamModel {
    /// A model with these values.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn new(a: f64, lack: f64) -> Result<Self, ModelError> {
        if !(a.is_finite() && a > 0.0) {
            return Err(ModelError::A(a));
        }
        if !(0.0..=1.0).contains(&lack) {
            return Err(ModelError::Lack(lack));
        }
        Ok(Self { a, lack })
    }

    /// The number of streams with which a path carries most, n = max(1, a·B·R); not rounded.
    pub fn streams(&self, available: BitsPerSec, round_trip: Duration) -> f64 {
        let (mbits, millis) = (available.as_f64() / 1e6, round_trip.as_secs_f64() * 1e3);
        (self.a * mbits * millis).max(1.0)
    }

    /// The share of a path's bandwidth that `streams` get out of it, where `best` would get all.
    pub fn efficiency(&self, streams: usize, best: f64) -> f64 {
        if streams == 0 {
            return 0.0;
        }
        let missing = (1.0 - streams as f64 / best).max(0.0);
        (1.0 - self.lack * missing * missing).sqrt()
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
        let model = StreamModel { a: 0.001, lack: 1.0 };
        let shares: Vec<_> = (0..=20).map(|streams| model.efficiency(streams, 8.0)).collect();
        assert_eq!(shares[0], 0.0);
        assert!(shares[..=8].windows(2).all(|pair| pair[0] < pair[1]), "{shares:?}");
        assert!(shares[8..].iter().all(|share| *share == 1.0), "{shares:?}");
    }

    #[test]
    fn values_that_no_network_has_are_refused() {
        for a in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(StreamModel::new(a, 0.1).is_err(), "{a}");
        }
        for lack in [-0.1, 1.1, f64::NAN] {
            assert!(StreamModel::new(0.001, lack).is_err(), "{lack}");
        }
    }
}
