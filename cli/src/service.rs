//! Daemons as services of systemd: readiness, and a heartbeat for its watchdog. Elsewhere nothing is sent.

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

/// Says that the daemon serves.
pub(crate) fn ready() {
    send(NotifyState::Ready);
}

/// The sign of life that systemd waits for, if `WatchdogSec=` says so: without it the daemon is killed and started again.
///
/// It belongs into the loop that does the work, so that it stops when that does.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    interval: Option<Duration>,
    next: Instant,
}

impl Heartbeat {
    /// The heartbeat that the environment asks for.
    pub(crate) fn from_environment() -> Self {
        Self::every(sd_notify::watchdog_enabled())
    }

    /// A heartbeat for a watchdog that waits so long.
    fn every(patience: Option<Duration>) -> Self {
        Self { interval: patience.map(|patience| patience / 4), next: Instant::now() }
    }

    /// Beats if it is time to; to be called at least every second.
    pub(crate) fn beat(&mut self) {
        if self.is_due(Instant::now()) {
            send(NotifyState::Watchdog);
        }
    }

    fn is_due(&mut self, now: Instant) -> bool {
        let Some(interval) = self.interval.filter(|_| self.next <= now) else { return false };
        self.next = now + interval;
        true
    }
}

fn send(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "cannot reach systemd");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_beats_four_times_in_the_patience_of_the_watchdog() {
        let mut heartbeat = Heartbeat::every(Some(Duration::from_secs(20)));
        let start = heartbeat.next;
        let at = |seconds| start + Duration::from_secs(seconds);
        let due = [0, 1, 4, 5, 6, 10, 19].map(|seconds| heartbeat.is_due(at(seconds)));
        assert_eq!(due, [true, false, false, true, false, true, true]);
    }

    #[test]
    fn without_a_watchdog_nothing_beats() {
        let mut heartbeat = Heartbeat::every(None);
        assert!(!heartbeat.is_due(heartbeat.next + Duration::from_secs(100)));
    }
}
