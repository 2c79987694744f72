//! Signs of life that the switches of a cluster are asked for, so that each member knows how many it reaches.
//!
//! Only answers count. A switch that is heard and does not hear still sends what hosts do, for as long as TCP lets it.

use std::sync::PoisonError;
use std::time::Duration;

use braid_types::Time;

use super::channel::Channel;
use super::{Channels, Slot};
use crate::engine::Reached;

/// The time between two groups of switches that are asked, and between two counts.
const SLICE: Duration = Duration::from_millis(20);
/// The fewest groups: each switch is asked every 100 ms.
const MIN_GROUPS: usize = 5;
/// The most switches of a group: with more of them there are more groups, and each is asked less often.
const MAX_IN_GROUP: usize = 100;
/// A switch that has left a question without an answer for so many intervals is not reached.
const MISSED: usize = 2;

/// Which switches are asked next, and when.
#[derive(Debug, Default)]
pub(super) struct Probing {
    group: usize,
    next: Time,
}

impl Probing {
    /// The time until switches are asked, in a cluster.
    pub(super) fn until_next(&self, now: Time) -> Duration {
        self.next.since(now)
    }
}

impl Channels {
    /// Asks a group of switches if it is due, and counts those that have answered lately.
    pub(super) fn probe(&mut self) {
        let (now, stalled, is_in_cluster) = {
            let engine = self.engine.borrow();
            (engine.now(), engine.stalled(), engine.switches().is_elected())
        };
        if !is_in_cluster || now < self.probing.next {
            return;
        }
        let groups = groups(self.slots.len());
        let group = self.probing.group % groups;
        self.probing = Probing { group: group + 1, next: now + SLICE };
        for slot in (group..self.slots.len()).step_by(groups) {
            self.ask(now, slot);
        }
        let limit = SLICE.mul_f64((groups * MISSED) as f64);
        let mut reached = Reached::default();
        for channel in self.slots.iter_mut().flatten() {
            channel.note_stall(now, stalled);
            let is_reached = channel.is_reached(now, limit);
            reached.switches += u32::from(is_reached);
            reached.relayed += u32::from(is_reached && channel.is_relayed());
        }
        self.engine.borrow_mut().switches_mut().note_reached(now, reached);
        if group == 0 {
            self.note_presence(now, limit);
        }
    }

    /// Notes which switches are reached, once in each round of questions.
    fn note_presence(&self, now: Time, limit: Duration) {
        let channels = self.slots.iter().flatten().filter(|channel| channel.is_reached(now, limit));
        let reached = channels.filter_map(Channel::joined).collect();
        let presence = self.engine.borrow().switches().presence().clone();
        presence.lock().unwrap_or_else(PoisonError::into_inner).note(now, reached);
    }

    fn ask(&mut self, now: Time, slot: Slot) {
        match self.slots.get_mut(slot).and_then(Option::as_mut).map(|channel| channel.probe(now)) {
            Some(Ok(true)) => self.flush(slot),
            Some(Err(why)) => self.close(slot, &why),
            Some(Ok(false)) | None => {}
        }
    }
}

const fn groups(channels: usize) -> usize {
    let groups = channels.div_ceil(MAX_IN_GROUP);
    if groups < MIN_GROUPS { MIN_GROUPS } else { groups }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_switches_are_asked_less_often() {
        let seconds = |channels| SLICE.as_secs_f64() * groups(channels) as f64;
        assert_eq!([0, 500, 5_000].map(seconds), [0.1, 0.1, 1.0]);
        assert!(seconds(super::super::MAX_CHANNELS) < 4.0);
    }
}
