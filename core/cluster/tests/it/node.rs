//! One controller of the model: a member, what it believes of switches, and how its machine and clock behave.

use std::time::Duration;

use braid_cluster::{Identity, Member, MemberId, Settings};
use braid_types::{Term, Time};

/// Roles claimed of switches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claimed {
    /// The term in which the switch made this controller its master.
    pub(crate) master: Option<Term>,
    /// The term in which it was refused; it stands down until it has a newer one.
    pub(crate) refused: Option<Term>,
}

pub(crate) struct Node {
    pub(crate) id: MemberId,
    pub(crate) index: usize,
    pub(crate) member: Member,
    pub(crate) run: u32,
    pub(crate) is_paused: bool,
    pub(crate) is_down: bool,
    /// Its brain hangs; the rest of the process goes on.
    pub(crate) hangs: bool,
    /// How far its clock is ahead.
    skew: Duration,
    pub(crate) roles: Vec<Claimed>,
    /// The time of its last timer.
    pub(crate) wake: u64,
}

impl Node {
    pub(crate) fn new(now: Time, index: usize, switches: usize, seed: u64, skew: Duration) -> Self {
        let id = MemberId::new(format!("m{index}"));
        let member = Self::start(now + skew, &id, index, seed);
        let roles = vec![Claimed::default(); switches];
        let (run, wake) = (0, 0);
        let (is_paused, is_down, hangs) = (false, false, false);
        Self { id, index, member, run, is_paused, is_down, hangs, skew, roles, wake }
    }

    fn start(local: Time, id: &MemberId, index: usize, seed: u64) -> Member {
        let tag = u16::try_from(index + 1).expect("few members");
        // Clocks differ by up to an hour.
        let first_term = Term(1_700_000_000_000_000_000 + local.as_nanos());
        Member::new(local, Identity { id: id.clone(), tag, first_term, seed }, Settings::default())
    }

    /// Its own time.
    pub(crate) fn local(&self, now: Time) -> Time {
        now + self.skew
    }

    /// When its timer is due, in the time of the world.
    pub(crate) fn timer(&self) -> Time {
        self.member.poll_timeout() - self.skew
    }

    pub(crate) fn restart(&mut self, now: Time, seed: u64) {
        self.run += 1;
        (self.is_down, self.is_paused, self.hangs) = (false, false, false);
        self.roles.fill(Claimed::default());
        self.member = Self::start(self.local(now), &self.id, self.index, seed);
    }

    pub(crate) const fn runs(&self) -> bool {
        !self.is_paused && !self.is_down
    }
}
