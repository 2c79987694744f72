//! Random numbers of the link model: Bernoulli trials and jitter.

use braid_types::SplitMix64;

/// The random number generator of a link direction.
#[derive(Clone, Debug)]
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// A Bernoulli trial; probability zero draws no number.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.0.next_f64() < probability
    }

    /// Uniform in `[-1, 1)`.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.next_f64() * 2.0 - 1.0
    }

    /// Approximately normal with mean 0 and deviation 1: the sum of four 16-bit numbers (Irwin and Hall), within ±3.47.
    pub(crate) fn normal(&mut self) -> f64 {
        let bits = self.0.next_u64();
        let sum: u64 = [0, 16, 32, 48].iter().map(|shift| bits >> shift & 0xffff).sum();
        (sum as f64 / 65_535.0 - 2.0) * 3.0_f64.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_the_mean_and_deviation_that_they_promise() {
        let mut random = Random::new(7);
        let mut moments = |draw: fn(&mut Random) -> f64| {
            let all: Vec<f64> = (0..100_000).map(|_| draw(&mut random)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let square = all.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / all.len() as f64;
            (mean, square.sqrt())
        };
        let (mean, deviation) = moments(Random::uniform);
        assert!(mean.abs() < 0.01 && (deviation - 1.0 / 3.0_f64.sqrt()).abs() < 0.01, "{mean} {deviation}");
        let (mean, deviation) = moments(Random::normal);
        assert!(mean.abs() < 0.01 && (deviation - 1.0).abs() < 0.01, "{mean} {deviation}");
    }

    #[test]
    fn certain_and_impossible_events_are_that() {
        let mut random = Random::new(7);
        assert!((0..1_000).all(|_| random.happens(1.0) && !random.happens(0.0)));
    }
}
