//! The search for the longest datagram that a path carries whole. After RFC 8899, with all lengths probed at once.

use std::time::Duration;

use braid_types::Time;

/// What every path carries: IPv6 has no smaller MTU, and who links IPv4 with less cannot pass QUIC either.
pub(crate) const LEAST: u16 = 1_232;
/// MTUs that links and tunnels on the way have.
const MTUS: [u16; 10] = [1_500, 1_492, 1_480, 1_460, 1_440, 1_420, 1_400, 1_360, 1_320, 1_300];
const ROUNDS: u8 = 3;
const ROUND: Duration = Duration::from_millis(250);
const PAUSE: Duration = Duration::from_secs(60);

/// Finds the longest UDP payload, and looks again every minute, since routes change.
#[derive(Clone, Debug)]
pub(crate) struct MtuSearch {
    found: u16,
    answered: u16,
    round: u8,
    next: Time,
}

impl MtuSearch {
    pub(crate) const fn new(now: Time) -> Self {
        Self { found: LEAST, answered: LEAST, round: 0, next: now }
    }

    /// The longest UDP payload that is known to pass.
    pub(crate) fn found(&self) -> u16 {
        self.found.max(self.answered)
    }

    /// Begins at once: the path has changed.
    pub(crate) const fn restart(&mut self, now: Time) {
        (self.round, self.next) = (0, now);
    }

    pub(crate) const fn poll_timeout(&self) -> Time {
        self.next
    }

    /// The lengths to probe now, for a path whose IP and UDP headers take `headers`.
    pub(crate) fn poll_probes(&mut self, now: Time, headers: u16) -> Vec<u16> {
        if now < self.next {
            return Vec::new();
        }
        if self.round == 0 {
            (self.found, self.answered) = (self.found.max(self.answered), LEAST);
        }
        if self.round == ROUNDS {
            (self.found, self.round, self.next) = (self.answered, 0, now + PAUSE);
            return Vec::new();
        }
        (self.round, self.next) = (self.round.saturating_add(1), now + ROUND);
        let lengths = MTUS.iter().map(|mtu| mtu.saturating_sub(headers));
        lengths.filter(|length| *length > self.answered).collect()
    }

    /// A probe of this length has arrived at the other end.
    pub(crate) fn handle_answer(&mut self, length: u16) {
        if length <= MTUS[0] {
            self.answered = self.answered.max(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(search: &mut MtuSearch, from: u64, passes: u16) {
        for millis in (from..from + 2_000).step_by(50) {
            for length in search.poll_probes(Time::from_millis(millis), 28) {
                if length + 28 <= passes {
                    search.handle_answer(length);
                }
            }
        }
    }

    #[test]
    fn the_longest_length_that_is_answered_is_found_and_a_smaller_one_after_a_change() {
        let mut it = MtuSearch::new(Time::ZERO);
        assert_eq!(it.found(), LEAST);
        search(&mut it, 0, 1_492);
        assert_eq!(it.found(), 1_464);
        search(&mut it, 2_000, 1_400);
        assert_eq!(it.found(), 1_464, "nothing has said that the path has changed");
        it.restart(Time::from_millis(4_000));
        search(&mut it, 4_000, 1_400);
        assert_eq!(it.found(), 1_372);
        it.restart(Time::from_millis(9_000));
        search(&mut it, 9_000, 0);
        assert_eq!(it.found(), LEAST);
    }

    #[test]
    fn it_is_quiet_between_searches() {
        let mut it = MtuSearch::new(Time::ZERO);
        let probes: usize = (0..60_000).map(|at| it.poll_probes(Time::from_millis(at), 28).len()).sum();
        assert_eq!(probes, 3 * MTUS.len());
    }
}
