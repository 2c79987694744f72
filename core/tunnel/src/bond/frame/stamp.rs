//! When packets were sent, in two bytes.

use std::time::Duration;

use braid_types::Time;

const TICK_NANOS: u64 = 125_000;

/// A time by its sender's clock, in eighths of a millisecond; they begin anew every eight seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::bond) struct Stamp(u16);

impl Stamp {
    pub(in crate::bond) const fn at(time: Time) -> Self {
        Self((time.as_nanos() / TICK_NANOS) as u16)
    }

    pub(super) const fn read(bytes: [u8; 2]) -> Self {
        Self(u16::from_be_bytes(bytes))
    }

    pub(super) const fn bytes(self) -> [u8; 2] {
        self.0.to_be_bytes()
    }

    /// The delay of what comes now; the clocks of the two ends may differ, by the same for all paths.
    pub(in crate::bond) const fn delay(self, now: Time) -> Delay {
        Delay(Self::at(now).0.wrapping_sub(self.0))
    }
}

/// A delay between two clocks. Those that differ by less than four seconds can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::bond) struct Delay(u16);

impl Delay {
    /// How much more than `other` it is; zero if it is less.
    pub(in crate::bond) fn beyond(self, other: Self) -> Duration {
        let ticks = self.0.wrapping_sub(other.0).cast_signed();
        Duration::from_nanos(TICK_NANOS).saturating_mul(u32::try_from(ticks).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_compared_whatever_the_clocks_say() {
        let arrived = |millis: u64| Time::from_millis(3_600_000 + millis);
        let delay = |sent: u64, millis| {
            Stamp::read(Stamp::at(Time::from_millis(sent)).bytes()).delay(arrived(millis))
        };
        for sent in [0, 4_000, 8_190, 1_000_000] {
            let [early, late] = [delay(sent, 20), delay(sent + 5, 75)];
            assert_eq!(late.beyond(early), Duration::from_millis(50));
            assert_eq!(early.beyond(late), Duration::ZERO);
        }
    }
}
