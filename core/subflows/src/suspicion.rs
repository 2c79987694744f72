//! Which subflow is worth a trial.

use std::fmt;
use std::time::Duration;

use crate::window::Progress;

/// A subflow that delivers less than this part of the best one costs little while it is tried.
const SMALL: f64 = 0.2;
/// Below this part, a subflow is suspected that is far from the best in another way, too.
const SMALLER: f64 = 0.5;
/// Round trips that are this many times the best one's, and at least so much longer, are far.
const FAR: f64 = 2.5;
const FAR_BY: Duration = Duration::from_millis(20);
/// Round trips that are far whatever the subflow delivers: what it holds back delays everything.
const VERY_FAR: f64 = 4.0;
/// Loss that is this many times the best one's, and at least so much more, is far.
const LOSSY: f64 = 4.0;
const LOSSY_BY: f64 = 0.005;

/// Why a subflow is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suspicion {
    /// It delivers much less than the best one.
    SmallShare,
    /// Its round trip is much longer than the best one's.
    RoundTrip,
    /// It loses much more than the best one.
    Loss,
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SmallShare => "it delivers little",
            Self::RoundTrip => "its round trip is long",
            Self::Loss => "it loses more",
        })
    }
}

/// The subflow that is worth a trial most: of those suspected that may be tried, the one that delivers least.
pub(crate) fn suspect<K: Copy + Ord>(
    subflows: &[Progress<K>],
    may_be_tried: impl Fn(K) -> bool,
) -> Option<(K, Suspicion)> {
    let best = subflows.iter().max_by(|a, b| a.delivered.total_cmp(&b.delivered))?;
    let others = subflows.iter().filter(|it| it.id != best.id && may_be_tried(it.id));
    let suspected = others.filter_map(|it| Some((it, suspicion(it, best)?)));
    let least = suspected.min_by(|(a, _), (b, _)| a.delivered.total_cmp(&b.delivered))?;
    Some((least.0.id, least.1))
}

fn suspicion<K>(it: &Progress<K>, best: &Progress<K>) -> Option<Suspicion> {
    let part = it.delivered / best.delivered.max(1.0);
    let is_beyond = |times: f64| it.rtt > best.rtt.mul_f64(times) && it.rtt > best.rtt + FAR_BY;
    let is_lossy = it.loss > LOSSY * best.loss && it.loss > best.loss + LOSSY_BY;
    if is_beyond(VERY_FAR) || part < SMALLER && is_beyond(FAR) {
        Some(Suspicion::RoundTrip)
    } else if part < SMALLER && is_lossy {
        Some(Suspicion::Loss)
    } else if part < SMALL {
        Some(Suspicion::SmallShare)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suspected(subflows: &[Progress<u8>]) -> Option<(u8, Suspicion)> {
        suspect(subflows, |_| true)
    }

    fn of(id: u8, delivered: f64, rtt: u64, loss: f64) -> Progress<u8> {
        Progress { id, delivered, loss, rtt: Duration::from_millis(rtt) }
    }

    #[test]
    fn paths_that_are_equal_or_two_to_one_are_not_suspected() {
        assert_eq!(suspected(&[of(1, 1e6, 20, 0.0), of(2, 1e6, 22, 0.001)]), None);
        assert_eq!(suspected(&[of(1, 1e6, 30, 0.001), of(2, 2e6, 20, 0.0)]), None);
        assert_eq!(suspected(&[]), None);
        assert_eq!(suspected(&[of(1, 1e6, 20, 0.1)]), None);
    }

    #[test]
    fn a_subflow_that_is_far_from_the_best_is_suspected() {
        let best = of(1, 5e6, 25, 0.0);
        assert_eq!(suspected(&[best, of(2, 5e5, 25, 0.0)]), Some((2, Suspicion::SmallShare)));
        assert_eq!(suspected(&[best, of(2, 2e6, 25, 0.02)]), Some((2, Suspicion::Loss)));
        assert_eq!(suspected(&[best, of(2, 2e6, 80, 0.0)]), Some((2, Suspicion::RoundTrip)));
        assert_eq!(suspected(&[best, of(2, 4e6, 200, 0.0)]), Some((2, Suspicion::RoundTrip)));
        assert_eq!(suspected(&[best, of(2, 4e6, 80, 0.02)]), None);
    }

    #[test]
    fn of_several_the_one_that_delivers_least_comes_first() {
        let all = [of(1, 3e5, 25, 0.0), of(2, 5e6, 25, 0.0), of(3, 2e5, 25, 0.0)];
        assert_eq!(suspected(&all), Some((3, Suspicion::SmallShare)));
        assert_eq!(suspect(&all, |id| id != 3), Some((1, Suspicion::SmallShare)));
    }
}
