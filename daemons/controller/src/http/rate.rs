use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Addresses that are remembered; of more, those are forgotten that have been quiet.
const MAX_ADDRESSES: usize = 4_096;

/// How often each address may ask: so many times a second, and as many at once after a quiet second.
#[derive(Debug)]
pub(super) struct Rates {
    limit: u32,
    /// When the last request would have come if they came evenly.
    due: BTreeMap<IpAddr, Instant>,
}

impl Rates {
    pub(super) const fn new(limit: u32) -> Self {
        Self { limit, due: BTreeMap::new() }
    }

    /// Whether one more is within the limit.
    pub(super) fn take(&mut self, now: Instant, from: IpAddr) -> bool {
        if self.due.len() >= MAX_ADDRESSES && !self.due.contains_key(&from) {
            self.due.retain(|_, due| *due > now);
            if self.due.len() >= MAX_ADDRESSES {
                return false;
            }
        }
        let due = self.due.entry(from).or_insert(now);
        let next = (*due).max(now) + Duration::from_secs(1) / self.limit;
        let is_within = next <= now + Duration::from_secs(1);
        if is_within {
            *due = next;
        }
        is_within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[test]
    fn a_second_s_worth_passes_at_once_and_others_are_not_held_up() {
        let (mut rates, now) = (Rates::new(10), Instant::now());
        assert_eq!((0..100).filter(|_| rates.take(now, from(1))).count(), 10);
        assert!(rates.take(now, from(2)));
        assert_eq!((0..100).filter(|_| rates.take(now + Duration::from_millis(500), from(1))).count(), 5);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut rates, now) = (Rates::new(10), Instant::now());
        assert_eq!((0..10_000).filter(|it| rates.take(now, from(*it))).count(), MAX_ADDRESSES);
        assert!(rates.take(now + Duration::from_secs(2), from(9_999)));
        assert_eq!(rates.due.len(), 1);
    }
}
