//! Feedback from probes: the state of each path, and the shares that follow from it.

mod history;
mod loss;
mod path;
mod probation;
mod probes;
mod rounds;
mod silence;
mod suspension;
mod verdict;

use std::time::Duration;

use braid_types::Time;

use path::{PathState, ProbeKind};
use probation::{Observation, Probation};
pub use probes::{AnsweredProbe, Probes, SentProbe};
use rounds::Rounds;
pub use silence::Lateness;
use suspension::Suspension;

use crate::segment_counts::SegmentCounts;

/// Shares are reported as integers; this is the sum of all.
const SHARE_PARTS: f64 = 10_000.0;
/// A path that is alive keeps at least this share, to show when its spare capacity grows.
const MIN_SHARE: f64 = 0.01;
/// A queue below this is noise: frames of other sizes, a thread waiting for its turn.
const QUEUE_NOISE: f64 = 0.004;
/// A path that delivers more than this part does well.
const DELIVERS_WELL: f64 = 0.97;
/// The speed at which shares follow queues, per second, is this by the time until a change shows.
const STABLE: f64 = 0.6;
/// A queue counts once some probes have met it, and its slope is smoothed: by so much what is known lags behind, in seconds.
const LAG: f64 = 0.1;
/// The greatest change of a share in one step, as a logarithm.
const MAX_STEP: f64 = 0.2;

/// How paths are probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeSettings {
    /// The interval between two probes of a path.
    pub interval: Duration,
    /// A path is dead when no probe is answered for this long, beyond the round-trip time; sooner if it misses what other
    /// paths have answered.
    pub timeout: Duration,
}

impl Default for ProbeSettings {
    fn default() -> Self {
        Self { interval: Duration::from_millis(20), timeout: Duration::from_millis(120) }
    }
}

/// Learns from probes how much each path can carry. Performs no I/O.
///
/// Send the probes of [`Self::poll_probe`], pass their answers to [`Self::handle_answer`], and take
/// [`Self::poll_shares`] whenever either has happened.
///
/// Each share follows the path's queue. The sending edge gives less to a path that queues more than the others, or whose
/// queue grows faster. So shares approach the proportion of what paths can carry, which nobody has configured. All queues
/// then take the same time, which leaves less skew for the other edge to resequence.
#[derive(Clone, Debug)]
pub struct Feedback {
    settings: ProbeSettings,
    paths: Vec<PathState>,
    /// By path, dead or alive; they sum up to 1.
    shares: Vec<f64>,
    reported: Vec<u32>,
    suspensions: Vec<Suspension>,
    probation: Probation,
    /// The path whose exclusion raises the total rate.
    excluded: Option<usize>,
    /// The number of the next probe.
    number: u32,
    rounds: Rounds,
}

/// The state of a path, as probes show it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathReport {
    /// Whether it does not answer probes.
    pub is_dead: bool,
    /// The time that packets wait in its queues.
    pub queue: Duration,
    /// The round-trip time of probes, smoothed.
    pub round_trip: Duration,
    /// The part of its traffic that is lost, smoothed; while it carries little, of probes and their answers.
    pub loss: f64,
    /// Whether it is suspended: the total rate is higher without it, or it loses packets that others do not.
    pub is_suspended: bool,
    /// How often it has stopped answering probes.
    pub silences: u32,
}

/// A probe that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// The path to probe.
    pub path: usize,
    /// Its number, which the answer repeats.
    pub number: u32,
}

impl Feedback {
    /// Paths with these shares to begin with.
    pub fn new(now: Time, settings: ProbeSettings, shares: &[u32]) -> Self {
        let paths = shares.iter().map(|_| PathState::new(now)).collect();
        let (reported, probation) = (shares.to_vec(), Probation::default());
        let suspensions = vec![Suspension::default(); shares.len()];
        let (shares_of, excluded, number) = (Vec::new(), None, 0);
        let mut feedback = Self {
            settings,
            paths,
            shares: shares_of,
            reported,
            suspensions,
            probation,
            excluded,
            number,
            rounds: Rounds::new(now, settings.interval),
        };
        feedback.set_shares(shares);
        feedback
    }

    /// Starts over with these shares. The number of paths must be the same; their measured state is kept.
    pub fn set_shares(&mut self, shares: &[u32]) {
        let total: f64 = shares.iter().map(|share| f64::from(*share)).sum();
        let even = 1.0 / shares.len().max(1) as f64;
        let share = |share: &u32| if total > 0.0 { f64::from(*share) / total } else { even };
        self.shares = shares.iter().map(share).collect();
        self.suspensions.iter_mut().for_each(Suspension::reset);
        self.reported.clear();
    }

    /// The next probe that is due.
    pub fn poll_probe(&mut self, now: Time) -> Option<Probe> {
        if now < self.rounds.due() {
            return None;
        }
        let path = (self.number as usize).checked_rem(self.paths.len())?;
        let (number, is_extra) = (self.number, self.rounds.is_extra(now));
        let kind = if is_extra { ProbeKind::Extra } else { ProbeKind::Regular };
        self.paths.get_mut(path)?.note_sent(now, number, kind);
        self.number = self.number.wrapping_add(1);
        if path.saturating_add(1) == self.paths.len() {
            self.end_round(now, is_extra);
        }
        Some(Probe { path, number })
    }

    fn end_round(&mut self, now: Time, is_extra: bool) {
        self.rounds.end(now);
        if !is_extra {
            self.update(now);
        }
        self.schedule();
    }

    /// Sets the time of the next round, which is sooner while an answer is late.
    fn schedule(&mut self) {
        let interval = self.settings.interval;
        let doubtful = self.paths.iter().filter_map(|path| path.doubtful_from(interval)).min();
        self.rounds.schedule(doubtful);
    }

    /// When the next probe is due.
    pub const fn poll_timeout(&self) -> Time {
        self.rounds.due()
    }

    /// Handles the answer to a probe. `arrived` is when the probe arrived, in nanoseconds of any clock that all paths
    /// share; `counts` are the segments sent and received before it, if both edges count them.
    pub fn handle_answer(
        &mut self,
        now: Time,
        path: usize,
        number: u32,
        arrived: i64,
        counts: Option<SegmentCounts>,
    ) {
        let timeout = self.settings.timeout;
        let Some(state) = self.paths.get_mut(path) else { return };
        if state.note_answer(now, number, arrived, counts, timeout) {
            self.compare(now, path);
            self.schedule();
        }
    }

    /// Finds paths that miss what this one has answered.
    fn compare(&mut self, now: Time, answered: usize) {
        let Some(other) = self.paths.get(answered).map(PathState::lateness) else { return };
        let paths = self.paths.iter().enumerate().filter(|(place, _)| *place != answered);
        let silent = paths.filter(|(_, path)| path.is_silent_beside(other, &self.settings));
        let silent: Vec<_> = silent.map(|(place, _)| place).collect();
        for place in &silent {
            self.paths.get_mut(*place).into_iter().for_each(PathState::note_silence);
        }
        if !silent.is_empty() {
            self.update(now);
        }
    }

    /// The shares, if they have changed since the last call.
    pub fn poll_shares(&mut self) -> Option<Vec<u32>> {
        let all_dead = self.paths.iter().all(PathState::is_dead);
        let part = |(place, (path, share)): (usize, (&PathState, &f64))| match path.is_dead() && !all_dead
            || self.is_suspended(place)
        {
            true => 0,
            false => ((share * SHARE_PARTS).round() as u32).max(1),
        };
        let parts: Vec<u32> = self.paths.iter().zip(&self.shares).enumerate().map(part).collect();
        let changed = parts != self.reported;
        self.reported.clone_from(&parts);
        changed.then_some(parts)
    }

    /// Whether a path answers.
    pub fn is_dead(&self, path: usize) -> bool {
        self.paths.get(path).is_some_and(PathState::is_dead)
    }

    /// When the newest probe of a path that was answered was sent.
    pub fn answered(&self, path: usize) -> Option<Time> {
        self.paths.get(path)?.answered()
    }

    /// The state of a path.
    pub fn report(&self, path: usize) -> Option<PathReport> {
        let state = self.paths.get(path)?;
        Some(PathReport {
            is_dead: state.is_dead(),
            queue: Duration::from_secs_f64(state.queue.max(0.0)),
            round_trip: state.round_trip(),
            loss: state.loss(),
            is_suspended: self.is_suspended(path),
            silences: state.silences,
        })
    }

    fn is_suspended(&self, path: usize) -> bool {
        self.excluded == Some(path) || self.suspensions.get(path).is_some_and(Suspension::is_suspended)
    }

    /// Whether it carries traffic and answers probes.
    fn is_used(&self, path: usize) -> bool {
        self.paths.get(path).is_some_and(PathState::is_usable) && !self.is_suspended(path)
    }

    fn used(&self) -> impl Iterator<Item = (usize, &PathState)> {
        self.paths.iter().enumerate().filter(|(place, _)| self.is_used(*place))
    }

    fn update(&mut self, now: Time) {
        for path in &mut self.paths {
            path.review(now, &self.settings);
        }
        let observations: Vec<_> = self
            .paths
            .iter()
            .zip(&self.suspensions)
            .map(|(path, suspension)| observation(path, !suspension.is_suspended()))
            .collect();
        self.excluded = self.probation.review(now, &observations);
        self.suspend(now);
        self.resume(now);
        self.balance();
    }

    /// Suspends paths that lose packets while others do not, or reduces their shares.
    fn suspend(&mut self, now: Time) {
        for place in 0..self.paths.len() {
            let Some(path) = self.paths.get(place).filter(|_| self.is_used(place)) else { continue };
            let others: Vec<_> = self.used().filter(|(other, _)| *other != place).map(|it| it.1).collect();
            let share = self.shares.get(place).copied().unwrap_or_default();
            let Some(mut suspension) = self.suspensions.get(place).copied() else { continue };
            let verdict = suspension.judge(now, path, share, &others);
            let next = verdict.and_then(|verdict| suspension.apply(now, share, verdict));
            self.suspensions.get_mut(place).into_iter().for_each(|it| *it = suspension);
            if let Some(share) = next {
                set_share(&mut self.shares, place, share);
            }
            if verdict.is_some() {
                self.paths.get_mut(place).into_iter().for_each(|path| path.carried.forget());
            }
        }
    }

    /// Resumes suspended paths whose queues are empty, and lets their shares grow.
    fn resume(&mut self, now: Time) {
        let shortest = self.used().map(|(_, path)| path.queue).min_by(f64::total_cmp);
        let do_well =
            self.used().any(|(_, path)| path.history.lately().is_none_or(|it| it.kept() > DELIVERS_WELL));
        for place in 0..self.paths.len() {
            let (Some(path), Some(suspension)) = (self.paths.get_mut(place), self.suspensions.get_mut(place))
            else {
                continue;
            };
            let Some(share) = self.shares.get(place).copied() else { continue };
            let next = match shortest {
                None => suspension.force_active(now),
                Some(queue) => {
                    suspension.resume(now, path, queue, do_well).or_else(|| suspension.grow(now, path, share))
                }
            };
            path.keeps_least = suspension.is_suspended();
            next.into_iter().for_each(|share| set_share(&mut self.shares, place, share));
        }
    }

    /// Adjusts shares to queues.
    fn balance(&mut self) {
        let known: Vec<&PathState> = self.used().map(|(_, path)| path).collect();
        if known.len() < 2 || known.iter().all(|path| path.queue < QUEUE_NOISE && path.loss() < 0.1) {
            return;
        }
        let count = known.len() as f64;
        let mean = |of: fn(&PathState) -> f64| known.iter().map(|path| of(path)).sum::<f64>() / count;
        let (queue, slope, loss) = (mean(|it| it.queue), mean(|it| it.slope), mean(PathState::loss));
        let slowest = known.iter().map(|path| path.round_trip()).max().unwrap_or_default();
        // A change shows after a round trip, and in what is known a while later: with a greater gain, shares would oscillate.
        let gain = STABLE / (slowest.as_secs_f64() + LAG);
        let step = self.settings.interval.as_secs_f64();
        for place in 0..self.paths.len() {
            let Some(path) = self.paths.get(place).filter(|_| self.is_used(place)) else { continue };
            // Critically damped: the slope of a queue is what a path's share exceeds its part by.
            let excess = gain * (path.slope - slope) + gain * gain / 4.0 * (path.queue - queue);
            let lost = gain * (path.loss() - loss);
            if let Some(share) = self.shares.get_mut(place) {
                *share *= (-(excess + lost) * step).clamp(-MAX_STEP, MAX_STEP).exp();
            }
        }
        self.normalise();
    }

    fn normalise(&mut self) {
        let total: f64 = self.shares.iter().sum();
        for share in &mut self.shares {
            *share = (*share / total.max(f64::MIN_POSITIVE)).max(MIN_SHARE);
        }
        let total: f64 = self.shares.iter().sum();
        self.shares.iter_mut().for_each(|share| *share /= total);
    }
}

/// Sets one share; the others keep their proportions.
fn set_share(shares: &mut [f64], place: usize, value: f64) {
    let value = value.clamp(MIN_SHARE, 0.99);
    let others: f64 = shares.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, it)| it).sum();
    let factor = (1.0 - value) / others.max(f64::MIN_POSITIVE);
    for (other, share) in shares.iter_mut().enumerate() {
        *share = if other == place { value } else { *share * factor };
    }
}

fn observation(path: &PathState, carries: bool) -> Observation {
    Observation {
        is_usable: path.is_usable() && carries,
        loss: path.carried.share().unwrap_or(0.0),
        queue: path.queue,
        round_trip: path.round_trip(),
        received: path.carried.received(),
    }
}
