//! What is remembered of a connection's subflows between trials.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{Backoff, Time};

use super::{Change, Trial};
use crate::Suspicion;

/// When the others carry less than this part of what they carried without a subflow, it is tried again early.
const LESS: f64 = 0.7;
/// Early is after this part of the pause.
const EARLY: u32 = 15;
/// When the connection carries less than it did without a subflow, that is tried again after this part of the pause.
const PROMPT: u32 = 30;

/// The subflows of a connection.
#[derive(Clone, Debug)]
pub(super) struct Members<K>(BTreeMap<K, Member>);

#[derive(Clone, Copy, Default, Debug)]
struct Member {
    is_suspended: bool,
    /// What its last trial was begun for.
    suspicion: Option<Suspicion>,
    /// The connection's rate without it, once that is known.
    without: f64,
    /// The pause after the last trial, and when it began.
    pause: Option<Duration>,
    since: Time,
    is_given_up: bool,
}

impl Member {
    /// Whether this fraction of the pause has passed.
    fn has_paused(&self, now: Time, fraction: u32) -> bool {
        !self.is_given_up && self.pause.is_none_or(|pause| now.since(self.since) >= pause / fraction)
    }

    /// Whether it is suspended and to be tried again.
    fn is_due(&self, now: Time, rate: f64) -> bool {
        let is_needed = rate < LESS * self.without && self.has_paused(now, EARLY);
        self.is_suspended && (is_needed || self.has_paused(now, 1))
    }

    /// Whether it was kept, and the connection carries less since than it did without it.
    fn is_doubtful(&self, now: Time, mean: f64) -> bool {
        !self.is_suspended && mean < self.without && self.has_paused(now, PROMPT)
    }
}

impl<K: Copy + Ord> Members<K> {
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Takes note of which subflows there are; whether these are others than before.
    pub(super) fn meet(&mut self, ids: impl Iterator<Item = K>) -> bool {
        let now: BTreeMap<K, Member> =
            ids.map(|id| (id, self.0.get(&id).copied().unwrap_or_default())).collect();
        let is_change = !now.keys().eq(self.0.keys());
        self.0 = now;
        is_change
    }

    pub(super) fn is_suspended(&self, id: K) -> bool {
        self.0.get(&id).is_some_and(|it| it.is_suspended)
    }

    pub(super) fn suspended(&self) -> impl Iterator<Item = K> {
        self.0.iter().filter(|(_, it)| it.is_suspended).map(|(id, _)| *id)
    }

    fn active(&self) -> usize {
        self.0.len() - self.suspended().count()
    }

    /// Resumes a suspended subflow if there is no other.
    pub(super) fn resume_last(&mut self) -> Option<K> {
        let id = (self.active() == 0).then(|| self.suspended().next()).flatten()?;
        self.resume(id);
        Some(id)
    }

    /// A suspended subflow that is to be tried again, while the connection has this rate.
    pub(super) fn due(&self, now: Time, rate: f64) -> Option<(K, Suspicion)> {
        self.0.iter().find_map(|(id, it)| Some((*id, it.suspicion.filter(|_| it.is_due(now, rate))?)))
    }

    /// A subflow that was kept, without which the connection has carried more than this mean rate since.
    pub(super) fn doubtful(&self, now: Time, mean: f64) -> Option<(K, Suspicion)> {
        let has_others = self.active() > 1;
        let is_doubtful = |it: &Member| has_others && it.is_doubtful(now, mean);
        self.0.iter().find_map(|(id, it)| Some((*id, it.suspicion.filter(|_| is_doubtful(it))?)))
    }

    /// Whether the connection may be tried without this subflow.
    pub(super) fn may_be_tried(&self, id: K, now: Time) -> bool {
        self.active() > 1 && self.0.get(&id).is_some_and(|it| !it.is_suspended && it.has_paused(now, 1))
    }

    pub(super) fn suspend(&mut self, id: K) {
        self.set(id, true);
    }

    pub(super) fn resume(&mut self, id: K) {
        self.set(id, false);
    }

    fn set(&mut self, id: K, is_suspended: bool) {
        if let Some(it) = self.0.get_mut(&id) {
            it.is_suspended = is_suspended;
        }
    }

    /// Takes note of the verdict, and of the connection's rate without the subflow.
    pub(super) fn judge(&mut self, now: Time, trial: &Trial<K>, verdict: Judgement) {
        let Some(it) = self.0.get_mut(&trial.id) else { return };
        // Pauses grow while trials find the same: a bad subflow is still bad, a suspected one is still of use.
        let is_same = verdict.is_worth == trial.is_without;
        it.pause = Some(verdict.pause.after(it.pause.filter(|_| is_same)));
        it.since = now;
        it.is_suspended = !verdict.is_worth;
        it.suspicion = Some(trial.suspicion);
        it.without = verdict.without;
    }

    /// Makes the subflow of a trial without a verdict what it was before.
    pub(super) fn restore(&mut self, now: Time, trial: &Trial<K>, pause: Backoff) -> Option<Change<K>> {
        let is_last = self.active() < 2;
        let it = self.0.get_mut(&trial.id)?;
        it.pause = Some(it.pause.unwrap_or_else(|| pause.after(None)));
        it.since = now;
        it.is_suspended = !trial.is_without && !is_last;
        match (trial.is_without, is_last) {
            (true, _) => Some(Change::Resume(trial.id)),
            (false, true) => None,
            (false, false) => Some(Change::Suspend(trial.id)),
        }
    }

    /// A change was refused: the subflow is as it was, and not tried again.
    pub(super) fn give_up(&mut self, change: Change<K>) {
        let (Change::Suspend(id) | Change::Resume(id)) = change;
        if let Some(it) = self.0.get_mut(&id) {
            it.is_given_up = true;
            it.is_suspended = false;
        }
    }
}

/// What a trial has found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    /// Whether the subflow is worth having.
    pub(super) is_worth: bool,
    /// The connection's rate without it.
    pub(super) without: f64,
    /// The pauses of trials.
    pub(super) pause: Backoff,
}
