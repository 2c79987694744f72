//! Connections by the address and the network that they come from, so that nobody takes the places of others.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

/// The most connections of each kind of origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PeerLimits {
    /// From one address.
    pub(crate) address: usize,
    /// From one network: a /24 of IPv4, a /64 of IPv6.
    pub(crate) prefix: usize,
    /// From one address of the controller's own machine. Its prefix has no limit.
    pub(crate) loopback: usize,
    /// From everywhere.
    pub(crate) total: usize,
}

/// The limit that one more connection would exceed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum PeerLimitError {
    #[error("the limit of {0} connections from one address is reached")]
    Address(usize),
    #[error("the limit of {0} connections from one network (/24, /64) is reached")]
    Prefix(usize),
    #[error("the limit of {0} connections is reached")]
    Total(usize),
}

/// Connections, counted by address and by prefix.
#[derive(Debug)]
pub(crate) struct PeerCounts {
    /// Decides between equals, so that nobody knows whose address loses.
    order: RandomState,
    limits: PeerLimits,
    addresses: BTreeMap<IpAddr, usize>,
    prefixes: BTreeMap<IpAddr, usize>,
    total: usize,
}

impl PeerCounts {
    pub(crate) fn new(limits: PeerLimits) -> Self {
        Self {
            order: RandomState::new(),
            limits,
            addresses: BTreeMap::new(),
            prefixes: BTreeMap::new(),
            total: 0,
        }
    }

    /// Whether one more connection from this address is within the limits; the narrowest that it would exceed.
    pub(crate) fn check(&self, from: IpAddr) -> Result<(), PeerLimitError> {
        let (limits, from) = (self.limits, from.to_canonical());
        let of_address = if from.is_loopback() { limits.loopback } else { limits.address };
        let has = |counts: &BTreeMap<IpAddr, usize>, key| counts.get(&key).copied().unwrap_or(0);
        if has(&self.addresses, from) >= of_address {
            Err(PeerLimitError::Address(of_address))
        } else if !from.is_loopback() && has(&self.prefixes, prefix(from)) >= limits.prefix {
            Err(PeerLimitError::Prefix(limits.prefix))
        } else if self.total >= limits.total {
            Err(PeerLimitError::Total(limits.total))
        } else {
            Ok(())
        }
    }

    /// Counts one more connection.
    pub(crate) fn add(&mut self, from: IpAddr) {
        let from = from.to_canonical();
        *self.addresses.entry(from).or_default() += 1;
        *self.prefixes.entry(prefix(from)).or_default() += 1;
        self.total += 1;
    }

    /// Counts one connection less.
    pub(crate) fn remove(&mut self, from: IpAddr) {
        let from = from.to_canonical();
        decrease(&mut self.addresses, from);
        decrease(&mut self.prefixes, prefix(from));
        self.total = self.total.saturating_sub(1);
    }

    /// The address that should give up a connection, so that one from `from` has a place in spite of `error`: the one with
    /// the most of them. Of several, the one whose network has the most, then `from` itself, then any.
    pub(crate) fn heaviest(&self, from: IpAddr, error: PeerLimitError) -> Option<IpAddr> {
        let from = from.to_canonical();
        let competes = |address: &IpAddr| match error {
            PeerLimitError::Address(_) => *address == from,
            PeerLimitError::Prefix(_) => prefix(*address) == prefix(from),
            PeerLimitError::Total(_) => true,
        };
        let rivals = self.addresses.iter().filter(|(address, _)| competes(address));
        let of_network = |address| self.prefixes.get(&prefix(address)).copied().unwrap_or(0);
        let weight = |(address, count): &(&IpAddr, &usize)| {
            (**count, of_network(**address), **address == from, self.order.hash_one(address))
        };
        rivals.max_by_key(weight).map(|(address, _)| *address)
    }
}

fn decrease(counts: &mut BTreeMap<IpAddr, usize>, key: IpAddr) {
    if let Some(count) = counts.get_mut(&key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

/// The network of an address: one customer's, as a rule.
pub(crate) fn prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4((address.to_bits() >> 8 << 8).into()),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PeerLimits = PeerLimits { address: 4, prefix: 8, loopback: 12, total: 20 };

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Connects `count` times; how often that was within the limits.
    fn connect(counts: &mut PeerCounts, from: &str, count: usize) -> usize {
        let from = ip(from);
        (0..count).filter(|_| counts.check(from).map(|()| counts.add(from)).is_ok()).count()
    }

    #[test]
    fn an_address_a_prefix_and_all_together_have_limits() {
        let mut counts = PeerCounts::new(LIMITS);
        assert_eq!(connect(&mut counts, "10.0.0.1", 99), 4);
        assert_eq!(connect(&mut counts, "::ffff:10.0.0.1", 99), 0, "the same address");
        assert_eq!(connect(&mut counts, "10.0.0.2", 99), 4);
        assert_eq!(connect(&mut counts, "10.0.0.3", 99), 0, "the prefix is full");
        assert_eq!(connect(&mut counts, "2001:db8::1", 99), 4);
        assert_eq!(connect(&mut counts, "127.0.0.1", 99), 8, "all are full");
        assert_eq!(counts.check(ip("10.9.9.9")), Err(PeerLimitError::Total(20)));
        counts.remove(ip("10.0.0.1"));
        assert_eq!(counts.check(ip("10.0.0.3")), Ok(()));
    }

    #[test]
    fn loopback_addresses_have_a_limit_each_and_none_together() {
        let mut counts = PeerCounts::new(LIMITS);
        assert_eq!(connect(&mut counts, "127.0.0.2", 99), 12);
        assert_eq!(connect(&mut counts, "127.0.0.1", 4), 4);
    }

    #[test]
    fn whoever_has_most_gives_way() {
        let mut counts = PeerCounts::new(LIMITS);
        for (from, count) in [("10.0.0.1", 4), ("10.0.0.2", 2), ("10.0.9.1", 3), ("127.0.0.1", 9)] {
            connect(&mut counts, from, count);
        }
        let newcomer = ip("10.0.0.2");
        let heaviest = |error| counts.heaviest(newcomer, error);
        assert_eq!(heaviest(PeerLimitError::Address(4)), Some(newcomer));
        assert_eq!(heaviest(PeerLimitError::Prefix(8)), Some(ip("10.0.0.1")));
        assert_eq!(heaviest(PeerLimitError::Total(20)), Some(ip("127.0.0.1")));
    }

    #[test]
    fn of_equals_the_crowded_network_gives_way_and_then_the_newcomer() {
        let mut counts = PeerCounts::new(LIMITS);
        for from in ["10.0.0.1", "10.0.0.2", "192.0.2.7", "192.0.3.1"] {
            connect(&mut counts, from, 2);
        }
        let heaviest = |from| counts.heaviest(ip(from), PeerLimitError::Total(20));
        assert!(heaviest("192.0.3.1").is_some_and(|it| prefix(it) == ip("10.0.0.0")));
        assert_eq!(heaviest("10.0.0.1"), Some(ip("10.0.0.1")), "whoever comes again gives up its own");
        // Which of strangers loses differs from run to run, so that no address always does.
        let loses = |_| {
            let mut counts = PeerCounts::new(LIMITS);
            connect(&mut counts, "10.0.0.1", 1);
            connect(&mut counts, "192.0.2.7", 1);
            counts.heaviest(ip("198.51.100.1"), PeerLimitError::Total(20))
        };
        let losers: std::collections::BTreeSet<_> = (0..64).map(loses).collect();
        assert_eq!(losers.len(), 2);
    }

    #[test]
    fn addresses_without_connections_are_forgotten() {
        let mut counts = PeerCounts::new(LIMITS);
        connect(&mut counts, "2001:db8::1", 3);
        (0..3).for_each(|_| counts.remove(ip("2001:db8::1")));
        assert!(counts.addresses.is_empty() && counts.prefixes.is_empty() && counts.total == 0);
    }
}
