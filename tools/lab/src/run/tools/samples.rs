//! Samples of acknowledged bytes over time, and rates computed from them.

use std::time::Duration;

use super::super::report::Interval;
use super::iperf::Measured;

/// Samples: seconds since the start, and acknowledged bytes.
pub(super) struct Samples(Vec<(f64, u64)>);

impl Default for Samples {
    fn default() -> Self {
        Self(vec![(0.0, 0)])
    }
}

impl Samples {
    pub(super) fn add(&mut self, elapsed: Duration, acked: u64) {
        self.0.push((elapsed.as_secs_f64(), acked));
    }

    /// The rate between the first sample at or after `from` and the last one at or before `until`.
    pub(super) fn measured(&self, from: f64, until: f64) -> Measured {
        let counted = || self.0.iter().filter(|(at, _)| (from..=until).contains(at));
        let [first, last] =
            [counted().next(), counted().next_back()].map(|it| it.copied().unwrap_or_default());
        let seconds = (last.0 - first.0).max(1e-3);
        let goodput_bps = last.1.saturating_sub(first.1) as f64 * 8.0 / seconds;
        Measured { goodput_bps, seconds, datagrams_lost: None, intervals: self.intervals(until) }
    }

    /// The rate of all received bytes over a time.
    pub(super) fn whole(&self, received: u64, took: Duration) -> Measured {
        let seconds = took.as_secs_f64();
        let goodput_bps = received as f64 * 8.0 / seconds.max(1e-3);
        Measured { goodput_bps, seconds, datagrams_lost: None, intervals: self.intervals(seconds) }
    }

    fn intervals(&self, until: f64) -> Vec<Interval> {
        let pairs = self.0.iter().zip(self.0.iter().skip(1)).filter(|(_, (end, _))| *end <= until);
        let interval = |((start, before), (end, after)): (&(f64, u64), &(f64, u64))| Interval {
            start: *start,
            end: *end,
            bps: after.saturating_sub(*before) as f64 * 8.0 / (end - start).max(1e-3),
        };
        pairs.map(interval).collect()
    }

    /// The longest time without newly acknowledged bytes, at the resolution of the samples.
    pub(super) fn longest_stall(&self) -> f64 {
        let (mut longest, mut since) = (0.0_f64, self.0.first().map_or((0.0, 0), |first| *first));
        for (at, acked) in &self.0 {
            if *acked > since.1 {
                since = (*at, *acked);
            }
            longest = longest.max(at - since.0);
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_until_more_is_acknowledged() {
        let longest_stall = |samples: &[(f64, u64)]| Samples(samples.to_vec()).longest_stall();
        assert_eq!(longest_stall(&[(0.0, 0), (0.5, 10), (1.0, 10), (2.0, 10), (2.5, 11)]), 1.5);
        assert_eq!(longest_stall(&[(0.0, 0), (0.5, 0)]), 0.5, "not begun");
        assert_eq!(longest_stall(&[]), 0.0);
    }

    #[test]
    fn intervals_after_the_end_do_not_count() {
        let all = Samples(vec![(0.0, 0), (0.5, 1_000), (1.0, 1_500), (1.5, 1_500)]).intervals(1.0);
        let rates: Vec<_> = all.iter().map(|it| (it.end, it.bps)).collect();
        assert_eq!(rates, [(0.5, 16_000.0), (1.0, 8_000.0)]);
    }
}
