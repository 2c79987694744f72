//! The switches that are connected, and whether one more may join.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{DatapathId, Time};

use super::known::Known;
use super::{AllowedSwitch, SwitchAccess};
use crate::peer_limit::{PeerCounts, PeerLimitError, PeerLimits};

/// Switches at the same time; more than any network has.
const MAX_SWITCHES: usize = 16_384;
/// Of these places, so many are for switches that are listed, or that were there before.
const RESERVE: usize = 4_096;
/// Switches from one network of other machines.
const MAX_OF_PREFIX: usize = 1_024;
/// Switches from one address of this machine, such as those of a testbed.
const MAX_OF_LOOPBACK: usize = 8_192;

/// Switches that are connected and that may be.
#[derive(Debug)]
pub(crate) struct Roster {
    allowed: BTreeMap<DatapathId, Vec<AllowedSwitch>>,
    counts: PeerCounts,
    connected: BTreeMap<DatapathId, (IpAddr, Time)>,
    known: Known,
}

/// The reason for which a switch may not join.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum RosterError {
    #[error("datapath id {0} is not listed: --switch {0} lets it join")]
    NotListed(DatapathId),
    #[error("datapath id {0} may not join from this address: see --switch")]
    Elsewhere(DatapathId),
    #[error("no switch may join from this address: see --switch")]
    ForeignAddress,
    #[error(
        "{0}, and the switch is new: --switches-per-address raises the first, --switch DPID keeps a place"
    )]
    Limit(#[from] PeerLimitError),
}

impl Roster {
    pub(crate) fn new(access: &SwitchAccess) -> Self {
        let mut allowed = BTreeMap::<_, Vec<_>>::new();
        access.allowed.iter().for_each(|switch| allowed.entry(switch.dpid).or_default().push(*switch));
        let limits = PeerLimits {
            address: access.per_address,
            prefix: MAX_OF_PREFIX.max(access.per_address),
            loopback: MAX_OF_LOOPBACK.max(access.per_address),
            total: MAX_SWITCHES - RESERVE,
        };
        let (counts, connected, known) = (PeerCounts::new(limits), BTreeMap::new(), Known::default());
        Self { allowed, counts, connected, known }
    }

    /// Whether any switch may join from this address.
    pub(crate) fn check_address(&self, address: IpAddr) -> Result<(), RosterError> {
        let mut rules = self.allowed.values().flatten();
        let may = self.allowed.is_empty() || rules.any(|switch| switch.may_come_from(address));
        if may { Ok(()) } else { Err(RosterError::ForeignAddress) }
    }

    /// Whether this switch may join from this address now.
    pub(crate) fn check(&self, dpid: DatapathId, address: IpAddr) -> Result<(), RosterError> {
        let rules = self.allowed.get(&dpid);
        if !self.allowed.is_empty() && rules.is_none() {
            return Err(RosterError::NotListed(dpid));
        }
        if rules.is_some_and(|rules| !rules.iter().any(|switch| switch.may_come_from(address))) {
            return Err(RosterError::Elsewhere(dpid));
        }
        let has_room = self.connected.len() < MAX_SWITCHES;
        match self.counts.check(address) {
            Ok(()) => Ok(()),
            Err(_) if rules.is_some() && has_room => Ok(()),
            // Whoever was there before has a place among all, not more of them than others.
            Err(PeerLimitError::Total(_)) if self.known.has(dpid, address) && has_room => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A switch that passed [`check`](Self::check) joins.
    pub(crate) fn join(&mut self, now: Time, dpid: DatapathId, address: IpAddr) {
        if self.connected.insert(dpid, (address, now)).is_none() {
            self.counts.add(address);
        }
    }

    /// A switch leaves.
    pub(crate) fn leave(&mut self, now: Time, dpid: DatapathId) {
        if let Some((address, since)) = self.connected.remove(&dpid) {
            self.counts.remove(address);
            self.known.note(now, since, dpid, address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOREIGN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 66));
    const OWN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, 1));

    fn listed(switches: &[&str]) -> Roster {
        let allowed = switches.iter().map(|text| text.parse().expect("a switch")).collect();
        Roster::new(&SwitchAccess { allowed, ..SwitchAccess::default() })
    }

    fn join(roster: &mut Roster, at: u64, dpid: u64, from: IpAddr) -> Result<(), RosterError> {
        roster.check(DatapathId(dpid), from)?;
        roster.join(Time::from_millis(at * 1_000), DatapathId(dpid), from);
        Ok(())
    }

    /// Joins phantoms until no more may, from as many networks as it takes.
    fn flood(roster: &mut Roster) -> usize {
        let mut joined = 0;
        for number in 0..20_000_u32 {
            let from = IpAddr::V4((0x0b00_0000 + (number / 200) * 256).into());
            joined += usize::from(join(roster, 0, 100_000 + u64::from(number), from).is_ok());
        }
        joined
    }

    #[test]
    fn one_address_does_not_take_the_places_of_others() {
        let mut roster = listed(&[]);
        let phantoms = (0..5_000).filter(|it| join(&mut roster, 0, 1_000 + it, FOREIGN).is_ok()).count();
        assert_eq!(phantoms, super::super::SWITCHES_PER_ADDRESS);
        assert_eq!(join(&mut roster, 0, 1, OWN), Ok(()));
    }

    #[test]
    fn a_flood_from_everywhere_leaves_places_for_switches_that_were_there_before() {
        let mut roster = listed(&[]);
        for (dpid, stays) in [(1, 60), (2, 5)] {
            assert_eq!(join(&mut roster, 0, dpid, OWN), Ok(()));
            roster.leave(Time::from_millis(stays * 1_000), DatapathId(dpid));
        }
        assert_eq!(flood(&mut roster), MAX_SWITCHES - RESERVE);
        assert_eq!(join(&mut roster, 100, 1, OWN), Ok(()), "it was there for a minute");
        assert!(join(&mut roster, 100, 2, OWN).is_err(), "it was hardly there");
        assert!(join(&mut roster, 100, 1, FOREIGN).is_err(), "not from elsewhere");
    }

    #[test]
    fn only_listed_switches_join_and_only_from_their_networks() {
        let mut roster = listed(&["1", "2@10.0.1.0/24"]);
        assert_eq!(join(&mut roster, 0, 1, FOREIGN), Ok(()));
        assert_eq!(join(&mut roster, 0, 2, FOREIGN), Err(RosterError::Elsewhere(DatapathId(2))));
        assert_eq!(join(&mut roster, 0, 2, OWN), Ok(()));
        assert_eq!(join(&mut roster, 0, 3, OWN), Err(RosterError::NotListed(DatapathId(3))));
        assert_eq!(roster.check_address(FOREIGN), Ok(()), "1 may come from anywhere");
        let near = listed(&["2@10.0.1.0/24"]);
        assert_eq!(near.check_address(OWN), Ok(()));
        assert_eq!(near.check_address(FOREIGN), Err(RosterError::ForeignAddress));
    }

    #[test]
    fn a_switch_that_leaves_gives_its_place_back() {
        let mut roster = listed(&[]);
        for round in 0..10_000 {
            assert_eq!(join(&mut roster, 0, round, FOREIGN), Ok(()));
            roster.leave(Time::ZERO, DatapathId(round));
        }
    }
}
