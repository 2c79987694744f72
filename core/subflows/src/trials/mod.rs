//! The trials of one connection's subflows.

mod mean;
mod members;
mod trial;

use std::collections::VecDeque;

use braid_types::Time;

use crate::suspicion::suspect;
use crate::verdict::{Outcome, bits_per_sec, is_worth};
use crate::window::{Progress, Window};
use crate::{Reading, Settings, Verdict};

use mean::Mean;
use members::{Judgement, Members};
use trial::{Phase, Trial};

/// A rate is steady when neither half of it is more than this many times the other.
const STEADY: f64 = 1.1;
/// A steady rate is waited for this many round trips of the best subflow, but one window at least and five at most: a bad
/// subflow may be what makes it unsteady.
const ROUND_TRIPS: u32 = 20;
const MAX_UNSTEADY: u32 = 5;

/// What is to be done with a subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change<K> {
    /// It is to carry data only while there is no other.
    Suspend(K),
    /// It is to carry data again.
    Resume(K),
}

/// Tries a connection without a subflow that looks bad, and a suspended one again, one at a time.
///
/// ```text
///              suspected                 drained              no better
///  Watching ──────────────▶ Settling ──────────────▶ Measuring ─────────▶ Watching, suspended
///      ▲                       ▲                         │                        │
///      └──────── Growing ◀─────┼──── better with it ─────┘                        │
///                              └──────────────── after a pause ───────────────────┘
/// ```
///
/// The rate is that of the data which the peer has acknowledged in order, so that it contains what a slow subflow holds
/// back. Trials begin when the paths limit the connection and its rate is steady. The last subflow that carries
/// data is never touched. When subflows come or go, a trial ends without a verdict.
#[derive(Clone, Debug)]
pub struct Trials<K> {
    settings: Settings,
    phase: Phase<K>,
    window: Option<Window<K>>,
    /// Windows in a row in which the rate was not steady.
    unsteady: u32,
    /// The rate since the last trial.
    mean: Mean,
    members: Members<K>,
    verdicts: VecDeque<Verdict<K>>,
}

impl<K: Copy + Ord> Trials<K> {
    /// No subflow is known yet.
    #[must_use]
    pub const fn new(settings: Settings) -> Self {
        Self {
            settings,
            phase: Phase::Watching,
            window: None,
            unsteady: 0,
            mean: Mean::new(),
            members: Members::new(),
            verdicts: VecDeque::new(),
        }
    }

    /// Takes a reading of the connection, some ten times a window. The change takes effect before the next reading.
    pub fn observe(&mut self, now: Time, reading: &Reading<K>) -> Option<Change<K>> {
        if self.members.meet(reading.ids()) {
            return self.abandon(now).or_else(|| self.members.resume_last().map(Change::Resume));
        }
        match self.phase {
            Phase::Watching => self.watch(now, reading),
            Phase::Settling(trial) => {
                self.settle(now, reading, &trial);
                None
            }
            Phase::Measuring(trial) => self.measure(now, reading, trial),
            Phase::Growing(trial) => {
                self.grow(now, reading, &trial);
                None
            }
        }
    }

    /// A change could not be made: the subflow is left as it is.
    pub fn handle_refusal(&mut self, change: Change<K>) {
        self.members.give_up(change);
        (self.phase, self.window) = (Phase::Watching, None);
    }

    /// The next verdict that was not taken yet.
    pub fn poll_verdict(&mut self) -> Option<Verdict<K>> {
        self.verdicts.pop_front()
    }

    /// Whether this subflow is suspended, or tried without at the moment.
    #[must_use]
    pub fn is_suspended(&self, id: K) -> bool {
        self.members.is_suspended(id)
    }

    /// The subflows that are suspended, or tried without at the moment.
    pub fn suspended(&self) -> impl Iterator<Item = K> {
        self.members.suspended()
    }

    fn watch(&mut self, now: Time, reading: &Reading<K>) -> Option<Change<K>> {
        let window = self.full_window(now, reading)?;
        if !self.is_limited_by_paths(&window) {
            self.unsteady = 0;
            return None;
        }
        self.mean.add(window.rate());
        let is_steady = (1.0 / STEADY..=STEADY).contains(&window.growth());
        self.unsteady = if is_steady { 0 } else { self.unsteady + 1 };
        let (trial, change) = self.choose(now, &window)?;
        match change {
            Change::Suspend(id) => self.members.suspend(id),
            Change::Resume(id) => self.members.resume(id),
        }
        self.phase = Phase::Settling(trial);
        Some(change)
    }

    /// A trial with a subflow whose pause is over, or without one that is doubtful or suspected.
    fn choose(&self, now: Time, window: &Window<K>) -> Option<(Trial<K>, Change<K>)> {
        let (rate, mean) = (window.rate(), self.mean.get());
        let trial = |id, suspicion| Trial { id, is_without: true, before: rate, since: now, suspicion };
        // A single window may be slow by chance.
        if let Some((id, suspicion)) = self.members.doubtful(now, mean) {
            return Some((Trial { before: mean, ..trial(id, suspicion) }, Change::Suspend(id)));
        }
        if self.is_changing(window) {
            return None;
        }
        if let Some((id, suspicion)) = self.members.due(now, rate) {
            return Some((Trial { is_without: false, ..trial(id, suspicion) }, Change::Resume(id)));
        }
        let active: Vec<Progress<K>> =
            window.progress().filter(|it| !self.members.is_suspended(it.id)).collect();
        let (id, suspicion) = suspect(&active, |id| self.members.may_be_tried(id, now))?;
        Some((trial(id, suspicion), Change::Suspend(id)))
    }

    /// Whether the rate grows or falls, and has not done so for long.
    fn is_changing(&self, window: &Window<K>) -> bool {
        let best = window.progress().max_by(|a, b| a.delivered.total_cmp(&b.delivered));
        let round_trip = best.map(|it| it.rtt).unwrap_or_default();
        let patience = round_trip.saturating_mul(ROUND_TRIPS).max(self.settings.window);
        let lasted = self.settings.window.saturating_mul(self.unsteady);
        (1..=MAX_UNSTEADY).contains(&self.unsteady) && lasted <= patience
    }

    fn settle(&mut self, now: Time, reading: &Reading<K>, trial: &Trial<K>) {
        if trial.is_settled(now, reading, &self.settings) {
            self.phase = Phase::Measuring(*trial);
            self.window = Some(Window::new(now, reading));
        }
    }

    /// What is measured while the subflow grows says nothing of it.
    fn grow(&mut self, now: Time, reading: &Reading<K>, trial: &Trial<K>) {
        if trial.is_settled(now, reading, &self.settings) {
            (self.phase, self.window) = (Phase::Watching, None);
        }
    }

    fn measure(&mut self, now: Time, reading: &Reading<K>, trial: Trial<K>) -> Option<Change<K>> {
        let window = self.full_window(now, reading)?;
        if !self.is_limited_by_paths(&window) {
            return self.abandon(now);
        }
        (self.unsteady, self.mean) = (0, Mean::new());
        self.phase = Phase::Watching;
        self.judge(now, &trial, window.rate())
    }

    fn judge(&mut self, now: Time, trial: &Trial<K>, after: f64) -> Option<Change<K>> {
        let (with, without) = if trial.is_without { (trial.before, after) } else { (after, trial.before) };
        let (id, is_worth) = (trial.id, is_worth(with, without));
        if is_worth && trial.is_without {
            self.phase = Phase::Growing(Trial { is_without: false, since: now, ..*trial });
        }
        let (outcome, change) = match (is_worth, trial.is_without) {
            (true, true) => (Outcome::Kept, Some(Change::Resume(id))),
            (true, false) => (Outcome::Resumed, None),
            (false, true) => (Outcome::Suspended, None),
            (false, false) => (Outcome::StillSuspended, Some(Change::Suspend(id))),
        };
        self.members.judge(now, trial, Judgement { is_worth, without, pause: self.settings.pause });
        let (with, without) = (bits_per_sec(with), bits_per_sec(without));
        let suspicion = trial.suspicion;
        self.verdicts.push_back(Verdict { subflow: id, outcome, suspicion, with, without });
        change
    }

    /// Ends a trial without a verdict: the subflow becomes what it was before.
    fn abandon(&mut self, now: Time) -> Option<Change<K>> {
        (self.window, self.unsteady, self.mean) = (None, 0, Mean::new());
        let trial = std::mem::replace(&mut self.phase, Phase::Watching).trial()?;
        self.members.restore(now, &trial, self.settings.pause)
    }

    /// The window that ends with this reading, if it is long enough; the next one begins with it.
    fn full_window(&mut self, now: Time, reading: &Reading<K>) -> Option<Window<K>> {
        let length = self.settings.window;
        let window = self.window.get_or_insert_with(|| Window::new(now, reading));
        window.add(now, reading, length);
        let is_full = window.age() >= length;
        is_full.then(|| std::mem::replace(window, Window::new(now, reading)))
    }

    #[expect(clippy::cast_precision_loss, reason = "a limit need not be exact")]
    fn is_limited_by_paths(&self, window: &Window<K>) -> bool {
        window.is_greedy() && window.rate() >= self.settings.min_rate.0 as f64
    }
}
