//! Call-backs: subflows that answering hosts try to open, and subflows of opening hosts that wait for their
//! refusal.
//!
//! Linux counts an attempt among the subflows of a connection until it is refused. An attempt at the wrong
//! moment can take the place of the opening host's own subflow, which is then rejected and not retried.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_steering::TransferId;
use braid_types::{DatapathId, FiveTuple, MacAddr, Time, Token};

/// How long a host takes to free the place of a refused subflow, and the longest wait for that.
const JOIN_HOLD_MARGIN: Duration = Duration::from_millis(20);
const MAX_JOIN_HOLD: Duration = Duration::from_millis(250);

/// How long a host has to answer a call-back, and how long it is remembered whether a host calls back.
const CALL_BACK_TIMEOUT: Duration = Duration::from_secs(10);
const HABIT_MEMORY: Duration = Duration::from_secs(3_600);

/// How many subflows wait in vain for call-backs of a host until no more do. Linux makes them by chance: for
/// about one connection in five, if the host has endpoints for them.
const VAIN_WAITS: u32 = 100;

const EXPIRE_INTERVAL: Duration = Duration::from_secs(1);

/// Limit of each table.
const MAX_CALL_BACKS: usize = 4_096;

/// A subflow that an answering host tries to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallBack {
    /// Its transfer.
    pub(super) transfer: TransferId,
    /// The token of its MP_JOIN.
    pub(super) token: Token,
    /// When it came.
    pub(super) at: Time,
}

/// A held SYN of an opening host's subflow.
#[derive(Debug)]
pub(super) struct Join {
    /// `None` if it is not known yet.
    pub(super) transfer: Option<TransferId>,
    /// The switch where the SYN arrived.
    pub(super) dpid: DatapathId,
    /// The answering host.
    pub(super) answers: MacAddr,
    /// The SYN.
    pub(super) frame: Vec<u8>,
}

/// What is known of a host's call-backs.
#[derive(Clone, Copy, Debug)]
struct Habit {
    /// Subflows that waited in vain since the last one.
    vain_waits: u32,
    seen: Time,
}

/// The call-backs of one transfer.
#[derive(Clone, Copy, Debug)]
struct CallBackState {
    unanswered: usize,
    changed: Time,
}

/// Unanswered call-backs, and the subflows that wait for their refusal.
///
/// Invariants: `standing` counts `unanswered`; each of `joins` is in `due` once.
#[derive(Debug, Default)]
pub(super) struct CallBacks {
    unanswered: BTreeMap<FiveTuple, CallBack>,
    standing: BTreeMap<TransferId, CallBackState>,
    habits: BTreeMap<MacAddr, Habit>,
    joins: BTreeMap<FiveTuple, (Time, Join)>,
    due: BTreeSet<(Time, FiveTuple)>,
    expired_at: Time,
}

impl CallBacks {
    /// Records a call-back, whether new or repeated.
    pub(super) fn insert(&mut self, tuple: FiveTuple, caller: MacAddr, call_back: CallBack) {
        let CallBack { transfer, at, .. } = call_back;
        self.learn(caller, Habit { vain_waits: 0, seen: at });
        if self.unanswered.len() >= MAX_CALL_BACKS || self.unanswered.contains_key(&tuple) {
            return;
        }
        self.unanswered.insert(tuple, call_back);
        let standing = self.standing.entry(transfer).or_insert(CallBackState { unanswered: 0, changed: at });
        standing.unanswered += 1;
        standing.changed = at;
    }

    /// Records the answer to a call-back: it was accepted, refused or given up.
    pub(super) fn remove(&mut self, now: Time, tuple: &FiveTuple) -> Option<CallBack> {
        let answered = self.unanswered.remove(tuple)?;
        if let Some(standing) = self.standing.get_mut(&answered.transfer) {
            standing.unanswered -= 1;
            standing.changed = now;
        }
        Some(answered)
    }

    /// Whether a subflow towards `answers` must wait: its connection has call-backs, or that host is not known
    /// to make none.
    pub(super) fn must_wait(
        &self,
        tuple: &FiveTuple,
        transfer: Option<TransferId>,
        answers: MacAddr,
    ) -> bool {
        let is_expected = self.habits.get(&answers).is_none_or(|habit| habit.vain_waits < VAIN_WAITS);
        let is_called = || transfer.is_some_and(|transfer| self.standing.contains_key(&transfer));
        self.joins.contains_key(tuple) || self.joins.len() < MAX_CALL_BACKS && (is_expected || is_called())
    }

    /// Holds the SYN of a subflow. A retransmission of a held SYN is ignored.
    pub(super) fn hold(&mut self, now: Time, tuple: FiveTuple, join: Join) {
        if let std::collections::btree_map::Entry::Vacant(place) = self.joins.entry(tuple) {
            place.insert((now, join));
            self.due.insert((now + JOIN_HOLD_MARGIN, tuple));
        }
    }

    /// When the next subflow may continue.
    pub(super) fn wake_at(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// The subflows whose wait is over.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<Join> {
        let mut ready = Vec::new();
        while let Some(first) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.remove(&first);
            let (_, tuple) = first;
            let Some((since, join)) = self.joins.get(&tuple) else { continue };
            match self.free_at(now, *since, join.transfer) {
                Some(later) => drop(self.due.insert((later, tuple))),
                None => ready.extend(self.joins.remove(&tuple).map(|(_, join)| join)),
            }
        }
        ready.iter().for_each(|join| self.judge(now, join));
        ready
    }

    /// Counts a wait in vain.
    fn judge(&mut self, now: Time, join: &Join) {
        if join.transfer.is_some_and(|transfer| !self.standing.contains_key(&transfer)) {
            let before = self.habits.get(&join.answers).map_or(0, |habit| habit.vain_waits);
            self.learn(join.answers, Habit { vain_waits: before + 1, seen: now });
        }
    }

    fn learn(&mut self, host: MacAddr, habit: Habit) {
        if self.habits.len() < MAX_CALL_BACKS || self.habits.contains_key(&host) {
            self.habits.insert(host, habit);
        }
    }

    /// When to check a held subflow again; `None` if it may continue.
    fn free_at(&self, now: Time, since: Time, transfer: Option<TransferId>) -> Option<Time> {
        let standing = self.standing.get(&transfer?)?;
        let next = if standing.unanswered > 0 {
            now + JOIN_HOLD_MARGIN
        } else {
            standing.changed + JOIN_HOLD_MARGIN
        };
        Some(next.min(since + MAX_JOIN_HOLD)).filter(|next| *next > now)
    }

    /// Removes expired entries, once a second. Called whenever a subflow may continue.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        if now.since(self.expired_at) < EXPIRE_INTERVAL {
            return;
        }
        self.expired_at = now;
        let late: Vec<_> = self
            .unanswered
            .iter()
            .filter(|(_, call_back)| now.since(call_back.at) >= CALL_BACK_TIMEOUT)
            .map(|(tuple, _)| *tuple)
            .collect();
        for tuple in late {
            self.remove(now, &tuple);
        }
        self.standing
            .retain(|_, standing| standing.unanswered > 0 || now.since(standing.changed) < CALL_BACK_TIMEOUT);
        self.habits.retain(|_, habit| now.since(habit.seen) < HABIT_MEMORY);
    }
}
