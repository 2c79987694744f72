//! Probes whose answers were overtaken by those of later ones: by jitter, or as they are lost.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

/// One that is not answered for so much longer than two round trips is lost.
const LOSS_TIMEOUT: Duration = Duration::from_millis(200);
const MAX_PROBES: usize = 256;

/// Numbers of probes, and when they were sent; in that order.
#[derive(Clone, Debug, Default)]
pub(super) struct Overtaken {
    probes: VecDeque<(u32, Time)>,
}

impl Overtaken {
    /// A later probe is answered already.
    pub(super) fn note(&mut self, number: u32, sent: Time) {
        if self.probes.len() >= MAX_PROBES {
            self.probes.pop_front();
        }
        self.probes.push_back((number, sent));
    }

    /// This one is answered at last; whether it was awaited.
    pub(super) fn take(&mut self, number: u32) -> bool {
        let place = self.probes.iter().position(|probe| probe.0 == number);
        place.and_then(|place| self.probes.remove(place)).is_some()
    }

    /// How many are lost, now that nobody expects their answers any more.
    pub(super) fn poll_lost(&mut self, now: Time, round_trip: Duration) -> usize {
        let patience = round_trip.saturating_mul(2).saturating_add(LOSS_TIMEOUT);
        let lost = self.probes.iter().take_while(|(_, sent)| now.since(*sent) > patience).count();
        self.probes.drain(..lost).count()
    }

    pub(super) fn clear(&mut self) {
        self.probes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_overtaken_is_lost_only_if_its_answer_does_not_come() {
        let mut overtaken = Overtaken::default();
        let round_trip = Duration::from_millis(50);
        (0..4).for_each(|number| overtaken.note(number, Time::from_millis(20 * u64::from(number))));
        assert!(overtaken.take(1) && !overtaken.take(1) && !overtaken.take(9));
        assert_eq!(overtaken.poll_lost(Time::from_millis(300), round_trip), 0);
        assert_eq!(overtaken.poll_lost(Time::from_millis(341), round_trip), 2);
        assert!(overtaken.take(3) && !overtaken.take(2));
        (0..10_000).for_each(|number| overtaken.note(number, Time::ZERO));
        assert_eq!(overtaken.probes.len(), MAX_PROBES);
    }
}
