//! What the member's fronts are told, and what its API shows of switches that are served through standbys.

use braid_cluster::MemberId;

use super::Cluster;
use crate::cluster::facts::Leading;

impl Cluster {
    /// Tells those who pass switches on who leads.
    pub(super) fn note_leader_of_fronts(&self, leader: Option<&MemberId>) {
        self.fronts.note(
            self.member.leads(),
            leader,
            leader.and_then(|it| self.target(it)),
            self.member.newest(),
        );
    }

    /// How many switches the leader serves through a member: a leader knows it of others, a standby of itself.
    pub(in crate::cluster) fn relayed(&self, member: &MemberId) -> Option<u32> {
        let is_own = *member == self.local.hello.member;
        match (self.member.leads(), is_own) {
            (true, false) => {
                Some(self.engine.borrow().switches().relayed().get(member).copied().unwrap_or_default())
            }
            (false, true) => Some(self.fronts.fronted()),
            _ => None,
        }
    }

    /// Where a leader takes fronts, if it does.
    fn target(&self, leader: &MemberId) -> Option<Leading> {
        let (address, _) = self.peers.get(leader).filter(|_| self.fronted.contains(leader))?;
        Some(Leading { member: leader.clone(), address: address.clone() })
    }
}
