//! A standby's copy of what the leader knows, until it leads itself.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use braid_cluster::MemberId;
use braid_control::{Fact, FactChange, FactKey};
use tracing::{debug, info, warn};

use super::wire::{Applied, Batch, Header, MAX_LINE};
use crate::cluster::peers::{self, Lines, Local, Refusals, spawn};

/// The most facts that a standby keeps: those of 100,000 transfers, 65,536 hosts with some addresses, and many links.
const MAX_FACTS: usize = 400_000;
/// Facts of a leader that was heard last longer ago than this are not begun with.
const MAX_AGE: Duration = Duration::from_secs(60);
/// A leader that says nothing for this long is asked anew.
const SILENCE: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(250);
/// The same after a leader whose facts cannot be read.
const RETRY_UNREADABLE: Duration = Duration::from_secs(10);

/// The member that leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::cluster) struct Leading {
    pub(in crate::cluster) member: MemberId,
    /// Where it listens for other members.
    pub(in crate::cluster) address: String,
}

/// The copy, shared by the engine's thread and the one that follows.
#[derive(Clone, Debug, Default)]
pub(in crate::cluster) struct Following(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    leader: Mutex<Option<Leading>>,
    copy: Mutex<Copied>,
}

/// Facts of one leader.
#[derive(Debug, Default)]
struct Copied {
    facts: BTreeMap<FactKey, Fact>,
    /// When the leader last said that these are all.
    current_at: Option<Instant>,
    /// Why there are none, or not all.
    problem: Option<String>,
}

/// A standby's own state, as its API shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::cluster) struct FollowView {
    pub(in crate::cluster) facts: u64,
    /// How long ago the leader said that these are all; `None` if it has not.
    pub(in crate::cluster) age: Option<Duration>,
    pub(in crate::cluster) problem: Option<String>,
}

impl Following {
    /// Follows whoever leads, on a thread of its own.
    pub(in crate::cluster) fn start(local: Local, refusals: Refusals) -> Self {
        let following = Self::default();
        let shared = following.clone();
        spawn("cluster-follow", move || shared.keep(&local, &refusals));
        following
    }

    /// Follows this leader from now on; nobody if this member leads, or knows no leader that tells facts.
    pub(in crate::cluster) fn set_leader(&self, leader: Option<Leading>) {
        *lock(&self.0.leader) = leader;
    }

    /// Takes what this member knows, to begin with when it leads.
    pub(in crate::cluster) fn take(&self) -> Vec<Fact> {
        self.set_leader(None);
        let Copied { facts, current_at, .. } = std::mem::take(&mut *self.copy());
        let is_recent = current_at.is_some_and(|at| at.elapsed() < MAX_AGE);
        if is_recent { facts.into_values().collect() } else { Vec::new() }
    }

    pub(in crate::cluster) fn view(&self) -> FollowView {
        let copy = self.copy();
        FollowView {
            facts: copy.facts.len() as u64,
            age: copy.current_at.map(|at| at.elapsed()),
            problem: copy.problem.clone(),
        }
    }

    fn copy(&self) -> MutexGuard<'_, Copied> {
        lock(&self.0.copy)
    }

    fn leader(&self) -> Option<Leading> {
        lock(&self.0.leader).clone()
    }

    /// Whether nobody but the thread that follows has this.
    fn is_over(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    fn keep(&self, local: &Local, refusals: &Refusals) {
        while !self.is_over() {
            let Some(leader) = self.leader() else {
                thread::sleep(RETRY);
                continue;
            };
            let pause = match peers::follow(local, &leader.address, refusals) {
                Ok(lines) => self.follow(&leader, lines),
                Err(why) => {
                    debug!(member = %leader.member, why, "the leader cannot be followed");
                    RETRY
                }
            };
            thread::sleep(pause);
        }
    }

    /// Follows until the connection ends, or another member leads. Returns the pause before the next try.
    fn follow(&self, leader: &Leading, mut lines: Lines) -> Duration {
        lines.set_max_line(MAX_LINE);
        let header = lines.next(SILENCE).and_then(|line| Ok(serde_json::from_value::<Header>(line)?));
        match header.map(Header::problem) {
            Ok(None) => {}
            Ok(Some(problem)) => {
                warn!(member = %leader.member, problem, "this standby follows the leader without its facts");
                self.copy().problem = Some(problem);
                return RETRY_UNREADABLE;
            }
            Err(why) => {
                debug!(member = %leader.member, %why, "the leader said nothing");
                return RETRY;
            }
        }
        match self.copy_all(leader, &mut lines) {
            Err(why) if why.kind() == io::ErrorKind::QuotaExceeded => {
                warn!(member = %leader.member, %why, "this standby follows the leader without its facts");
                self.copy().problem = Some(why.to_string());
                return RETRY_UNREADABLE;
            }
            Err(why) => debug!(member = %leader.member, %why, "the leader is followed no more"),
            Ok(()) => {}
        }
        RETRY
    }

    /// Takes the snapshot, which replaces earlier facts once it is complete, and then changes.
    fn copy_all(&self, leader: &Leading, lines: &mut Lines) -> io::Result<()> {
        let mut snapshot = Some(BTreeMap::new());
        while self.leader().as_ref() == Some(leader) && !self.is_over() {
            let batch: Batch = serde_json::from_value(lines.next(SILENCE)?)?;
            let (number, more) = (batch.number, batch.more);
            let changes: Vec<_> = batch.into_changes().collect();
            match &mut snapshot {
                Some(facts) => apply(facts, changes)?,
                None => apply(&mut self.copy().facts, changes)?,
            }
            if !more {
                self.note_current(leader, snapshot.take());
            }
            lines.write(&Applied { applied: number }, SILENCE)?;
        }
        Ok(())
    }

    fn note_current(&self, leader: &Leading, snapshot: Option<BTreeMap<FactKey, Fact>>) {
        let mut copy = self.copy();
        if let Some(facts) = snapshot {
            info!(member = %leader.member, facts = facts.len(), "this standby has what the leader knows");
            (copy.facts, copy.problem) = (facts, None);
        }
        copy.current_at = Some(Instant::now());
    }
}

fn apply(facts: &mut BTreeMap<FactKey, Fact>, changes: Vec<FactChange>) -> io::Result<()> {
    for change in changes {
        match change {
            FactChange::Known(fact) => _ = facts.insert(fact.key(), fact),
            FactChange::Gone(key) => _ = facts.remove(&key),
        }
    }
    if facts.len() > MAX_FACTS {
        let why = format!("the leader has more than {MAX_FACTS} facts");
        return Err(io::Error::new(io::ErrorKind::QuotaExceeded, why));
    }
    Ok(())
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
