//! What a member tells its standbys, or has been told, and begins with when it leads.

use std::time::Duration;

use braid_api as api;
use braid_cluster::MemberId;
use tracing::info;

use super::Cluster;
use crate::cluster::facts::{FollowView, Leading};

/// A standby to which the leader has said nothing for this long is not up to date. It says something once a second.
const MAX_AGE: Duration = Duration::from_secs(3);

impl Cluster {
    /// How far a standby is, as far as this member knows: a leader of those that follow it, a standby of itself.
    pub(in crate::cluster) fn following(&self, member: &MemberId) -> Option<api::Following> {
        let micros = |lag: Duration| u64::try_from(lag.as_micros()).unwrap_or(u64::MAX);
        if self.member.leads() {
            let progress = self.publication.progress().get(member).cloned()?;
            return Some(api::Following { lag_us: progress.lag().map(micros), problem: None });
        }
        let FollowView { age, problem, .. } =
            Some(self.following.view()).filter(|_| *member == self.local.hello.member)?;
        Some(api::Following { lag_us: age.map(micros), problem })
    }

    /// The facts that this member tells, or has been told.
    pub(in crate::cluster) fn facts(&self) -> u64 {
        if self.member.leads() { self.publication.facts() } else { self.following.view().facts }
    }

    /// Whether this member would begin with what the leader knows, as far as it can be told that.
    pub(super) fn has_facts(&self) -> bool {
        let FollowView { age, problem, .. } = self.following.view();
        age.is_some_and(|age| age < MAX_AGE) || problem.is_some()
    }

    /// Where a leader tells facts, if it does.
    pub(super) fn leading(&self, leader: &MemberId) -> Option<Leading> {
        let (address, _) = self.peers.get(leader).filter(|_| self.fact_senders.contains(leader))?;
        Some(Leading { member: leader.clone(), address: address.clone() })
    }

    /// Begins with what this member knows of the leader before.
    pub(super) fn recall(&self) {
        let facts = self.following.take();
        if !facts.is_empty() {
            info!(facts = facts.len(), "this controller begins with what the leader before it knew");
            let now = self.now();
            self.engine.borrow_mut().handle(now, &braid_control::Event::Facts { facts });
        }
    }
}
