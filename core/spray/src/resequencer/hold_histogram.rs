//! A histogram of hold times, in eighths of an octave.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Classes of each octave of microseconds: a quantile is too high by an eighth at most.
const PER_OCTAVE: usize = 8;
/// Classes up to 2^24 µs, longer than any packet is held.
const CLASSES: usize = 22 * PER_OCTAVE;

/// The hold times of packets: counts by classes of times, each an eighth of an octave, from 1 µs on.
///
/// Counts only grow, so the difference of two readings covers the time between them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HoldHistogram(Vec<u64>);

impl HoldHistogram {
    /// From the result of [`Self::counts`]; counts beyond the last class are dropped.
    pub fn new(mut counts: Vec<u64>) -> Self {
        counts.truncate(CLASSES);
        Self(counts)
    }

    /// The number of packets of each class, from the shortest on; up to the last class that has any.
    pub fn counts(&self) -> &[u64] {
        &self.0
    }

    /// The number of held packets.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The number of packets held for less than `limit`; exact where that is a power of two of microseconds.
    pub fn below(&self, limit: Duration) -> u64 {
        let classes = (0..).map(bound).take_while(|bound| *bound <= limit).count();
        self.0.iter().take(classes).sum()
    }

    /// The greatest hold time of a share of the packets, from 0 to 1; `None` without packets.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let wanted = (self.total() as f64 * share).ceil().max(1.0);
        let mut sum = 0.0;
        let class = self.0.iter().position(|count| {
            sum += *count as f64;
            sum >= wanted
        });
        class.map(bound)
    }

    /// The counts since an earlier reading; all of them, if that is no earlier reading of these counts.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |class: usize| earlier.0.get(class).copied().unwrap_or(0);
        let grown = self.0.iter().enumerate().map(|(class, count)| count.checked_sub(before(class)));
        let is_later = earlier.0.len() <= self.0.len();
        grown.collect::<Option<_>>().filter(|_| is_later).map_or_else(|| self.clone(), Self)
    }

    pub(super) fn note(&mut self, nanos: u64) {
        let class = class(nanos / 1_000);
        if self.0.len() <= class {
            self.0.resize(class.saturating_add(1), 0);
        }
        if let Some(count) = self.0.get_mut(class) {
            *count = count.saturating_add(1);
        }
    }
}

/// Below 8 µs each microsecond is a class.
const fn class(micros: u64) -> usize {
    let octave = (micros | 1).ilog2() as usize;
    let class = match octave {
        0..=2 => micros as usize,
        _ => {
            let part = (micros >> octave.saturating_sub(3)) as usize % PER_OCTAVE;
            octave.saturating_sub(2).saturating_mul(PER_OCTAVE).saturating_add(part)
        }
    };
    if class < CLASSES { class } else { CLASSES - 1 }
}

/// The least upper bound of the class.
const fn bound(class: usize) -> Duration {
    let next = class.saturating_add(1);
    let (octave, part) = (next / PER_OCTAVE, next % PER_OCTAVE);
    let micros = match octave {
        0 => part as u64,
        _ => (part.saturating_add(PER_OCTAVE) as u64) << octave.saturating_sub(1),
    };
    Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_below_the_bound_of_its_class_and_not_below_that_of_the_one_before() {
        let octaves =
            (0..24).flat_map(|octave| (0..40).map(move |part| (1 << octave) + (part << octave) / 41));
        for micros in (0..3_000).chain(octaves) {
            let class = class(micros);
            let time = Duration::from_micros(micros);
            assert!(time < bound(class), "{micros} µs");
            assert!(class == 0 || time >= bound(class - 1), "{micros} µs");
            assert!(bound(class).as_micros() as f64 <= micros as f64 * 1.126 + 1.0, "{micros} µs");
        }
        assert_eq!(class(u64::MAX), CLASSES - 1);
    }

    #[test]
    fn quantiles_are_those_of_what_waited_since() {
        let mut histogram = HoldHistogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (0..98).for_each(|_| histogram.note(2_000_000));
        (0..2).for_each(|_| histogram.note(50_000_000));
        let before = histogram.clone();
        let millis =
            |histogram: &HoldHistogram, share| histogram.quantile(share).map(|it| it.as_secs_f64() * 1e3);
        assert_eq!(
            [0.5, 0.98, 0.99, 1.0].map(|it| millis(&histogram, it)),
            [2.048, 2.048, 53.248, 53.248].map(Some)
        );
        assert_eq!(histogram.since(&before).total(), 0);
        (0..3).for_each(|_| histogram.note(7_000));
        let since = histogram.since(&before);
        assert_eq!((since.total(), since.quantile(0.99)), (3, Some(Duration::from_micros(8))));
        assert_eq!(before.since(&histogram), before, "another's counts are no beginning");
        assert_eq!([8, 2_048, 65_536].map(|it| histogram.below(Duration::from_micros(it))), [3, 101, 103]);
        assert_eq!(HoldHistogram::new(vec![1; 1_000]).counts().len(), CLASSES);
    }
}
