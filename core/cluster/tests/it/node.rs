//! One controller of the model: a member, what it believes of switches, and how its machine and clock behave.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_cluster::{
    Entries, Identity, IntentId, IntentSettings, Intents, Member, MemberId, RunId, Settings, TermStamp,
};
use braid_types::{Term, Time};

use crate::reach::Probes;

/// Roles claimed of switches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claimed {
    /// The term in which the switch made this controller its master.
    pub(crate) master: Option<Term>,
    /// The term in which it was refused; it stands down until it has a newer one.
    pub(crate) refused: Option<Term>,
}

/// An API call that waits until the store has what it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Put(String),
    Remove(String),
}

pub(crate) struct Node {
    pub(crate) id: MemberId,
    pub(crate) index: usize,
    pub(crate) member: Member,
    pub(crate) intents: Intents,
    /// What its brain has of intents, and the calls that wait.
    pub(crate) brain: Entries,
    pub(crate) calls: BTreeMap<IntentId, Call>,
    pub(crate) run: u32,
    pub(crate) run_id: RunId,
    pub(crate) is_paused: bool,
    pub(crate) is_down: bool,
    /// Its brain hangs; the rest of the process goes on.
    pub(crate) hangs: bool,
    /// How far its clock is ahead.
    skew: Duration,
    pub(crate) roles: Vec<Claimed>,
    pub(crate) probes: Probes,
    /// The time of its last timer.
    pub(crate) wake: u64,
}

impl Node {
    pub(crate) fn new(now: Time, index: usize, switches: usize, seed: u64, skew: Duration) -> Self {
        let id = MemberId::new(format!("m{index}"));
        let member = Self::start(now + skew, &id, seed);
        let roles = vec![Claimed::default(); switches];
        let probes = Probes::new(now, switches);
        let (run, run_id, wake) = (0, RunId(seed), 0);
        let (is_paused, is_down, hangs) = (false, false, false);
        let intents = Intents::new(IntentSettings::default());
        let (brain, calls) = (Entries::new(), BTreeMap::new());
        Self {
            id,
            index,
            member,
            intents,
            brain,
            calls,
            run,
            run_id,
            is_paused,
            is_down,
            hangs,
            skew,
            roles,
            probes,
            wake,
        }
    }

    fn start(local: Time, id: &MemberId, seed: u64) -> Member {
        let (run, stamp) = (RunId(seed), TermStamp::new("cluster", id));
        // Clocks differ by up to an hour.
        let first_term = Term(1_700_000_000_000_000_000 + local.as_nanos());
        Member::new(local, Identity { id: id.clone(), run, stamp, first_term, seed }, Settings::default())
    }

    /// Its own time.
    pub(crate) fn local(&self, now: Time) -> Time {
        now + self.skew
    }

    /// When its timer is due, in the time of the world.
    pub(crate) fn timer(&self) -> Time {
        let intents = self.intents.poll_timeout();
        intents.into_iter().fold(self.member.poll_timeout(), Time::min) - self.skew
    }

    pub(crate) fn restart(&mut self, now: Time, seed: u64) {
        self.run += 1;
        self.run_id = RunId(seed);
        (self.is_down, self.is_paused, self.hangs) = (false, false, false);
        self.roles.fill(Claimed::default());
        self.probes = Probes::new(now, self.roles.len());
        self.member = Self::start(self.local(now), &self.id, seed);
        self.intents = Intents::new(IntentSettings::default());
        self.brain.clear();
        self.calls.clear();
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self, local: Time) {
        self.member.handle_timeout(local);
        let Self { intents, brain, calls, .. } = self;
        let waits = |key: &str| calls.values().any(|it| *it == Call::Put(key.to_owned()));
        intents.retain(|key| brain.contains_key(key) || waits(key));
        intents.handle_timeout(local);
    }

    pub(crate) const fn runs(&self) -> bool {
        !self.is_paused && !self.is_down
    }
}
