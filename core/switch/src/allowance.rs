use std::time::Duration;

use braid_types::Time;

/// So many in so long.
const MOST: u32 = 100;
const EACH: Duration = Duration::from_secs(1);

/// Keeps strangers from having the switch say more than it forwards.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allowance {
    since: Time,
    count: u32,
}

impl Allowance {
    /// Whether one more thing may be said now.
    pub(crate) fn take(&mut self, now: Time) -> bool {
        if now.since(self.since) >= EACH {
            *self = Self { since: now, count: 0 };
        }
        self.count = self.count.saturating_add(1);
        self.count <= MOST
    }
}
