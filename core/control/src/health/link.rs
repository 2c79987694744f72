//! One direction of a link: working, or degraded until it has been clean for its hold time.
//!
//! ```text
//!             it loses frames               clean for the hold time
//!   working ──────────────────▶ degraded ─────────────────────────▶ working
//!                                │     ▲
//!                                └─────┘ it loses frames: the hold time begins anew
//! ```
//!
//! The hold time doubles when a link is degraded again soon after.

use std::time::Duration;

use braid_types::{Backoff, Time};

use super::congestion::{Congestion, Usage};
use super::evidence::LossEvidence;
use super::loss_test::{LossTest, Verdict};
use super::step::{Comparison, Step};
use crate::settings::HealthSettings;

/// A link that stays working for so many hold times starts afresh.
const PROBATION: u32 = 10;
/// The fewest frames that show that a link is clean.
const MIN_CLEAN_FRAMES: f64 = 1_000.0;
/// Lost frames that are not counted against a link that is to be clean.
const MAX_STRAY_LOSSES: f64 = 2.0;
/// The share of the limit that a clean link may lose.
const CLEAN_SHARE: f64 = 0.2;

/// What is known of one direction of a link.
#[derive(Debug, Default)]
pub(super) struct LinkHealth {
    pub(super) comparison: Comparison,
    pub(super) congestion: Congestion,
    test: LossTest,
    state: State,
    /// Frames a second of the last step.
    pub(super) rate: f64,
}

#[derive(Debug)]
enum State {
    Working {
        /// When it was taken back last.
        after: Option<Recovery>,
    },
    /// Boxed, as few links are.
    Degraded(Box<Degraded>),
}

/// When a link was taken back, after which hold time.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    at: Time,
    hold: Duration,
}

/// A link that loses frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Degraded {
    /// Since when it is known.
    pub(crate) since: Time,
    /// What shows it.
    pub(crate) evidence: LossEvidence,
    /// How long it must be clean.
    pub(crate) hold: Duration,
    /// Since when it has been clean.
    pub(crate) clean_since: Time,
    frames: f64,
    lost: f64,
}

/// What a step has changed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Change {
    /// Frames seem to be missing.
    Suspicious,
    /// The link is degraded from now on, or worse than it was.
    Degraded(LossEvidence),
    /// The link works again: this passed without losses.
    Recovered(LossEvidence),
}

impl Default for State {
    fn default() -> Self {
        Self::Working { after: None }
    }
}

impl LinkHealth {
    /// The state of a degraded link.
    pub(super) fn degraded(&self) -> Option<&Degraded> {
        match &self.state {
            State::Degraded(degraded) => Some(degraded),
            State::Working { .. } => None,
        }
    }

    /// The controller that led before knew that the link loses frames: it has to be clean for as long as it had to there.
    /// Returns whether that is news.
    pub(super) fn recall(&mut self, now: Time, evidence: LossEvidence, hold: Duration) -> bool {
        let is_news = matches!(self.state, State::Working { .. });
        if is_news {
            self.state = State::Degraded(Box::new(Degraded::new(now, evidence, hold)));
        }
        is_news
    }

    /// Takes the next step. What is lost while frames may have queued in the link is no evidence.
    pub(super) fn note(&mut self, step: Step, settings: &HealthSettings, usage: Usage) -> Option<Change> {
        self.rate = step.rate();
        match usage {
            Usage::Room => {}
            Usage::Burst => self.test.doubt_last(),
            Usage::Full => self.test.forget_losses(),
        }
        // Shorter steps tell bursts from steady traffic.
        let is_lossy = step.lost_or_damaged() > strays(&step, settings.loss_limit * CLEAN_SHARE);
        let is_in_doubt = usage == Usage::Burst && is_lossy;
        let step = Step { is_doubtful: usage != Usage::Room, ..step };
        let verdict = self.test.note(step, settings.loss_limit);
        match &mut self.state {
            State::Degraded(degraded) => {
                if step.damaged == 0 && (is_in_doubt || usage == Usage::Full) {
                    return None;
                }
                let recovered = degraded.note(&step, settings)?;
                let hold = degraded.hold;
                self.state = State::Working { after: Some(Recovery { at: step.at, hold }) };
                self.test.restart();
                Some(Change::Recovered(recovered))
            }
            State::Working { after } => match verdict {
                Verdict::Clean => is_in_doubt.then_some(Change::Suspicious),
                Verdict::Suspicious => Some(Change::Suspicious),
                Verdict::Lossy(evidence) => {
                    let hold = next_hold(*after, step.at, settings);
                    self.state = State::Degraded(Box::new(Degraded::new(step.at, evidence, hold)));
                    Some(Change::Degraded(evidence))
                }
            },
        }
    }

    /// Counters have restarted, or the link was down: earlier steps say nothing of it.
    pub(super) fn restart(&mut self) {
        self.test.restart();
    }
}

impl Degraded {
    const fn new(since: Time, evidence: LossEvidence, hold: Duration) -> Self {
        Self { since, evidence, hold, clean_since: since, frames: 0.0, lost: 0.0 }
    }

    /// Counts what passes; returns it if the link has been clean for its hold time.
    fn note(&mut self, step: &Step, settings: &HealthSettings) -> Option<LossEvidence> {
        self.frames += step.frames;
        self.lost += step.lost_or_damaged();
        let before = self.frames - step.frames;
        let tolerated = settings.loss_limit * CLEAN_SHARE;
        if self.lost > tolerated * before + strays(step, tolerated) {
            (self.clean_since, self.frames, self.lost) = (step.at, 0.0, 0.0);
            return None;
        }
        let time = step.at.since(self.clean_since);
        let is_clean = time >= self.hold && self.frames >= MIN_CLEAN_FRAMES;
        is_clean.then(|| LossEvidence {
            frames: self.frames.round() as u64,
            lost: self.lost.max(0.0).round() as u64,
            damaged: 0,
            time,
        })
    }
}

/// The frames that may be missing after a step on a link that loses this share at most.
fn strays(step: &Step, share: f64) -> f64 {
    let uncertain = f64::from(step.uncertain) * step.rate() + f64::from(step.ramp);
    MAX_STRAY_LOSSES + share * step.frames + 2.0 * uncertain
}

/// Twice the hold time before, if the link was taken back not long ago.
fn next_hold(after: Option<Recovery>, now: Time, settings: &HealthSettings) -> Duration {
    let recent = after.filter(|Recovery { at, hold }| now.since(*at) < *hold * PROBATION);
    Backoff::between(settings.hold, settings.hold_max).after(recent.map(|it| it.hold))
}
