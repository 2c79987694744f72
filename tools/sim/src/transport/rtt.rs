//! Round-trip time estimate and retransmission timeout. RFC 6298.

use crate::engine::Picos;

/// What Linux has: RFC 6298 with a clock that is exact enough, and 200 ms at least beside the round trip.
const LEAST_VARIATION: Picos = Picos::from_millis(200);
const FIRST_TIMEOUT: Picos = Picos::from_millis(1_000);
const LONGEST_TIMEOUT: Picos = Picos::from_millis(120_000);

/// The smoothed round-trip time, and how long to wait for an acknowledgement. RFC 6298.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtt {
    smoothed: Picos,
    variation: Picos,
    least: Picos,
    back_off: u32,
}

impl Rtt {
    /// Zero until there is a sample.
    pub(crate) const fn smoothed(&self) -> Picos {
        self.smoothed
    }

    /// The least of all.
    pub(crate) const fn least(&self) -> Picos {
        self.least
    }

    pub(crate) fn sample(&mut self, rtt: Picos) {
        self.back_off = 0;
        // What is below the resolution of stamps is not nothing.
        let rtt = rtt.max(Picos(1));
        if self.smoothed == Picos::ZERO {
            (self.smoothed, self.variation, self.least) = (rtt, Picos(rtt.0 / 2), rtt);
            return;
        }
        self.least = self.least.min(rtt);
        let error = rtt.0.abs_diff(self.smoothed.0);
        self.variation = Picos(self.variation.0 - self.variation.0 / 4 + error / 4);
        self.smoothed = Picos(self.smoothed.0 - self.smoothed.0 / 8 + rtt.0 / 8);
    }

    pub(crate) fn timeout(&self) -> Picos {
        let timeout = match self.smoothed {
            Picos::ZERO => FIRST_TIMEOUT,
            smoothed => smoothed + LEAST_VARIATION.max(Picos(self.variation.0.saturating_mul(4))),
        };
        Picos(timeout.0.saturating_mul(1 << self.back_off.min(20))).min(LONGEST_TIMEOUT)
    }

    /// The time-out passed: the next one takes twice as long.
    pub(crate) const fn back_off(&mut self) {
        self.back_off += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_out_follows_the_round_trip_and_doubles_when_it_passes() {
        let mut rtt = Rtt::default();
        assert_eq!(rtt.timeout(), FIRST_TIMEOUT);
        (0..100).for_each(|_| rtt.sample(Picos::from_millis(50)));
        assert!(rtt.smoothed().0.abs_diff(Picos::from_millis(50).0) < 100, "{:?}", rtt.smoothed());
        assert!(rtt.timeout().0.abs_diff(Picos::from_millis(250).0) < 100, "{:?}", rtt.timeout());
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.timeout().0, Picos(rtt.smoothed().0 + LEAST_VARIATION.0).0 * 4);
        rtt.sample(Picos::from_millis(50));
        assert!(rtt.timeout() < Picos::from_millis(251));
        (0..40).for_each(|_| rtt.back_off());
        assert_eq!(rtt.timeout(), LONGEST_TIMEOUT);
    }
}
