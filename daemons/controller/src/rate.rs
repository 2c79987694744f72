//! Rate limits of requests and handshakes, by address.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use braid_types::{RateLimit, Time};

/// Addresses that are remembered; of more, those are forgotten that have been quiet.
const MAX_ADDRESSES: usize = 4_096;
/// What is not used can be saved up for so long.
const SAVED: Duration = Duration::from_secs(1);

/// How often each address may ask: so many times a second, and as many at once after a quiet second.
#[derive(Debug)]
pub(crate) struct Rates {
    limit: u32,
    addresses: BTreeMap<IpAddr, RateLimit>,
}

impl Rates {
    pub(crate) const fn new(limit: u32) -> Self {
        Self { limit, addresses: BTreeMap::new() }
    }

    /// Whether one more is within the limit.
    pub(crate) fn take(&mut self, now: Time, from: IpAddr) -> bool {
        if self.addresses.len() >= MAX_ADDRESSES && !self.addresses.contains_key(&from) {
            self.addresses.retain(|_, rate| !rate.is_idle(now));
            if self.addresses.len() >= MAX_ADDRESSES {
                return false;
            }
        }
        self.addresses.entry(from).or_default().take(now, self.limit, SAVED)
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
        let (mut rates, now) = (Rates::new(10), Time::ZERO);
        assert_eq!((0..100).filter(|_| rates.take(now, from(1))).count(), 10);
        assert!(rates.take(now, from(2)));
        assert_eq!((0..100).filter(|_| rates.take(now + Duration::from_millis(500), from(1))).count(), 5);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut rates, now) = (Rates::new(10), Time::ZERO);
        assert_eq!((0..10_000).filter(|it| rates.take(now, from(*it))).count(), MAX_ADDRESSES);
        assert!(rates.take(now + Duration::from_secs(2), from(9_999)));
        assert_eq!(rates.addresses.len(), 1);
    }
}
