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
pub struct Lateness {
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
    oldest: Time,
    enough: Time,
    /// When the answer to the oldest is due.
    due: Time,
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

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(20);
    const MOST: Duration = Duration::from_millis(120);

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    /// What is known after answers that were late by so many milliseconds, one every 20 ms, with a round trip of 10 ms.
    fn late(millis: impl IntoIterator<Item = u64>) -> Lateness {
        let mut lateness = Lateness::default();
        for (sent, late) in (0..).step_by(20).zip(millis) {
            lateness.note(at(sent), at(sent + 10 + late), at(sent + 10), MOST);
        }
        lateness
    }

    #[test]
    fn the_allowance_follows_the_greatest_lateness_but_for_outages() {
        let allowance = |millis: Vec<u64>| late(millis).allowance(INTERVAL);
        assert_eq!(allowance(vec![0; 49]), None, "too little is known");
        assert_eq!(allowance(vec![0; 50]), Some(Duration::from_millis(25)));
        assert_eq!(allowance([vec![0; 49], vec![40]].concat()), Some(Duration::from_millis(85)));
        assert_eq!(allowance([vec![0; 49], vec![120]].concat()), Some(Duration::from_millis(205)));
        assert_eq!(allowance([vec![0; 49], vec![121]].concat()), Some(Duration::from_millis(25)));
    }

    #[test]
    fn lateness_is_remembered_for_ten_to_twenty_seconds() {
        let allowance =
            |after: usize| late([vec![0; 50], vec![40], vec![0; after]].concat()).allowance(INTERVAL);
        assert_eq!(allowance(490), Some(Duration::from_millis(85)));
        assert_eq!(allowance(1_000), Some(Duration::from_millis(25)));
    }

    #[test]
    fn counts_of_answers_end_at_their_limit_and_few_are_kept() {
        let mut lateness = late(vec![0; 1_000]);
        lateness.answers = u32::MAX;
        lateness.note(at(20_000), at(20_010), at(20_010), MOST);
        assert_eq!((lateness.answers, lateness.recent.len()), (u32::MAX, MAX_RECENT));
    }

    #[test]
    fn fewer_than_three_missed_probes_prove_nothing() {
        let missed = |sent: &[u64]| Missed::of(sent.iter().map(|it| at(*it)), Duration::from_millis(10));
        assert!(missed(&[]).is_none() && missed(&[1_000]).is_none() && missed(&[1_000, 1_020]).is_none());
        let missed = missed(&[1_000, 1_020, 1_040, 1_060]).expect("three are enough");
        assert_eq!((missed.oldest, missed.enough, missed.due), (at(1_000), at(1_040), at(1_010)));
    }

    #[test]
    fn only_answers_to_probes_that_were_sent_as_late_prove_a_silence() {
        let missed = Missed { oldest: at(1_000), enough: at(1_040), due: at(1_010) };
        let allowance = Duration::from_millis(25);
        let proves = |answers: &[(u64, u64)]| {
            let mut other = late(vec![0; 51]);
            answers.iter().for_each(|(sent, came)| other.note(at(*sent), at(*came), at(sent + 10), MOST));
            other.proves(&missed, allowance)
        };
        assert!(!Lateness::default().proves(&missed, allowance), "it has answered nothing");
        assert!(!proves(&[(1_039, 1_060)]) && proves(&[(1_040, 1_060)]));
        assert!(!proves(&[(1_040, 1_035)]), "within the allowance");
        // What the other path is late by, this one may be late by.
        assert!(!proves(&[(1_020, 1_090), (1_040, 1_090)]));
        assert!(proves(&[(1_020, 1_090), (1_040, 1_090), (1_060, 1_100)]));
    }
}
