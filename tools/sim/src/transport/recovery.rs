//! Loss recovery: proportional rate reduction and restart after a time-out. RFC 6937, RFC 5681.

use super::sender::{Phase, Sender};

/// TCP never goes below it.
const LEAST_THRESHOLD: u32 = 2;

impl Sender {
    /// A loss was found: the window shrinks to `ssthresh` in the course of a round trip. RFC 6937.
    pub(super) fn enter_recovery(&mut self, ssthresh: u32) {
        self.remember();
        self.ssthresh = ssthresh.max(LEAST_THRESHOLD);
        self.phase = Phase::Recovery { until: self.highest(), prior: self.cwnd.max(1), arrived: 0, sent: 0 };
        self.end_run();
    }

    /// A loss was found when it was repaired already: the window shrinks at once.
    pub(super) fn reduce_at_once(&mut self, ssthresh: u32) {
        self.ssthresh = ssthresh.max(LEAST_THRESHOLD);
        self.cwnd = self.ssthresh;
        self.end_run();
    }

    /// The time-out passed: the window starts again from one segment. RFC 5681 §3.1.
    pub(super) fn enter_loss(&mut self, ssthresh: u32) {
        if !matches!(self.phase, Phase::Loss { .. }) {
            self.ssthresh = ssthresh.max(LEAST_THRESHOLD);
            self.end_run();
        }
        self.phase = Phase::Loss { until: self.highest() };
        self.cwnd = 1;
    }

    /// The window during recovery, after so many segments more have arrived.
    pub(super) fn reduce(&mut self, newly: u32) {
        let (flight, ssthresh) = (self.flight(), self.ssthresh);
        let Phase::Recovery { prior, arrived, sent, .. } = &mut self.phase else { return };
        *arrived += newly;
        let may_send = if flight > ssthresh {
            let share = u64::from(ssthresh) * u64::from(*arrived);
            (share.div_ceil(u64::from(*prior)) as u32).saturating_sub(*sent)
        } else {
            (ssthresh - flight).min(arrived.saturating_sub(*sent).max(newly) + 1)
        };
        // The first lost segment leaves at once.
        self.cwnd = flight + may_send.max(u32::from(*sent == 0));
    }

    pub(super) fn leave_recovery(&mut self) {
        match self.phase {
            Phase::Recovery { until, .. } if self.acknowledged() >= until => {
                self.cwnd = self.ssthresh;
                self.phase = Phase::Open;
                self.settle();
            }
            Phase::Loss { until } if self.acknowledged() >= until => self.phase = Phase::Open,
            _ => {}
        }
    }

    const fn end_run(&mut self) {
        self.run = [self.run[1], 0];
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alarm, Heard};
    use super::*;
    use crate::engine::{Picos, Stamp};

    const RTT: Picos = Picos::from_millis(40);

    /// Segments that left at once, on a path whose round trip is known.
    fn sent(count: u32) -> Sender {
        let mut sender = Sender::default();
        sender.rtt.sample(RTT);
        sender.cwnd = count;
        (0..count).for_each(|dsn| _ = sender.send_new(Picos::ZERO, dsn));
        sender
    }

    fn heard(next: u32, cause: u32, below: u8) -> Heard {
        Heard { next, cause, below, above: 0, stamp: Stamp::of(Picos::ZERO) }
    }

    #[test]
    fn segment_is_lost_when_three_later_ones_have_arrived() {
        let mut sender = sent(10);
        let congested: Vec<_> =
            (1..=4).map(|cause| sender.acknowledge(RTT, heard(0, cause, 0)).congested).collect();
        assert_eq!(congested, [false, false, true, false]);
        assert_eq!(
            (sender.flight(), sender.send_again(RTT), sender.send_again(RTT)),
            (5, Some((0, 0)), None)
        );
    }

    #[test]
    fn segment_that_one_later_one_overtook_is_lost_after_a_quarter_of_a_round_trip_more() {
        let mut sender = sent(3);
        assert!(!sender.acknowledge(RTT, heard(0, 1, 0)).congested);
        assert_eq!(
            sender.deadline,
            Some(Picos::from_millis(58)),
            "two ticks more, unless something is heard"
        );
        assert!(!sender.stop_waiting(Picos::from_millis(49)));
        assert!(sender.stop_waiting(Picos::from_millis(51)));
    }

    #[test]
    fn segment_that_was_sent_again_is_lost_again() {
        let mut sender = sent(10);
        sender.acknowledge(RTT, heard(0, 3, 2));
        sender.enter_recovery(5);
        assert_eq!(sender.send_again(RTT), Some((0, 0)));
        sender.acknowledge(RTT, heard(0, 9, 5));
        assert_eq!(sender.send_again(RTT), None, "what arrived was sent before");
        sender.cwnd = 99;
        let later = sender.send_new(RTT, 10);
        sender.acknowledge(RTT + RTT, heard(0, later, 0));
        assert_eq!(sender.send_again(RTT + RTT), Some((0, 0)));
    }

    #[test]
    fn recovery_halves_the_window_over_a_round_trip_and_ends_there() {
        let mut sender = sent(20);
        sender.acknowledge(RTT, heard(0, 3, 2));
        sender.enter_recovery(10);
        sender.reduce(3);
        let mut resent = 0;
        for cause in 4..20 {
            while sender.has_room() {
                if sender.send_again(RTT).is_none() {
                    sender.send_new(RTT, 100 + cause);
                }
                resent += 1;
            }
            let progress = sender.acknowledge(RTT, heard(0, cause, 0));
            sender.reduce(progress.arrived);
            assert!(sender.cwnd >= 10, "{}", sender.cwnd);
        }
        assert!((8..=11).contains(&resent), "{resent} of 20 that arrived");
        let filled = Heard { stamp: Stamp::of(RTT), ..heard(20, 0, 0) };
        assert_eq!(sender.acknowledge(RTT + RTT, filled).arrived, 1);
        assert_eq!((sender.cwnd, sender.phase), (10, Phase::Open));
    }

    #[test]
    fn recovery_is_taken_back_when_what_it_sent_again_was_only_late() {
        let mut sender = sent(20);
        sender.acknowledge(RTT, heard(0, 3, 2));
        sender.enter_recovery(10);
        sender.reduce(3);
        assert_eq!(sender.send_again(RTT), Some((0, 0)));
        // The first one's stamp is older than the second one.
        let late = RTT + Picos::from_millis(5);
        sender.acknowledge(late, heard(4, 0, 0));
        assert_eq!((sender.cwnd, sender.ssthresh, sender.phase), (20, u32::MAX, Phase::Open));
        // Now it is known that segments overtake each other: three do not make a loss, time does.
        let congested: Vec<_> =
            (5..9).map(|cause| sender.acknowledge(late, heard(4, cause, 0)).congested).collect();
        assert_eq!(congested, [false; 4]);
        assert!(!sender.stop_waiting(late + Picos::from_millis(9)));
        assert!(sender.stop_waiting(late + Picos::from_millis(11)));
    }

    #[test]
    fn patience_grows_with_what_came_twice() {
        let mut sender = sent(20);
        sender.acknowledge(RTT, heard(0, 3, 2));
        sender.enter_recovery(10);
        sender.reduce(3);
        sender.send_again(RTT);
        sender.acknowledge(RTT, heard(4, 0, 0));
        // What was sent again comes, too.
        sender.acknowledge(RTT, Heard { below: 1, ..heard(4, 0, 0) });
        sender.acknowledge(RTT, heard(4, 5, 0));
        assert!(!sender.stop_waiting(Picos::from_millis(59)));
        assert!(sender.stop_waiting(Picos::from_millis(61)), "two quarters of 40 ms");
    }

    #[test]
    fn probe_asks_after_the_last_segment_when_nothing_is_heard() {
        let mut sender = sent(5);
        sender.arm(Picos::ZERO);
        assert_eq!((sender.alarm(), sender.deadline), (Alarm::Probe, Some(Picos::from_millis(88))));
        let now = Picos::from_millis(88);
        assert_eq!(sender.send_probe(now, || None), Some((4, 4)));
        assert_eq!(sender.alarm(), Alarm::TimeOut);
        // Four was lost alone, and the next acknowledgement says so.
        let again = Stamp::of(now);
        let filled = sender.acknowledge(now + RTT, Heard { stamp: again, ..heard(5, 4, 0) });
        assert!(!filled.repaired && !filled.congested);
        sender.send_new(now + RTT, 5);
        assert!(sender.acknowledge(now + RTT + RTT, heard(6, 5, 0)).repaired);
    }

    #[test]
    fn time_out_loses_what_has_not_arrived_and_starts_from_one() {
        let mut sender = sent(6);
        sender.acknowledge(RTT, heard(1, 3, 0));
        sender.lose_all();
        sender.enter_loss(3);
        assert_eq!(sender.lost_data().collect::<Vec<_>>(), [1, 2, 4, 5]);
        assert_eq!((sender.cwnd, sender.flight(), sender.has_room()), (1, 0, true));
        let again: Vec<_> = std::iter::from_fn(|| sender.send_again(RTT)).map(|(seq, _)| seq).collect();
        assert_eq!(again, [1, 2, 4, 5]);
        assert_eq!(sender.acknowledge(RTT + RTT, heard(6, 0, 0)).arrived, 4);
        assert_eq!((sender.flight(), sender.is_idle(), sender.phase), (0, true, Phase::Open));
    }
}
