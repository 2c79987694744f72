//! The mean rate of a connection over its last windows.

/// So many windows count, the last ones most.
const WINDOWS: f64 = 10.0;

/// A mean whose memory is bounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mean {
    windows: f64,
    rate: f64,
}

impl Mean {
    pub(super) const fn new() -> Self {
        Self { windows: 0.0, rate: 0.0 }
    }

    pub(super) const fn add(&mut self, rate: f64) {
        self.windows = (self.windows + 1.0).min(WINDOWS);
        self.rate += (rate - self.rate) / self.windows;
    }

    pub(super) const fn get(&self) -> f64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_forgets_what_is_long_ago() {
        let mut mean = Mean::new();
        [10.0, 20.0].into_iter().for_each(|rate| mean.add(rate));
        assert!((mean.get() - 15.0).abs() < 1e-9);
        (0..100).for_each(|_| mean.add(50.0));
        assert!((mean.get() - 50.0).abs() < 0.1);
    }
}
