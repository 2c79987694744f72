//! The latest steps of a link, since a clean link was last the likelier explanation of them.

use std::collections::vec_deque::Iter;
use std::time::Duration;

use super::evidence::LossEvidence;
use super::loss_test::{CONTRAST, frame_weight, loss_weight};
use super::step::Step;

/// The steps with the most losses that may have been bursts: what is lost in one was lost to a full queue.
const BURSTS: usize = 2;
/// What a step may lose more than the others without being a burst, in standard deviations, and in frames.
const MAX_DEVIATIONS: f64 = 3.0;
const MAX_EXCESS: f64 = 2.0;
/// The least share of the bytes that arrives where frames are merged: dozens of short ones, which are headers for the most part.
const MIN_MERGED_SHARE: f64 = 0.25;
/// Damaged frames from which on a link is degraded, in two steps at least.
const MIN_DAMAGED: u64 = 5;

/// Consecutive steps, up to the latest one.
#[derive(Clone, Debug)]
pub(super) struct Run<'a> {
    pub(super) steps: Iter<'a, Step>,
    /// The step before.
    pub(super) before: Option<&'a Step>,
}

impl<'a> Run<'a> {
    /// Number of steps that are judged.
    pub(super) fn len(&self) -> usize {
        self.judged().count()
    }

    fn judged(&self) -> impl Iterator<Item = &'a Step> {
        self.steps.clone().filter(|step| !step.is_doubtful)
    }

    /// How much likelier than a clean link a lossy one is, as a logarithm, if it loses as much during bursts as at other
    /// times; `error` of the lost frames do not count.
    pub(super) fn evidence(&self, limit: f64, error: f64) -> f64 {
        loss_weight() * (self.lost_without_bursts() - error) - frame_weight(limit) * self.frames()
    }

    /// Frames by which the losses may be wrong, as the times of readings are uncertain.
    pub(super) fn doubt(&self) -> f64 {
        let last = self.steps.clone().next_back();
        let ends = || self.before.into_iter().chain(last);
        let uncertain = ends().map(|step| f64::from(step.uncertain).powi(2)).sum::<f64>().sqrt();
        uncertain * self.max_rate() + ends().map(|step| f64::from(step.ramp)).sum::<f64>()
    }

    /// The highest rate of a step, in frames a second.
    pub(super) fn max_rate(&self) -> f64 {
        self.steps.clone().chain(self.before).map(Step::rate).fold(0.0, f64::max)
    }

    /// The evidence if so many frames are damaged that the link is degraded: nothing else explains those.
    pub(super) fn damage(&self, limit: f64) -> Option<LossEvidence> {
        let steps = || self.steps.clone();
        let (damaged, frames) = (self.damaged(), steps().map(|step| step.frames).sum::<f64>());
        let is_damaging = damaged >= MIN_DAMAGED
            && steps().filter(|step| step.damaged > 0).count() > 1
            && damaged as f64 >= limit / CONTRAST * frames;
        let time = steps().map(|step| step.time).sum();
        let lost = damaged.max(self.lost().max(0.0).round() as u64);
        is_damaging.then_some(LossEvidence { frames: frames.round() as u64, lost, damaged, time })
    }

    /// Whether frames are missing because the receiver counts several frames as one, as network cards and Linux merge
    /// them (LRO, GRO): then no bytes are missing, so the received frames are longer than the sent ones.
    pub(super) fn is_merged(&self) -> bool {
        let [frames, lost] = [self.frames(), self.lost()];
        let [sent, received] = [|step: &Step| step.bytes, |step: &Step| step.bytes_received]
            .map(|of| self.judged().map(of).map(f64::from).sum::<f64>());
        // Where only headers are missing, much arrives, in however few frames.
        if received < MIN_MERGED_SHARE * sent || received <= 0.0 || sent <= 0.0 || lost >= frames {
            return false;
        }
        let longer = received / (frames - lost) / (sent / frames) - 1.0;
        longer >= lost / frames / 2.0
    }

    /// What was counted. The losses may have begun during the first step, which then does not count.
    pub(super) fn total(&self) -> LossEvidence {
        let rest = Run { steps: self.rest(), before: None };
        let shares = [self, &rest].map(|run| run.lost() / run.frames().max(1.0));
        let run = if shares[0] < shares[1] { &rest } else { self };
        LossEvidence {
            frames: run.frames().round() as u64,
            lost: run.lost().max(0.0).round() as u64,
            damaged: run.judged().map(|step| u64::from(step.damaged)).sum(),
            time: run.judged().map(|step| step.time).sum::<Duration>(),
        }
    }

    fn rest(&self) -> Iter<'a, Step> {
        let mut steps = self.steps.clone();
        steps.next();
        steps
    }

    fn frames(&self) -> f64 {
        self.steps.clone().map(Step::judged).sum()
    }

    /// Frames that did not arrive unharmed.
    pub(super) fn lost(&self) -> f64 {
        self.steps.clone().map(Step::judged_lost).sum()
    }

    fn damaged(&self) -> u64 {
        self.steps.clone().map(|step| u64::from(step.damaged)).sum()
    }

    fn lost_without_bursts(&self) -> f64 {
        let mut bursts: Vec<_> = self.judged().collect();
        bursts.sort_unstable_by(|one, other| other.lost_or_damaged().total_cmp(&one.lost_or_damaged()));
        bursts.truncate(BURSTS);
        let [frames, lost] =
            [Step::judged, Step::judged_lost].map(|of| bursts.iter().map(|step| of(step)).sum::<f64>());
        let rest = self.lost() - lost;
        let share = (rest / (self.frames() - frames).max(1.0)).max(0.0);
        let usual = |step: &&Step| {
            let expected = share * step.frames;
            step.lost_or_damaged().min(expected + MAX_DEVIATIONS * expected.sqrt() + MAX_EXCESS)
        };
        // Few frames beside them say little of how much would be usual.
        let most = rest.max(0.0) + MAX_EXCESS * bursts.len() as f64;
        rest + bursts.iter().map(usual).sum::<f64>().min(most)
    }
}
