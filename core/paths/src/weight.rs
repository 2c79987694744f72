//! Link costs as weighted sums of hops, latency and load.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use braid_topology::LinkState;

/// The cost of a link: the weighted sum of its parts. Text: `hops`, `latency`, `10*hops+latency`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight {
    /// The cost of each link.
    pub hops: u32,
    /// The cost of each microsecond of delay.
    pub latency: u32,
    /// The cost of an idle link is a hundred times this. It rises with the load, as the mean wait in a queue does:
    /// `100 / (1 - load / capacity)`, at most 10,000. A link of no capacity is full.
    pub load: u32,
}

const FULL_COST: u64 = 10_000;
const IDLE_COST: u64 = 100;
/// For each step of degradation: a minute of delay, in microseconds.
const DEGRADED_COST: u64 = 60_000_000;
const PARTS: [(&str, Weight); 3] =
    [("hops", Weight::HOPS), ("latency", Weight::LATENCY), ("load", Weight::LOAD)];

impl Weight {
    /// The number of links.
    pub const HOPS: Self = Self { hops: 1, latency: 0, load: 0 };
    /// Microseconds.
    pub const LATENCY: Self = Self { hops: 0, latency: 1, load: 0 };
    /// How full links are.
    pub const LOAD: Self = Self { hops: 0, latency: 0, load: 1 };

    /// Whether it depends on measured values that change while links stay: delay or load.
    pub const fn is_measured(&self) -> bool {
        self.latency > 0 || self.load > 0
    }

    /// The cost of a link; `unknown` replaces an unknown delay.
    ///
    /// A degraded link costs more than any usual path without one, whatever the weight, so that paths take it last.
    pub fn cost(&self, state: &LinkState, unknown: Duration) -> u32 {
        let delay = micros(state.delay.unwrap_or(unknown));
        let parts = [(self.hops, 1), (self.latency, delay), (self.load, fullness(state))];
        let sum = parts.into_iter().map(|(times, part)| u64::from(times).saturating_mul(part));
        let degraded = u64::from(state.degradation.steps()) * DEGRADED_COST;
        u32::try_from(sum.fold(degraded, u64::saturating_add)).unwrap_or(u32::MAX)
    }

    fn plus(self, times: u32, part: Self) -> Option<Self> {
        let add = |have: u32, more: u32| have.checked_add(more.checked_mul(times)?);
        Some(Self {
            hops: add(self.hops, part.hops)?,
            latency: add(self.latency, part.latency)?,
            load: add(self.load, part.load)?,
        })
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::HOPS
    }
}

fn micros(delay: Duration) -> u64 {
    u64::try_from(delay.as_micros()).unwrap_or(u64::MAX)
}

fn fullness(state: &LinkState) -> u64 {
    let (capacity, free) = (u128::from(state.capacity.0), u128::from(state.available().0));
    let waiting = (u128::from(IDLE_COST) * capacity).checked_div(free);
    waiting.and_then(|waiting| u64::try_from(waiting).ok()).unwrap_or(FULL_COST).min(FULL_COST)
}

/// Text that is not a weight.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a weight such as hops, latency, load or 10*hops+latency")]
pub struct WeightError(String);

impl FromStr for Weight {
    type Err = WeightError;

    fn from_str(text: &str) -> Result<Self, WeightError> {
        let nothing = Self { hops: 0, latency: 0, load: 0 };
        let sum = text.split('+').try_fold(nothing, |sum, part| {
            let (times, name) = part.split_once('*').unwrap_or(("1", part));
            let times = times.trim().parse().ok().filter(|times| *times > 0)?;
            let (_, part) = PARTS.into_iter().find(|(known, _)| *known == name.trim())?;
            sum.plus(times, part)
        });
        sum.ok_or_else(|| WeightError(text.to_owned()))
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [self.hops, self.latency, self.load].into_iter().zip(PARTS);
        let parts = parts.filter(|(times, _)| *times > 0).map(|(times, (name, _))| match times {
            1 => name.to_owned(),
            times => format!("{times}*{name}"),
        });
        f.write_str(&parts.collect::<Vec<_>>().join("+"))
    }
}

#[cfg(test)]
mod tests {
    use braid_topology::Degradation;
    use braid_types::BitsPerSec;

    use super::*;

    #[test]
    fn text_is_a_sum_of_parts() {
        assert_eq!("hops".parse(), Ok(Weight::HOPS));
        let mixed = Weight { hops: 10, latency: 1, load: 2 };
        assert_eq!("10*hops + latency+2 * load".parse(), Ok(mixed));
        assert_eq!(mixed.to_string(), "10*hops+latency+2*load");
        for text in ["", "hop", "-1*hops", "NaN*hops", "0*hops", "hops+", "1.5*latency", "9999999999*load"] {
            assert!(text.parse::<Weight>().is_err(), "{text}");
        }
    }

    #[test]
    fn latency_counts_microseconds_and_what_stands_for_unknown_ones() {
        let known = LinkState { delay: Some(Duration::from_millis(2)), ..LinkState::default() };
        assert_eq!(Weight::LATENCY.cost(&known, Duration::ZERO), 2_000);
        assert_eq!(Weight::LATENCY.cost(&LinkState::default(), Duration::from_micros(7)), 7);
        let far = LinkState { delay: Some(Duration::MAX), ..LinkState::default() };
        assert_eq!(Weight { hops: 1, latency: 1, load: 1 }.cost(&far, Duration::ZERO), u32::MAX);
    }

    #[test]
    fn a_degraded_link_costs_more_than_a_long_path_without_one() {
        let slow = LinkState { delay: Some(Duration::from_secs(1)), ..LinkState::default() };
        let lossy = |share| LinkState { degradation: Degradation::of_loss(share), ..LinkState::default() };
        for weight in [Weight::HOPS, Weight::LATENCY, Weight::LOAD] {
            let [slight, severe] = [0.01, 0.5].map(|share| weight.cost(&lossy(share), Duration::ZERO));
            assert!(slight > 50 * weight.cost(&slow, Duration::ZERO), "{weight}");
            assert!(severe > slight, "{weight}");
        }
    }

    #[test]
    fn load_costs_more_the_less_is_left() {
        let cost = |capacity, load| {
            let state = LinkState { load: BitsPerSec(load), ..LinkState::of_capacity(BitsPerSec(capacity)) };
            Weight::LOAD.cost(&state, Duration::ZERO)
        };
        assert_eq!([cost(1_000, 0), cost(1_000, 500), cost(1_000, 900)], [100, 200, 1_000]);
        assert_eq!(
            [cost(1_000, 999), cost(1_000, 1_000), cost(1_000, 5_000), cost(0, 0)],
            [10_000, 10_000, 10_000, 10_000],
            "what has no capacity, or none that is known, is no better than what is full"
        );
        assert_eq!(cost(u64::MAX, u64::MAX / 2), 199);
    }
}
