/// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
///
/// The same seed gives the same numbers on every machine; seeds that differ by one give unrelated ones.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts at a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Another generator for one use of the same seed, so that more draws there change nothing here.
    pub fn fork(&mut self) -> Self {
        Self(self.bits())
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// Of `[0, 1)`.
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below `bound`, which is not 0. Lemire (2019), without the rejection: the bias is below 2^-40 up to 2^24.
    pub const fn below(&mut self, bound: usize) -> usize {
        ((self.bits() as u128 * bound as u128) >> 64) as usize
    }

    /// Of an exponential distribution with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.fraction()).ln()
    }

    /// Every order is as likely. Fisher and Yates; Durstenfeld (1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference() {
        let mut random = Random::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn draws_have_the_mean_that_they_promise() {
        let mut random = Random::new(7);
        let mean = |mut draw: Box<dyn FnMut() -> f64>| (0..100_000).map(|_| draw()).sum::<f64>() / 1e5;
        let mut other = random.fork();
        let gaps = mean(Box::new(move || random.exponential(3.0)));
        let places = mean(Box::new(move || other.below(11) as f64));
        assert!((gaps - 3.0).abs() < 0.05 && (places - 5.0).abs() < 0.05, "{gaps} {places}");
    }
}
