//! Lateness of packets over two windows, from which the adaptive hold time follows.

use std::time::Duration;

use braid_types::Time;

use super::settings::HoldTime;

const SKEW_WINDOW: Duration = Duration::from_secs(10);
const HOLD_MARGIN: Duration = Duration::from_millis(1);

/// The lateness of packets after those that overtook them: the maximum of this window and the one before.
#[derive(Clone, Debug, Default)]
pub(super) struct Skew {
    began: Time,
    most: Option<Duration>,
    before: Option<Duration>,
}

impl Skew {
    /// A packet arrived `late` after one that was sent later.
    pub(super) fn observe(&mut self, now: Time, late: Duration) {
        self.rotate(now);
        self.most = self.most.max(Some(late));
    }

    /// The present hold time.
    pub(super) fn hold_time(&self, hold: HoldTime) -> Duration {
        let (least, most) = hold.range();
        match self.most.max(self.before) {
            Some(late) => late
                .saturating_mul(3)
                .checked_div(2)
                .unwrap_or(late)
                .saturating_add(HOLD_MARGIN)
                .clamp(least, most),
            None => most,
        }
    }

    fn rotate(&mut self, now: Time) {
        if now.since(self.began) >= SKEW_WINDOW {
            // However old: the last measurement is better than none.
            self.before = self.most.take();
            self.began = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: HoldTime =
        HoldTime::Measured { least: Duration::from_millis(2), most: Duration::from_millis(100) };

    #[test]
    fn what_was_late_is_forgotten_after_two_windows_in_which_something_was() {
        let millis = Duration::from_millis;
        let mut skew = Skew::default();
        assert_eq!(skew.hold_time(HOLD), millis(100));
        skew.observe(Time::ZERO, millis(20));
        assert_eq!(skew.hold_time(HOLD), millis(31));
        skew.observe(Time::from_millis(11_000), millis(4));
        assert_eq!(skew.hold_time(HOLD), millis(31));
        skew.observe(Time::from_millis(22_000), millis(2));
        assert_eq!(skew.hold_time(HOLD), millis(7));
        assert_eq!(skew.hold_time(HoldTime::Fixed(millis(9))), millis(9));
    }
}
