use super::sender::{Phase, Sender};

/// TCP never goes below it.
const LEAST_THRESHOLD: u32 = 2;

impl Sender {
    /// A loss was found: the window shrinks to `ssthresh` in the course of a round trip. RFC 6937.
    pub(super) fn enter_recovery(&mut self, ssthresh: u32) {
        self.ssthresh = ssthresh.max(LEAST_THRESHOLD);
        self.phase = Phase::Recovery { until: self.highest(), prior: self.cwnd.max(1), arrived: 0, sent: 0 };
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
    use super::*;

    fn sent(count: u32) -> Sender {
        let mut sender = Sender::default();
        sender.cwnd = count;
        (0..count).for_each(|dsn| _ = sender.send_new(dsn));
        sender
    }

    #[test]
    fn segment_is_lost_when_three_later_ones_have_arrived() {
        let mut sender = sent(10);
        let congested: Vec<_> = (1..=4).map(|cause| sender.acknowledge(0, cause, 0, 0).congested).collect();
        assert_eq!(congested, [false, false, true, false]);
        assert_eq!((sender.flight(), sender.send_again(), sender.send_again()), (5, Some((0, 0)), None));
    }

    #[test]
    fn segment_that_was_sent_again_is_lost_again() {
        let mut sender = sent(10);
        sender.acknowledge(0, 3, 2, 0);
        sender.enter_recovery(5);
        assert_eq!(sender.send_again(), Some((0, 0)));
        sender.acknowledge(0, 9, 5, 0);
        assert_eq!(sender.send_again(), None, "what arrived was sent before");
        sender.cwnd = 99;
        let later: Vec<_> = (10..13).map(|dsn| sender.send_new(dsn)).collect();
        later.into_iter().for_each(|cause| _ = sender.acknowledge(0, cause, 0, 0));
        assert_eq!(sender.send_again(), Some((0, 0)));
    }

    #[test]
    fn recovery_halves_the_window_over_a_round_trip_and_ends_there() {
        let mut sender = sent(20);
        sender.acknowledge(0, 3, 2, 0);
        sender.enter_recovery(10);
        sender.reduce(3);
        let mut resent = 0;
        for cause in 4..20 {
            while sender.has_room() {
                if sender.send_again().is_none() {
                    sender.send_new(100 + cause);
                }
                resent += 1;
            }
            let progress = sender.acknowledge(0, cause, 0, 0);
            sender.reduce(progress.arrived);
            assert!(sender.cwnd >= 10, "{}", sender.cwnd);
        }
        assert!((8..=11).contains(&resent), "{resent} of 20 that arrived");
        assert_eq!(sender.acknowledge(20, 0, 0, 0).arrived, 1);
        assert_eq!((sender.cwnd, sender.phase), (10, Phase::Open));
    }

    #[test]
    fn time_out_loses_what_has_not_arrived_and_starts_from_one() {
        let mut sender = sent(6);
        sender.acknowledge(1, 3, 0, 0);
        sender.lose_all();
        sender.enter_loss(3);
        assert_eq!(sender.lost_data().collect::<Vec<_>>(), [1, 2, 4, 5]);
        assert_eq!((sender.cwnd, sender.flight(), sender.has_room()), (1, 0, true));
        let again: Vec<_> = std::iter::from_fn(|| sender.send_again()).map(|(seq, _)| seq).collect();
        assert_eq!(again, [1, 2, 4, 5]);
        assert_eq!(sender.acknowledge(6, 0, 0, 0).arrived, 4);
        assert_eq!((sender.flight(), sender.is_idle(), sender.phase), (0, true, Phase::Open));
    }
}
