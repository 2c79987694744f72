//! Signs of life that the switches of a cluster are asked for, so that each member knows how many it reaches.
//!
//! Only answers count. A switch that is heard and does not hear still sends what hosts do, for as long as TCP lets it.

use std::time::Duration;

use braid_types::Time;

use super::Channels;

/// The interval in which a switch is asked.
const INTERVAL: Duration = Duration::from_millis(100);
/// More switches than this allows are asked less often.
const MAX_A_SECOND: u32 = 5_000;
/// Switches are asked in so many groups, one after the other, so that no turn asks all of them.
const GROUPS: usize = 5;
/// A switch that has not answered for so many intervals is not reached.
const MISSED: u32 = 3;

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
        let interval = interval(self.slots.len());
        let group = self.probing.group;
        self.probing = Probing { group: (group + 1) % GROUPS, next: now + interval / GROUPS as u32 };
        for slot in (group..self.slots.len()).step_by(GROUPS) {
            let Some(channel) = self.slots.get_mut(slot).and_then(Option::as_mut) else { continue };
            match channel.probe() {
                Ok(true) => self.flush(slot),
                Ok(false) => {}
                Err(why) => self.close(slot, &why),
            }
        }
        let window = interval * MISSED;
        let mut reached = 0;
        for channel in self.slots.iter_mut().flatten() {
            channel.note_stall(now, stalled);
            reached += u32::from(channel.is_reached(now, window));
        }
        self.engine.borrow_mut().switches_mut().note_reached(now, reached);
    }
}

fn interval(channels: usize) -> Duration {
    let channels = u32::try_from(channels).unwrap_or(u32::MAX);
    INTERVAL.max(Duration::from_secs(1) * channels / MAX_A_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_switches_are_asked_less_often() {
        assert_eq!(interval(0), INTERVAL);
        assert_eq!(interval(500), INTERVAL);
        assert_eq!(interval(5_000), Duration::from_secs(1));
        assert_eq!(interval(18_432), Duration::from_micros(3_686_400));
    }
}
