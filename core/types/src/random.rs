//! Random numbers that depend on the seed alone, on every machine and in every release.

/// The generator SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
///
/// Consecutive seeds give unrelated numbers. The numbers are predictable and not for secrets.
///
/// ```
/// use braid_types::SplitMix64;
///
/// let mut random = SplitMix64::new(0);
/// assert_eq!(random.next_u64(), 0xe220_a839_7b1d_cdaf);
/// assert!(random.below(6) < 6);
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

/// The odd number next to 2^64 divided by the golden ratio.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// A generator with this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A separate generator for one use of the same seed, whose draws do not affect this one.
    #[must_use]
    pub const fn fork(&mut self) -> Self {
        Self(self.next_u64())
    }

    /// 64 random bits.
    pub const fn next_u64(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(INCREMENT);
        number
    }

    /// Uniform in `[0, 1)`.
    pub const fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `bound`, by [`reduce`]; 0 if `bound` is 0.
    pub const fn below(&mut self, bound: usize) -> usize {
        reduce(self.next_u64(), bound)
    }

    /// Shuffles the items, by [`shuffle`].
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        shuffle(items, |bound| self.below(bound));
    }
}

/// The first number of SplitMix64 for this seed: a bijective hash with good avalanche.
pub const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(INCREMENT);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A number below `bound` from 64 random bits; 0 if `bound` is 0.
///
/// Lemire, "Fast random integer generation in an interval" (2019), without rejection: probabilities differ by less than
/// 2^-40 for bounds up to 2^24.
pub const fn reduce(bits: u64, bound: usize) -> usize {
    ((bits as u128 * bound as u128) >> 64) as usize
}

/// Shuffles the items uniformly, by draws of numbers below a bound. Durstenfeld (1964), after Fisher and Yates.
pub fn shuffle<T>(items: &mut [T], mut below: impl FnMut(usize) -> usize) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference() {
        // java.util.SplittableRandom and Vigna's splitmix64.c give these for the seed 0.
        let mut random = SplitMix64::new(0);
        assert_eq!(random.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.next_u64(), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn draws_are_even() {
        let mut random = SplitMix64::new(7);
        let mut mean = |draw: fn(&mut SplitMix64) -> f64| {
            let mut fork = random.fork();
            (0..100_000).map(|_| draw(&mut fork)).sum::<f64>() / 1e5
        };
        let (place, fraction) = (mean(|it| it.below(11) as f64), mean(SplitMix64::next_f64));
        assert!((place - 5.0).abs() < 0.05 && (fraction - 0.5).abs() < 0.005, "{place} {fraction}");
    }

    #[test]
    fn bounded_draws_reach_all_numbers_and_only_those() {
        let mut random = SplitMix64::new(1);
        let mut seen = [false; 5];
        (0..200).for_each(|_| seen[random.below(5)] = true);
        assert_eq!(seen, [true; 5]);
        assert_eq!((random.below(1), random.below(0)), (0, 0));
        assert_eq!((reduce(0, 9), reduce(u64::MAX, 9)), (0, 8));
    }

    #[test]
    fn shuffling_keeps_the_items_and_follows_the_seed() {
        let shuffled = |seed| {
            let mut items: Vec<_> = (0..50).collect();
            SplitMix64::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        let mut sorted = shuffled(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }
}
