//! The sequential test that tells a link that loses frames from a clean one.
//!
//! Page's cumulative sum (E. S. Page, Continuous inspection schemes, 1954) of the logarithm of how much likelier the
//! frames of each step are at the loss that is looked for than at a tenth of it. It restarts whenever the clean
//! link is the likelier one. At the threshold `ln(10^9)` a link that loses a tenth of that gives a false alarm
//! once in 10^9 frames at most (G. Lorden, Procedures for reacting to a change in distribution, 1971), and one that
//! loses nothing gives none.
//!
//! That holds for counters that are read at one moment. Two ends are not, so what their difference has fallen by
//! lately is taken away: lost frames never come back, so a fall is an error of the readings. Errors that do not grow
//! with the traffic are overtaken by losses that do. Counters that lag behind by a second make the test slow, and
//! not wrong.
//!
//! An alarm needs further losses after the threshold: a queue that was full for a moment causes none.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

use super::evidence::LossEvidence;
use super::run::Run;
use super::step::Step;

/// The natural logarithm of 10^9.
const THRESHOLD: f64 = 20.7;
/// From here on, the counters are read more often.
const SUSPICION: f64 = 5.0;
/// How many times the tolerated loss the loss that is looked for is.
pub(super) const CONTRAST: f64 = 10.0;

/// Steps are kept for this long.
const MAX_AGE: Duration = Duration::from_secs(60);
/// The most steps that are kept.
const MAX_STEPS: usize = 256;
/// The fewest steps that an alarm rests on.
const MIN_STEPS: usize = 6;
/// The fewest frames that are lost after there were enough for an alarm.
const MIN_LATER_LOSSES: f64 = 2.0;
/// Errors of readings are measured in time, at this rate at least, in frames a second: one frame more or less means
/// nothing on an idle link.
const MIN_RATE: f64 = 300.0;

/// What the test says of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// Nothing points to losses.
    Clean,
    /// Frames seem to be missing: more readings will tell.
    Suspicious,
    /// It loses frames.
    Lossy(LossEvidence),
}

/// The steps of a directed link that the test looks at.
#[derive(Debug, Default)]
pub(super) struct LossTest {
    steps: VecDeque<Step>,
    /// Since when the steps have been enough for an alarm. It takes more losses after that: what ends was a burst.
    certain_since: Option<Time>,
}

impl LossTest {
    /// Takes the next step. `limit` is the share of lost frames that makes a link degraded.
    pub(super) fn note(&mut self, step: Step, limit: f64) -> Verdict {
        self.forget_before(step.at - MAX_AGE);
        self.steps.push_back(step);
        let run = self.run(limit);
        let certain = run.evidence(limit, self.error(&run));
        let is_certain = certain >= THRESHOLD && run.len() >= MIN_STEPS;
        if let Some(damage) = [&run, &self.since_damage()].into_iter().find_map(|run| run.damage(limit)) {
            return Verdict::Lossy(damage);
        }
        if is_certain && self.certain_since.is_some_and(|since| self.goes_on(since)) {
            if !run.is_merged() {
                return Verdict::Lossy(run.total());
            }
            self.restart();
            return Verdict::Clean;
        }
        let is_suspicious = run.evidence(limit, run.doubt()) >= SUSPICION;
        self.certain_since = is_certain.then(|| self.certain_since.unwrap_or(step.at));
        if is_suspicious { Verdict::Suspicious } else { Verdict::Clean }
    }

    /// Forgets all steps: what follows is judged by itself.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    /// What is missing until now may have been lost to a full queue.
    pub(super) fn forget_losses(&mut self) {
        self.steps.iter_mut().for_each(|step| step.is_doubtful = true);
        self.certain_since = None;
    }

    /// The traffic has changed since the last step, or during it: that one is doubtful as well.
    pub(super) fn doubt_last(&mut self) {
        self.steps.back_mut().into_iter().for_each(|step| step.is_doubtful = true);
    }

    fn forget_before(&mut self, oldest: Time) {
        while self.steps.len() >= MAX_STEPS || self.steps.front().is_some_and(|step| step.at < oldest) {
            self.steps.pop_front();
        }
    }

    /// Whether more frames have been lost since.
    fn goes_on(&self, since: Time) -> bool {
        let start = self.steps.partition_point(|step| step.at <= since);
        self.from(start).lost() >= MIN_LATER_LOSSES
    }

    /// The steps since the sum of their evidence was least.
    fn run(&self, limit: f64) -> Run<'_> {
        let (mut evidence, mut start) = (0.0, 0);
        for (index, step) in self.steps.iter().enumerate() {
            if evidence < 0.0 {
                (evidence, start) = (0.0, index);
            }
            evidence += loss_weight() * step.judged_lost() - frame_weight(limit) * step.judged();
        }
        self.from(start)
    }

    /// The steps since frames were damaged first.
    fn since_damage(&self) -> Run<'_> {
        self.from(self.steps.iter().position(|step| step.damaged > 0).unwrap_or(self.steps.len()))
    }

    fn from(&self, start: usize) -> Run<'_> {
        let before = start.checked_sub(1).and_then(|index| self.steps.get(index));
        Run { steps: self.steps.range(start..), before }
    }

    /// The frames by which the losses of a run may be wrong: as far as the difference of both ends has fallen before or
    /// since, or as far as the times of its readings are uncertain.
    fn error(&self, run: &Run<'_>) -> f64 {
        let (mut lost, mut peak, mut peak_rate, mut fall) = (0.0, 0.0, MIN_RATE, 0.0_f64);
        for step in &self.steps {
            if step.is_doubtful {
                // Frames that waited in a queue come later as well.
                (lost, peak, peak_rate) = (0.0, 0.0, MIN_RATE);
                continue;
            }
            lost += step.lost;
            if lost >= peak {
                (peak, peak_rate) = (lost, step.rate());
            }
            let frames: f64 = (peak - lost - 1.0).max(0.0);
            fall = fall.max(frames / step.rate().max(peak_rate).max(MIN_RATE));
        }
        (fall * run.max_rate()).max(run.doubt())
    }
}

/// The evidence of one lost frame.
pub(super) fn loss_weight() -> f64 {
    CONTRAST.ln()
}

/// The evidence of one frame against losses, whether it is lost or not.
pub(super) fn frame_weight(limit: f64) -> f64 {
    limit * (1.0 - 1.0 / CONTRAST)
}
