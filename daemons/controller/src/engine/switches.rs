//! The connected switches, and this controller's role to each of them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use braid_cluster::{MemberId, Presence, TermStamp};
use braid_types::{DatapathId, Term, Time, following};

use super::join::{Duplicate, JoinError, PeerRole, RoleLoss, RoleRefusal};
use crate::channels::{Outbox, RoleWish};
use crate::clock;
use crate::mastership::Mastership;
use crate::outstanding_rules::OutstandingRules;
use crate::switch_access::{Roster, RosterError, SwitchAccess};

/// The outbox of every connected switch, those that may join, and the term in which the role of master is claimed.
pub(crate) struct Switches {
    connected: BTreeMap<DatapathId, Peer>,
    roster: Roster,
    mastership: Mastership,
    /// How many have answered lately, and when that was counted.
    reached: Option<(Time, Reached)>,
    presence: SharedPresence,
}

/// Which switches this member reaches, shared by several threads.
pub(crate) type SharedPresence = Arc<Mutex<Presence>>;

/// How many switches have answered lately.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reached {
    pub(crate) switches: u32,
    /// Those among them that are reached through standbys.
    pub(crate) relayed: u32,
}

/// A connected switch.
pub(super) struct Peer {
    address: SocketAddr,
    pub(super) outbox: Rc<Outbox>,
    pub(super) written: OutstandingRules,
    role: PeerRole,
}

impl Switches {
    pub(super) fn new() -> Self {
        Self {
            connected: BTreeMap::new(),
            roster: Roster::new(&SwitchAccess::default()),
            mastership: Mastership::new(Term(clock::generation())),
            reached: None,
            presence: SharedPresence::default(),
        }
    }

    /// Only these switches may join, and so many.
    pub(crate) fn restrict(&mut self, access: &SwitchAccess) {
        self.roster = Roster::new(access);
    }

    pub(crate) fn len(&self) -> usize {
        self.connected.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.connected.is_empty()
    }

    pub(crate) fn address(&self, dpid: DatapathId) -> Option<SocketAddr> {
        self.connected.get(&dpid).map(|peer| peer.address)
    }

    /// The standby through which a switch is reached.
    pub(crate) fn via(&self, dpid: DatapathId) -> Option<&MemberId> {
        self.connected.get(&dpid).and_then(|peer| peer.outbox.via())
    }

    /// How many switches are reached through each standby.
    pub(crate) fn relayed(&self) -> BTreeMap<MemberId, u32> {
        let mut relayed = BTreeMap::new();
        let via = self.connected.values().filter_map(|peer| peer.outbox.via());
        via.for_each(|member| *relayed.entry(member.clone()).or_default() += 1);
        relayed
    }

    /// The outbox of a connected switch.
    pub(crate) fn outbox(&self, dpid: DatapathId) -> Option<&Rc<Outbox>> {
        self.connected.get(&dpid).map(|peer| &peer.outbox)
    }

    /// Which switches this member reaches.
    pub(crate) const fn presence(&self) -> &SharedPresence {
        &self.presence
    }

    /// Those whose master this controller is.
    pub(crate) fn mastered(&self) -> impl Iterator<Item = DatapathId> {
        self.connected.iter().filter(|(_, peer)| peer.role == PeerRole::Master).map(|(dpid, _)| *dpid)
    }

    /// Those after this one, and whether this controller is their master.
    pub(crate) fn peers_after(&self, dpid: Option<DatapathId>) -> impl Iterator<Item = (DatapathId, bool)> {
        let peers = self.connected.range(following(dpid));
        peers.map(|(dpid, peer)| (*dpid, peer.role == PeerRole::Master))
    }

    /// Whether any switch may join from this address.
    pub(crate) fn check_address(&self, address: SocketAddr) -> Result<(), RosterError> {
        self.roster.check_address(address.ip())
    }

    /// Whether a switch with this datapath id may join from this address now, over the connection with this outbox. One that
    /// connects itself may join in the place of its connection through a standby, and not the other way round.
    pub(crate) fn check_join(
        &self,
        dpid: DatapathId,
        address: SocketAddr,
        outbox: &Rc<Outbox>,
    ) -> Result<(), JoinError> {
        let other = self.connected.get(&dpid).filter(|peer| !Rc::ptr_eq(&peer.outbox, outbox));
        if outbox.via().is_some() && (other.is_some() || self.mastership.term().is_none()) {
            return Err(JoinError::NotNeeded);
        }
        match other {
            Some(peer) if peer.outbox.via().is_none() => Err(Duplicate { dpid, other: peer.address }.into()),
            Some(_) | None => Ok(self.roster.check(dpid, address.ip())?),
        }
    }

    /// Ends the connection of a switch through a standby, if it has another one: this. Returns whether this controller was its
    /// master.
    pub(super) fn displace(&mut self, now: Time, dpid: DatapathId, outbox: &Rc<Outbox>) -> bool {
        let other = self.connected.get(&dpid).map(|peer| peer.outbox.clone());
        let Some(other) = other.filter(|it| it.via().is_some() && outbox.via().is_none()) else {
            return false;
        };
        other.discard();
        other.close();
        self.leave(now, dpid, &other) == Some(PeerRole::Master)
    }

    /// The term in which the role of master is claimed; `None` while another member of the cluster leads.
    pub(crate) const fn term(&self) -> Option<Term> {
        self.mastership.term()
    }

    /// The newest term that a switch has seen.
    pub(crate) const fn newest_term(&self) -> Term {
        self.mastership.newest()
    }

    /// The newest term that a switch has seen and no member of the cluster has raised.
    pub(crate) const fn newest_foreign_term(&self) -> Option<Term> {
        self.mastership.newest_foreign()
    }

    /// So many switches have answered lately.
    pub(crate) const fn note_reached(&mut self, now: Time, reached: Reached) {
        self.reached = Some((now, reached));
    }

    /// How many switches have answered lately, and when that was counted; `None` where nobody counts.
    pub(crate) const fn reached(&self) -> Option<(Time, Reached)> {
        self.reached
    }

    /// Claims the role of master of every connected switch, in a new term.
    pub(crate) fn take_over(&mut self) -> Term {
        let term = self.mastership.take_over();
        self.claim(term);
        term
    }

    /// Terms are given by a cluster from now on.
    pub(crate) const fn stand_by(&mut self, stamp: TermStamp) {
        self.mastership = Mastership::standby(stamp);
    }

    /// Whether terms are given by a cluster.
    pub(crate) const fn is_elected(&self) -> bool {
        self.mastership.is_elected()
    }

    /// The cluster has elected this controller.
    pub(crate) fn lead(&mut self, term: Term) {
        self.mastership.set_elected(Some(term), term);
        self.claim(term);
    }

    /// The cluster has elected another controller. Returns the switches of which this one was the master.
    pub(super) fn follow(&mut self, newest: Term) -> Vec<DatapathId> {
        self.mastership.set_elected(None, newest);
        let mut left = Vec::new();
        for (dpid, peer) in &mut self.connected {
            peer.outbox.discard();
            match peer.outbox.via() {
                None => peer.outbox.ask(RoleWish::Release(newest)),
                Some(_) => peer.outbox.close(),
            }
            if std::mem::replace(&mut peer.role, PeerRole::Slave) == PeerRole::Master {
                left.push(*dpid);
            }
        }
        left
    }

    /// A switch has finished its handshake. Returns whether this controller is its master.
    pub(super) fn join(
        &mut self,
        now: Time,
        dpid: DatapathId,
        address: SocketAddr,
        outbox: &Rc<Outbox>,
    ) -> Result<bool, JoinError> {
        if self.mastership.term().is_none() {
            // Another controller was elected during the handshake.
            self.connect(now, (dpid, address), outbox, PeerRole::Slave)?;
            outbox.ask(RoleWish::Release(self.mastership.newest()));
            return Ok(false);
        }
        self.connect(now, (dpid, address), outbox, PeerRole::Master)?;
        self.mastership.note_accepted();
        Ok(true)
    }

    /// Another controller is the switch's master. Claims the role again if this one has a newer term by now; otherwise nothing
    /// more is written to the switch.
    pub(super) fn lose_role(
        &mut self,
        now: Time,
        (dpid, address): (DatapathId, SocketAddr),
        outbox: &Rc<Outbox>,
        RoleRefusal { claimed, newest }: RoleRefusal,
    ) -> Result<RoleLoss, JoinError> {
        newest.into_iter().for_each(|term| self.mastership.note_seen(term));
        let newer = |term: &Term| claimed.is_none_or(|claimed| term.is_newer_than(claimed));
        let claims = self.mastership.term().filter(newer);
        let role = if claims.is_some() { PeerRole::Claiming } else { PeerRole::Slave };
        let before = self.connect(now, (dpid, address), outbox, role)?;
        outbox.discard();
        claims.into_iter().for_each(|term| outbox.ask(RoleWish::Claim(term)));
        // In a cluster another member may lead by now.
        let is_known = self.is_elected() || before == Some(PeerRole::Slave);
        let is_new = claims.is_none() && claimed.is_some() && !is_known;
        let foreign = newest.filter(|term| claims.is_none() && self.is_fenced_by(*term));
        Ok(RoleLoss { was_master: before == Some(PeerRole::Master), is_new, foreign })
    }

    /// The OpenFlow connection with this outbox has closed. Returns what this controller was to the switch; nothing if the switch
    /// has another connection by now.
    pub(super) fn leave(&mut self, now: Time, dpid: DatapathId, outbox: &Rc<Outbox>) -> Option<PeerRole> {
        self.connected.get(&dpid).filter(|peer| Rc::ptr_eq(&peer.outbox, outbox))?;
        self.roster.leave(now, dpid);
        self.connected.remove(&dpid).map(|peer| peer.role)
    }

    /// The switch, if this controller is its master and may write to it.
    pub(super) fn master_of(&mut self, dpid: DatapathId) -> Option<&mut Peer> {
        self.connected.get_mut(&dpid).filter(|peer| peer.role == PeerRole::Master)
    }

    /// The rules that were written to a switch and not confirmed yet.
    pub(super) fn written(&self, dpid: DatapathId) -> Option<&OutstandingRules> {
        self.connected.get(&dpid).map(|peer| &peer.written)
    }

    /// Closes every OpenFlow connection once its outbox is empty.
    pub(super) fn close(&self) {
        self.connected.values().for_each(|peer| peer.outbox.close());
    }

    /// Counts the switch as connected, with no outstanding rules. Returns its role before.
    fn connect(
        &mut self,
        now: Time,
        (dpid, address): (DatapathId, SocketAddr),
        outbox: &Rc<Outbox>,
        role: PeerRole,
    ) -> Result<Option<PeerRole>, JoinError> {
        self.check_join(dpid, address, outbox)?;
        self.roster.join(now, dpid, address.ip());
        let (outbox, written) = (outbox.clone(), OutstandingRules::default());
        let before = self.connected.insert(dpid, Peer { address, outbox, written, role });
        Ok(before.map(|peer| peer.role))
    }

    /// Whether another member of the cluster has raised this term, and it is newer than that in which this one leads.
    pub(super) fn is_replaced_in(&self, term: Term) -> bool {
        let is_newer = |own: Term| term.is_newer_than(own);
        let is_known = self.is_elected() && !self.mastership.is_foreign(term);
        is_known && self.mastership.term().is_some_and(is_newer)
    }

    /// Whether this term is newer than that in which this member of a cluster leads, and no member has raised it.
    fn is_fenced_by(&self, term: Term) -> bool {
        let is_newer = |own: Term| term.is_newer_than(own);
        self.mastership.is_foreign(term) && self.mastership.term().is_some_and(is_newer)
    }

    fn claim(&mut self, term: Term) {
        for peer in self.connected.values_mut() {
            peer.outbox.ask(RoleWish::Claim(term));
            if peer.role == PeerRole::Slave {
                peer.role = PeerRole::Claiming;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use braid_cluster::MemberId;

    use super::*;

    const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);

    #[test]
    fn a_foreign_term_costs_a_leader_the_switch_that_has_it_and_no_other() {
        let stamp = TermStamp::new("default", &MemberId::new("a"));
        let own = stamp.above(Term(7));
        let mut switches = Switches::new();
        switches.stand_by(stamp);
        switches.lead(own);
        let outboxes = [1, 2].map(|dpid| {
            let outbox = Outbox::new(0, &Rc::default());
            switches.join(Time::ZERO, DatapathId(dpid), ADDRESS, &outbox).expect("a new switch");
            outbox
        });
        let mut lose = |newest| {
            let refusal = RoleRefusal { claimed: Some(own), newest };
            switches
                .lose_role(Time::ZERO, (DatapathId(1), ADDRESS), &outboxes[0], refusal)
                .expect("it is known")
        };
        // It says that it has another master, and then in which term.
        assert_eq!(lose(None), RoleLoss { was_master: true, is_new: false, foreign: None });
        assert_eq!(lose(Some(own.next())).foreign, Some(own.next()));
        let newer = TermStamp::new("default", &MemberId::new("b")).above(own);
        assert_eq!(lose(Some(newer)).foreign, None, "another member leads");
        assert!(switches.master_of(DatapathId(1)).is_none() && switches.master_of(DatapathId(2)).is_some());
        assert_eq!(switches.newest_term(), newer);
    }
}
