//! A time series in fine and coarse steps, with gaps where nothing was measured.

use std::collections::VecDeque;

/// Seconds that are kept one by one.
pub(super) const FINE: usize = 3_600;
/// Minutes that are kept as their means.
pub(super) const COARSE: usize = 1_440;
/// Fine steps in a coarse one.
pub(super) const RATIO: u64 = 60;

/// What was measured of one thing, step by step: `N` values each, NaN for what was not.
#[derive(Debug)]
pub(super) struct Series<const N: usize> {
    /// The step after the last one.
    next: u64,
    fine: VecDeque<[f32; N]>,
    coarse: VecDeque<[f32; N]>,
    sums: [(f64, u32); N],
}

const fn none<const N: usize>() -> [f32; N] {
    [f32::NAN; N]
}

impl<const N: usize> Series<N> {
    /// A series that begins at this step.
    pub(super) const fn new(step: u64) -> Self {
        Self { next: step, fine: VecDeque::new(), coarse: VecDeque::new(), sums: [(0.0, 0); N] }
    }

    /// The step after the last one.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// What was measured at `step`; steps between it and the last one have no values.
    pub(super) fn push(&mut self, step: u64, values: [f32; N]) {
        if step.saturating_sub(self.next) >= COARSE as u64 * RATIO {
            *self = Self::new(step);
        }
        while self.next < step {
            self.append(none());
        }
        if self.next == step {
            self.append(values);
        }
    }

    /// The values of the steps from `from` to before `to`, of one column; `None` where there is none.
    pub(super) fn fine(&self, column: usize, from: u64, to: u64) -> Vec<Option<f32>> {
        values(&self.fine, self.next, column, from, to)
    }

    /// The means of the coarse steps from `from` to before `to`.
    pub(super) fn coarse(&self, column: usize, from: u64, to: u64) -> Vec<Option<f32>> {
        values(&self.coarse, self.next / RATIO, column, from, to)
    }

    fn append(&mut self, values: [f32; N]) {
        push_bounded(&mut self.fine, values, FINE);
        for ((sum, count), value) in self.sums.iter_mut().zip(values) {
            if !value.is_nan() {
                (*sum, *count) = (*sum + f64::from(value), *count + 1);
            }
        }
        self.next += 1;
        if self.next.is_multiple_of(RATIO) {
            let means = self.sums.map(|(sum, count)| (sum / f64::from(count)) as f32);
            push_bounded(&mut self.coarse, means, COARSE);
            self.sums = [(0.0, 0); N];
        }
    }
}

fn push_bounded<T>(values: &mut VecDeque<T>, value: T, limit: usize) {
    if values.len() >= limit {
        values.pop_front();
    }
    values.push_back(value);
}

fn values<const N: usize>(
    kept: &VecDeque<[f32; N]>,
    next: u64,
    column: usize,
    from: u64,
    to: u64,
) -> Vec<Option<f32>> {
    let first = next - kept.len() as u64;
    let at = |step: u64| {
        let values = kept.get(usize::try_from(step.checked_sub(first)?).ok()?)?;
        values.get(column).copied().filter(|value| value.is_finite())
    };
    (from..to).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_stays_a_gap() {
        let mut series = Series::<1>::new(10);
        series.push(10, [1.0]);
        series.push(13, [4.0]);
        series.push(13, [5.0]);
        assert_eq!(series.fine(0, 9, 15), [None, Some(1.0), None, None, Some(4.0), None]);
    }

    #[test]
    fn an_hour_is_kept_in_seconds_and_a_day_in_minutes() {
        let mut series = Series::<2>::new(0);
        (0..100_000).for_each(|step| series.push(step, [step as f32, f32::NAN]));
        assert_eq!((series.fine.len(), series.coarse.len()), (FINE, COARSE));
        assert_eq!(series.fine(0, 96_399, 96_401), [None, Some(96_400.0)]);
        assert_eq!(series.coarse(0, 1_665, 1_667), [Some(99_929.5), None]);
        assert_eq!(series.coarse(1, 1_665, 1_666), [None]);
        series.push(10_000_000, [1.0, 2.0]);
        assert_eq!((series.fine.len(), series.coarse.len()), (1, 0));
    }
}
