//! Which switches a member reaches, and since when: what a standby offers to be the front of, and what a leader lacks.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{DatapathId, Time};

/// A standby offers a switch that it has reached for this long, and a leader lacks one that it has not reached for this long.
/// Connections that break and come back at once change nothing.
const SETTLED: Duration = Duration::from_secs(1);
/// A member that has just started lacks no switch: they are about to connect to it.
const START_TIME: Duration = Duration::from_secs(5);

/// The switches that a member reaches. It is told of them again and again, since whoever tells it may be stopped.
#[derive(Debug, Default)]
pub struct Presence {
    /// The first and the last time that it was told.
    told: Option<(Time, Time)>,
    /// Since when each switch was reached.
    reached: BTreeMap<DatapathId, Time>,
    /// When others were reached last, if that is not long ago.
    lost: BTreeMap<DatapathId, Time>,
}

impl Presence {
    /// These are the switches that the member reaches now, in any order.
    pub fn note(&mut self, now: Time, mut reached: Vec<DatapathId>) {
        reached.sort_unstable();
        reached.dedup();
        let (first, last) = self.told.unwrap_or((now, now));
        self.told = Some((first, now));
        let Self { reached: known, lost, .. } = self;
        known.retain(|dpid, _| {
            let stays = reached.binary_search(dpid).is_ok();
            if !stays {
                lost.insert(*dpid, last);
            }
            stays
        });
        // Mostly nothing has changed.
        if known.len() < reached.len() {
            reached.iter().for_each(|dpid| _ = known.entry(*dpid).or_insert(now));
        }
        lost.retain(|dpid, at| now.since(*at) < SETTLED && !known.contains_key(dpid));
    }

    /// The switches that a standby may offer: it has reached them for some time.
    pub fn settled(&self) -> impl Iterator<Item = DatapathId> {
        let last = self.told.map(|(_, last)| last);
        let is_settled = move |since: Time| last.is_some_and(|last| last.since(since) >= SETTLED);
        self.reached.iter().filter(move |(_, since)| is_settled(**since)).map(|(dpid, _)| *dpid)
    }

    /// Whether a leader lacks this switch: it has not reached it for some time.
    pub fn lacks(&self, dpid: DatapathId) -> bool {
        let has_started = self.told.is_some_and(|(first, last)| last.since(first) >= START_TIME);
        has_started && !self.reached.contains_key(&dpid) && !self.lost.contains_key(&dpid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: DatapathId = DatapathId(1);
    const TWO: DatapathId = DatapathId(2);

    /// Tells of these switches ten times a second, from one time to another.
    fn tell(presence: &mut Presence, millis: std::ops::Range<u64>, reached: &[DatapathId]) {
        millis.step_by(100).for_each(|at| presence.note(Time::from_millis(at), reached.to_vec()));
    }

    #[test]
    fn a_switch_is_offered_once_it_was_reached_for_a_second() {
        let mut presence = Presence::default();
        tell(&mut presence, 0..1_000, &[ONE]);
        assert_eq!(presence.settled().count(), 0);
        tell(&mut presence, 1_000..1_100, &[ONE, TWO]);
        assert_eq!(presence.settled().collect::<Vec<_>>(), [ONE]);
        tell(&mut presence, 1_100..1_200, &[TWO]);
        tell(&mut presence, 1_200..2_000, &[ONE, TWO]);
        assert_eq!(presence.settled().count(), 0, "it was gone in between");
    }

    #[test]
    fn a_leader_lacks_a_switch_that_was_gone_for_a_second_and_not_one_that_connects_anew() {
        let mut presence = Presence::default();
        tell(&mut presence, 0..10_000, &[ONE]);
        assert!(!presence.lacks(ONE) && presence.lacks(TWO), "it never had the second one");
        tell(&mut presence, 10_000..10_900, &[]);
        assert!(!presence.lacks(ONE));
        tell(&mut presence, 10_900..11_000, &[ONE]);
        tell(&mut presence, 11_000..11_900, &[]);
        assert!(!presence.lacks(ONE));
        tell(&mut presence, 11_900..12_000, &[]);
        assert!(presence.lacks(ONE));
    }

    #[test]
    fn a_member_that_has_just_started_lacks_nothing() {
        let mut presence = Presence::default();
        assert!(!presence.lacks(ONE), "it knows nothing");
        tell(&mut presence, 0..5_000, &[]);
        assert!(!presence.lacks(ONE));
        tell(&mut presence, 5_000..5_100, &[]);
        assert!(presence.lacks(ONE));
    }
}
