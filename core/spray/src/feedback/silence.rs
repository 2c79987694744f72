//! Silence of a path: how late its answers usually are, and whether it misses what another path has answered.
//!
//! A path that is silent while others answer is not waiting for a busy machine at either end. So the time without answers
//! after which it counts as silent follows from its own lateness, and is much shorter than where nothing can be compared.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

/// Lateness is remembered over this time, up to twice as long.
const WINDOW: Duration = Duration::from_secs(10);
/// A path may be late by so many intervals, and by its lateness so many times.
const USUAL: f64 = 1.25;
const LATE: f64 = 1.5;
/// The answers after which the lateness of a path is known.
const MIN_ANSWERS: u32 = 50;
/// The answers that are kept for comparisons.
const MAX_RECENT: usize = 64;
/// The least number of probes that a silent path has not answered, while another has.
const MIN_MISSED: usize = 3;

/// How late a path's answers come, measured against the round trip before.
///
/// A queue that grows makes each answer later than the one before, jitter some of them. Both are thereby known before they
/// could be taken for silence: a path may be late by 1.5 times what it was late by lately, beyond 1.25 probe intervals.
#[derive(Clone, Debug, Default)]
pub(super) struct Lateness {
    answers: u32,
    began: Time,
    most: Duration,
    before: Duration,
    /// The last answers, the newest last.
    recent: VecDeque<Heard>,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
struct Heard {
    /// When its probe was sent.
    sent: Time,
    at: Time,
    late: Duration,
}

/// The probes that a path has not answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missed {
    /// When the oldest was sent, and the one with which there are enough of them.
    pub(super) oldest: Time,
    enough: Time,
    /// When the answer to the oldest is due.
    pub(super) due: Time,
}

impl Missed {
    /// The probes sent at these times, oldest first, with this round trip; `None` if they are too few.
    pub(super) fn of(mut sent: impl Iterator<Item = Time>, round_trip: Duration) -> Option<Self> {
        let oldest = sent.next()?;
        let enough = sent.nth(MIN_MISSED - 2)?;
        Some(Self { oldest, enough, due: oldest + round_trip })
    }
}

impl Lateness {
    /// Notes the answer at `at` to a probe sent at `sent`; the oldest probe without an answer was due at `due`. Beyond `most`
    /// it was no lateness, but an outage.
    pub(super) fn note(&mut self, sent: Time, at: Time, due: Time, most: Duration) {
        let late = at.since(due);
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Heard { sent, at, late });
        self.answers = self.answers.saturating_add(1);
        if at.since(self.began) >= WINDOW {
            (self.before, self.most, self.began) = (self.most, Duration::ZERO, at);
        }
        if late <= most {
            self.most = self.most.max(late);
        }
    }

    /// How late the path may be while another answers; `None` while too little is known.
    pub(super) fn allowance(&self, interval: Duration) -> Option<Duration> {
        let late = self.most.max(self.before);
        (self.answers >= MIN_ANSWERS).then(|| interval.mul_f64(USUAL).saturating_add(late.mul_f64(LATE)))
    }

    /// Whether this path's answers prove that another, which may be late by `allowance`, is silent: they came for probes sent
    /// as late as those which that one has missed. What they were late by meanwhile, both may be.
    pub(super) fn proves(&self, missed: &Missed, allowance: Duration) -> bool {
        let Some(newest) = self.recent.back().filter(|newest| newest.sent >= missed.enough) else {
            return false;
        };
        let since = self.recent.iter().rev().take_while(|heard| heard.sent >= missed.oldest);
        let late = since.map(|heard| heard.late).max().unwrap_or_default();
        newest.at.since(missed.due) > allowance.saturating_add(late)
    }
}
