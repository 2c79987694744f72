//! What a standby has heard of a leader.

use std::time::Duration;

use braid_types::{Term, Time};

use crate::message::MemberId;
use crate::store::LeaderRecord;

/// The heartbeats of the newest leader.
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    heard: Option<Heard>,
}

#[derive(Debug)]
struct Heard {
    from: MemberId,
    term: Term,
    at: Time,
    /// Its stream closed, or it has asked to be replaced.
    is_gone: bool,
    leaseless_since: Option<Time>,
}

impl Hearing {
    /// Takes a heartbeat, unless a newer leader was heard.
    pub(crate) fn note(&mut self, now: Time, from: &MemberId, term: Term, has_lease: bool) {
        let before = self.heard.take_if(|heard| heard.term == term && heard.from == *from);
        if self.heard.as_ref().is_some_and(|heard| heard.term.is_newer_than(term)) {
            return;
        }
        let leaseless = before.and_then(|heard| heard.leaseless_since).unwrap_or(now);
        let leaseless_since = (!has_lease).then_some(leaseless);
        self.heard = Some(Heard { from: from.clone(), term, at: now, is_gone: false, leaseless_since });
    }

    /// The stream of this member closed, or it leads no more.
    pub(crate) fn note_gone(&mut self, from: &MemberId) {
        self.heard.iter_mut().filter(|heard| heard.from == *from).for_each(|heard| heard.is_gone = true);
    }

    /// This member itself did not listen for that long: that was no silence.
    pub(crate) fn excuse(&mut self, stall: Duration, now: Time) {
        self.heard.iter_mut().for_each(|heard| heard.at = (heard.at + stall).min(now));
    }

    /// The leader that was heard last and has not gone, with its term and when.
    pub(crate) fn leader(&self) -> Option<(&MemberId, Term, Time)> {
        let heard = self.heard.as_ref().filter(|heard| !heard.is_gone)?;
        Some((&heard.from, heard.term, heard.at))
    }

    /// Whether a leader is alive.
    pub(crate) fn is_alive(&self, now: Time, silence: Duration) -> bool {
        self.heard.as_ref().is_some_and(|heard| !heard.is_gone && now.since(heard.at) < silence)
    }

    /// Whether the leader that is alive has been without a lease for this long.
    pub(crate) fn is_leaseless(&self, now: Time, limit: Duration) -> bool {
        let since = self.heard.as_ref().and_then(|heard| heard.leaseless_since);
        since.is_some_and(|since| now.since(since) >= limit)
    }

    /// Whether this leader was heard and is not any more. One that was never heard may be alive for others.
    pub(crate) fn is_silent(&self, leader: &LeaderRecord, now: Time, silence: Duration) -> bool {
        let heard = self.heard.as_ref();
        let heard = heard.filter(|heard| heard.from == leader.member && heard.term == leader.term);
        heard.is_some_and(|heard| heard.is_gone || now.since(heard.at) >= silence)
    }

    /// When the leader counts as silent.
    pub(crate) fn deadline(&self, silence: Duration) -> Option<Time> {
        self.heard.as_ref().filter(|heard| !heard.is_gone).map(|heard| heard.at + silence)
    }
}
