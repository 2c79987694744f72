//! How many switches members reach, and when a leader that reaches fewer than a standby steps aside.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use braid_types::Time;
use serde::{Deserialize, Serialize};

use crate::message::MemberId;
use crate::settings::Settings;

/// What a member says of its own way to the switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reach {
    /// The switches that answer it.
    pub switches: u32,
    /// Those among them that a leader reaches through standbys.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub relayed: u32,
    /// Whether it can lead: the store answers it, and it has what it is told of the leader's state.
    pub is_ready: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl Reach {
    /// The switches for which a leader stays. One that reaches none itself stays for none: whoever does leads in its place.
    const fn counts(self) -> u32 {
        if self.relayed < self.switches { self.switches } else { 0 }
    }
}

/// A standby that reaches more switches than the leader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Better {
    pub(crate) member: MemberId,
    /// The switches that the leader reaches, and that the standby does.
    pub(crate) own: u32,
    pub(crate) theirs: u32,
}

/// What all members reach, as one of them knows it.
#[derive(Debug)]
pub(crate) struct Reaches {
    settings: Settings,
    own: Option<(Time, Reach)>,
    others: BTreeMap<MemberId, (Time, Reach)>,
    /// Since when some standby reaches more, and since when more than twice as many.
    fewer_since: Option<Time>,
    far_fewer_since: Option<Time>,
    /// Until then this member does not step aside.
    calm_until: Time,
}

impl Reaches {
    /// Those of a member that has just started: switches are about to connect to it.
    pub(crate) fn new(now: Time, settings: Settings) -> Self {
        let calm_until = now + settings.calm;
        let (own, others) = (None, BTreeMap::new());
        Self { settings, own, others, fewer_since: None, far_fewer_since: None, calm_until }
    }

    pub(crate) const fn note_own(&mut self, now: Time, reach: Reach) {
        self.own = Some((now, reach));
    }

    /// Another member has said what it reaches; an older version says nothing.
    pub(crate) fn note(&mut self, now: Time, of: &MemberId, reach: Option<Reach>) {
        match reach {
            Some(reach) => _ = self.others.insert(of.clone(), (now, reach)),
            None => self.forget(of),
        }
    }

    pub(crate) fn forget(&mut self, member: &MemberId) {
        self.others.remove(member);
    }

    /// What this member reaches, if it has counted lately.
    pub(crate) fn own(&self, now: Time) -> Option<Reach> {
        self.own.as_ref().and_then(|noted| self.recent(now, noted))
    }

    /// What another member reaches, if it has said so lately.
    pub(crate) fn of(&self, now: Time, member: &MemberId) -> Option<Reach> {
        self.others.get(member).and_then(|noted| self.recent(now, noted))
    }

    fn recent(&self, now: Time, (at, reach): &(Time, Reach)) -> Option<Reach> {
        (now.since(*at) < self.settings.silence).then_some(*reach)
    }

    /// This member does not step aside for a while: it was asked to lead, or has just asked another one to.
    pub(crate) fn keep_calm(&mut self, until: Time) {
        self.calm_until = self.calm_until.max(until);
    }

    /// What was seen so far says nothing: this member was stopped, or does not lead.
    pub(crate) const fn begin_anew(&mut self) {
        (self.fewer_since, self.far_fewer_since) = (None, None);
    }

    /// Compares the leader's reach with that of these standbys. Returns the one to lead in its place, if that is settled.
    pub(crate) fn compare<'a>(
        &mut self,
        now: Time,
        standbys: impl Iterator<Item = &'a MemberId>,
    ) -> Option<Better> {
        let better = self.best(now, standbys);
        let far = better.as_ref().filter(|it| it.own.saturating_mul(2) < it.theirs);
        self.far_fewer_since = far.map(|_| self.far_fewer_since.unwrap_or(now));
        self.fewer_since = better.as_ref().map(|_| self.fewer_since.unwrap_or(now));
        let holds = |since: Option<Time>, time| since.is_some_and(|since| now.since(since) >= time);
        let Settings { silence, calm, .. } = self.settings;
        let is_settled = holds(self.far_fewer_since, silence) || holds(self.fewer_since, calm);
        better.filter(|_| is_settled && now >= self.calm_until)
    }

    /// The standby that reaches most, if that is more than the leader does. What is unknown is no reason.
    fn best<'a>(&self, now: Time, standbys: impl Iterator<Item = &'a MemberId>) -> Option<Better> {
        let own = self.own(now)?.counts();
        let ready = standbys.filter_map(|member| {
            let theirs = self.of(now, member).filter(|it| it.is_ready)?.switches;
            Some(Better { member: member.clone(), own, theirs })
        });
        // Of equals the first.
        ready.min_by_key(|it| Reverse(it.theirs)).filter(|it| it.theirs > own)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A leader's reaches when it has run for long, and its standbys.
    struct Scene {
        now: Time,
        reaches: Reaches,
        standbys: [MemberId; 2],
    }

    impl Scene {
        fn new() -> Self {
            let reaches = Reaches::new(Time::ZERO, Settings::default());
            Self { now: Time::from_millis(60_000), reaches, standbys: ["b", "c"].map(MemberId::new) }
        }

        /// For this long the leader and its standbys reach so many. Returns who leads next, and when that was settled.
        fn last(&mut self, millis: u64, own: u32, standbys: [Option<u32>; 2]) -> Option<(MemberId, u64)> {
            let start = self.now;
            while self.now.since(start) < Duration::from_millis(millis) {
                self.now = self.now + Duration::from_millis(100);
                self.reaches.note_own(self.now, reach(own));
                for (member, switches) in self.standbys.iter().zip(standbys) {
                    self.reaches.note(self.now, member, switches.map(reach));
                }
                if let Some(better) = self.reaches.compare(self.now, self.standbys.iter()) {
                    return Some((better.member, self.now.since(start).as_millis() as u64));
                }
            }
            None
        }
    }

    const fn reach(switches: u32) -> Reach {
        Reach { switches, relayed: 0, is_ready: true }
    }

    #[test]
    fn a_leader_that_reaches_less_than_half_steps_aside_at_once_for_the_one_that_reaches_most() {
        let mut scene = Scene::new();
        assert_eq!(scene.last(60_000, 20, [Some(20), Some(20)]), None);
        assert_eq!(scene.last(60_000, 9, [Some(19), Some(20)]), Some((MemberId::new("c"), 400)));
        assert_eq!(Scene::new().last(60_000, 0, [Some(1), Some(1)]), Some((MemberId::new("b"), 400)));
    }

    #[test]
    fn a_leader_that_reaches_fewer_steps_aside_once_that_has_lasted() {
        assert_eq!(Scene::new().last(60_000, 19, [Some(20), None]), Some((MemberId::new("b"), 10_100)));
    }

    #[test]
    fn a_switch_that_comes_and_goes_changes_no_leader() {
        let mut scene = Scene::new();
        for _ in 0..100 {
            assert_eq!(scene.last(5_000, 19, [Some(20), Some(20)]), None);
            assert_eq!(scene.last(200, 0, [Some(20), Some(20)]), None);
            assert_eq!(scene.last(100, 20, [Some(20), Some(20)]), None);
        }
    }

    #[test]
    fn what_nobody_reaches_and_what_is_unknown_change_no_leader() {
        let mut scene = Scene::new();
        assert_eq!(scene.last(60_000, 3, [Some(3), Some(2)]), None);
        assert_eq!(scene.last(60_000, 0, [Some(0), Some(0)]), None);
        assert_eq!(scene.last(60_000, 0, [None, None]), None, "older versions");
        let unready = Reach { switches: 20, relayed: 0, is_ready: false };
        for _ in 0..600 {
            scene.now = scene.now + Duration::from_millis(100);
            scene.reaches.note_own(scene.now, reach(0));
            scene.reaches.note(scene.now, &scene.standbys[0], Some(unready));
            assert_eq!(scene.reaches.compare(scene.now, scene.standbys.iter()), None);
        }
    }

    #[test]
    fn relayed_switches_count_unless_the_leader_reaches_no_other() {
        for (relayed, leader) in [(15, None), (19, None), (20, Some(MemberId::new("b")))] {
            let mut scene = Scene::new();
            let mut next = None;
            for _ in 0..300 {
                scene.now = scene.now + Duration::from_millis(100);
                scene.reaches.note_own(scene.now, Reach { switches: 20, relayed, is_ready: true });
                scene.reaches.note(scene.now, &scene.standbys[0], Some(reach(20)));
                next = next.or(scene.reaches.compare(scene.now, scene.standbys.iter()));
            }
            assert_eq!(next.map(|it| it.member), leader, "{relayed} of 20 relayed");
        }
    }

    #[test]
    fn what_was_said_long_ago_counts_as_unknown() {
        let mut scene = Scene::new();
        scene.reaches.note(scene.now, &scene.standbys[0], Some(reach(20)));
        for _ in 0..100 {
            scene.now = scene.now + Duration::from_millis(100);
            scene.reaches.note_own(scene.now, reach(0));
            assert_eq!(scene.reaches.compare(scene.now, scene.standbys.iter()), None);
        }
    }

    #[test]
    fn a_leader_that_was_asked_to_lead_stays_for_a_while() {
        let mut scene = Scene::new();
        scene.reaches.keep_calm(scene.now + Duration::from_secs(10));
        assert_eq!(scene.last(60_000, 0, [Some(20), None]), Some((MemberId::new("b"), 10_000)));
    }
}
