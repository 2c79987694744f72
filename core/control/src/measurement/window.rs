//! A window of recent delay samples, with their minimum, median and quantiles.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

/// More samples than any sensible window receives.
const MAX_SAMPLES: usize = 64;

/// The latest samples of a duration, each with its time.
#[derive(Clone, Debug, Default)]
pub(super) struct Window(VecDeque<Sample>);

/// A duration of up to centuries, in nanoseconds, and when it was measured. There are many of each link.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Time,
    nanos: u64,
}

impl Window {
    /// Adds a sample and drops those before `oldest`.
    pub(super) fn push(&mut self, at: Time, sample: Duration, oldest: Time) {
        while self.0.len() >= MAX_SAMPLES || self.0.front().is_some_and(|sample| sample.at < oldest) {
            self.0.pop_front();
        }
        self.0.push_back(Sample { at, nanos: u64::try_from(sample.as_nanos()).unwrap_or(u64::MAX) });
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The least sample.
    pub(super) fn least(&self) -> Option<Duration> {
        self.0.iter().map(Sample::duration).min()
    }

    /// The least of the `count` latest samples.
    pub(super) fn least_of(&self, count: usize) -> Option<Duration> {
        self.0.iter().rev().take(count).map(Sample::duration).min()
    }

    /// The quantile for `share`, from 0 to 1.
    pub(super) fn quantile(&self, share: f64) -> Option<Duration> {
        let mut samples: Vec<_> = self.0.iter().map(Sample::duration).collect();
        let place = ((samples.len() as f64 * share).ceil() as usize).max(1) - 1;
        (place < samples.len()).then(|| *samples.select_nth_unstable(place).1)
    }

    /// The median of the `count` latest samples; the lower middle one of an even number.
    pub(super) fn median(&self, count: usize) -> Option<Duration> {
        let mut latest: Vec<_> = self.0.iter().rev().take(count).map(Sample::duration).collect();
        let middle = latest.len().checked_sub(1)? / 2;
        Some(*latest.select_nth_unstable(middle).1)
    }
}

impl Sample {
    const fn duration(&self) -> Duration {
        Duration::from_nanos(self.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn samples_from_before_the_window_do_not_count() {
        let mut window = Window::default();
        for (at, sample) in [(0, 1), (10, 3), (20, 2)] {
            window.push(Time::from_millis(at), millis(sample), Time::from_millis(at) - millis(15));
        }
        assert_eq!((window.len(), window.least()), (2, Some(millis(2))));
    }

    #[test]
    fn the_usual_sample_is_not_moved_by_one_that_lies_far_off() {
        let mut window = Window::default();
        assert_eq!(window.median(5), None);
        for sample in [1, 900, 2, 3, 1_000, 4] {
            window.push(Time::ZERO, millis(sample), Time::ZERO);
        }
        assert_eq!(window.median(5), Some(millis(4)));
        assert_eq!(window.median(4), Some(millis(3)), "the lower one in the middle");
    }

    #[test]
    fn a_quantile_is_a_sample_that_so_many_do_not_exceed() {
        let mut window = Window::default();
        assert_eq!(window.quantile(0.5), None);
        (1..=50).rev().for_each(|sample| window.push(Time::ZERO, millis(sample), Time::ZERO));
        assert_eq!(
            [0.0, 0.5, 0.98, 0.99, 1.0].map(|it| window.quantile(it)),
            [1, 25, 49, 50, 50].map(|it| Some(millis(it)))
        );
    }

    #[test]
    fn memory_is_bounded() {
        let mut window = Window::default();
        (0..1_000).for_each(|at| window.push(Time::from_millis(at), millis(at), Time::ZERO));
        assert_eq!((window.len(), window.least()), (MAX_SAMPLES, Some(millis(1_000 - MAX_SAMPLES as u64))));
    }
}
