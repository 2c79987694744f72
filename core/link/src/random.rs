/// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
///
/// Two nanoseconds a number and good enough to lose frames by; nothing here needs to be unpredictable.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// Of `[0, 1)`.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something of this probability happens; no number is drawn for what never does.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.fraction() < probability
    }

    /// Of `[-1, 1)`.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.fraction() * 2.0 - 1.0
    }

    /// Of mean 0 and standard deviation 1: the sum of four 16-bit numbers (Irwin and Hall), within ±3.47.
    pub(crate) fn normal(&mut self) -> f64 {
        let bits = self.next();
        let sum: u64 = [0, 16, 32, 48].iter().map(|shift| bits >> shift & 0xffff).sum();
        (sum as f64 / 65_535.0 - 2.0) * 3.0_f64.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference() {
        // java.util.SplittableRandom and Vigna's splitmix64.c give these for the seed 0.
        let mut random = Random::new(0);
        assert_eq!(random.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.next(), 0x6e78_9e6a_a1b9_65f4);
    }

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
