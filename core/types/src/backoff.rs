//! Exponential backoff of retries.

use std::time::Duration;

/// The wait before each retry, which doubles each time up to a maximum.
///
/// ```
/// use std::time::Duration;
/// use braid_types::Backoff;
///
/// const RETRY: Backoff = Backoff::between(Duration::from_secs(1), Duration::from_secs(3));
/// assert_eq!(RETRY.after(None), Duration::from_secs(1));
/// assert_eq!(RETRY.after(Some(Duration::from_secs(1))), Duration::from_secs(2));
/// assert_eq!(RETRY.after(Some(Duration::from_secs(2))), Duration::from_secs(3));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    /// Waits from `first` to `longest`.
    pub const fn between(first: Duration, longest: Duration) -> Self {
        Self { first, longest }
    }

    /// The wait after a failed try with this wait; the first wait for `None`, or for none.
    pub fn after(self, last: impl Into<Option<Duration>>) -> Duration {
        let last = last.into().unwrap_or_default();
        last.saturating_mul(2).max(self.first).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let backoff = Backoff::between(Duration::from_secs(5), Duration::from_secs(600));
        let waits = std::iter::successors(Some(backoff.after(None)), |last| Some(backoff.after(Some(*last))));
        let seconds: Vec<_> = waits.take(9).map(|wait| wait.as_secs()).collect();
        assert_eq!(backoff.after(Duration::ZERO), backoff.after(None));
        assert_eq!(seconds, [5, 10, 20, 40, 80, 160, 320, 600, 600]);
    }
}
