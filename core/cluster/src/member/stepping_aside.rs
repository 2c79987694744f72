//! A leader that reaches fewer switches than a standby hands over to it by itself.

use braid_types::Time;

use super::{Event, Member};
use crate::message::MemberId;
use crate::reach::Reach;

impl Member {
    /// This member has counted the switches that have answered it lately. Call at least as often as heartbeats are sent, on
    /// the brain's thread. It is ready if it has what it is told of the leader's state, so that it may lead.
    pub fn handle_reach(&mut self, now: Time, own: Reach) {
        self.reaches.note_own(now, own);
        self.compare_reach(now);
        self.act(now);
    }

    /// What this member, or another one as far as it has said so lately, reaches.
    pub fn reach(&self, now: Time, member: &MemberId) -> Option<Reach> {
        if *member == self.identity.id { self.own_reach(now) } else { self.reaches.of(now, member) }
    }

    /// What this member tells others of its reach.
    pub(super) fn own_reach(&self, now: Time) -> Option<Reach> {
        let own = self.reaches.own(now)?;
        Some(Reach { is_ready: own.is_ready && !self.calls.is_failing(), ..own })
    }

    fn compare_reach(&mut self, now: Time) {
        if self.leading.is_none() {
            return self.reaches.begin_anew();
        }
        let silence = self.settings.silence;
        let following = self.followers.iter().filter(|(_, at)| now.since(**at) < silence);
        let Some(better) = self.reaches.compare(now, following.map(|(member, _)| member)) else { return };
        if self.hand_over(now, Some(&better.member)).is_ok() {
            // Whoever does not take over in time is asked again.
            self.reaches.keep_calm(now + self.settings.lease);
            let (to, own, theirs) = (better.member, better.own, better.theirs);
            self.events.push_back(Event::SteppedAside { to, own, theirs });
        }
    }
}
