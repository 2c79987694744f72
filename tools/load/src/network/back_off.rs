//! When switches without a connection try again: later each time, and not all in the same moment.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The shortest pause, and the longest, each without its random part: as of Open vSwitch.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(8);

/// The pauses of switches, by index.
#[derive(Debug, Default)]
pub(super) struct BackOff(BTreeMap<usize, Pause>);

#[derive(Debug)]
struct Pause {
    /// How many attempts before had no success.
    failures: u32,
    until: Instant,
}

impl BackOff {
    /// A switch has lost its connection, which was of use or not.
    pub(super) fn begin(&mut self, index: usize, was_up: bool) {
        let before = self.0.get(&index).filter(|_| !was_up);
        let failures = before.map_or(0, |pause| pause.failures + 1);
        self.0.insert(index, Pause { failures, until: Instant::now() + pause(index, failures) });
    }

    /// Whether a switch may try again.
    pub(super) fn is_over(&self, index: usize) -> bool {
        self.0.get(&index).is_none_or(|pause| pause.until <= Instant::now())
    }
}

/// Twice as long with each failure, and up to twice that by chance.
fn pause(index: usize, failures: u32) -> Duration {
    // Multiples of the golden ratio lie evenly between whole numbers, and are the same in each run.
    let chance = ((index as f64 + f64::from(failures)) * 1.618_034).fract();
    let pause = MIN_PAUSE.saturating_mul(1 << failures.min(8)).min(MAX_PAUSE);
    pause.mul_f64(1.0 + chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_failures_and_differ_between_switches() {
        for failures in 0..9 {
            let least = MIN_PAUSE.saturating_mul(1 << failures).min(MAX_PAUSE);
            let mut pauses: Vec<_> = (0..40).map(|index| pause(index, failures)).collect();
            assert!(pauses.iter().all(|it| (least..2 * least).contains(it)), "{pauses:?}");
            pauses.sort_unstable();
            assert!(pauses.windows(2).all(|it| it[1] - it[0] < least / 10), "{pauses:?}");
        }
    }

    #[test]
    fn a_connection_that_was_of_use_begins_anew() {
        let mut back_off = BackOff::default();
        let mut failures = |was_up| {
            back_off.begin(1, was_up);
            back_off.0[&1].failures
        };
        assert_eq!([true, false, false, true].map(&mut failures), [0, 1, 2, 0]);
        assert!(!back_off.is_over(1) && back_off.is_over(2));
    }
}
