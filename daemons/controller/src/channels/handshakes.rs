//! Connections whose handshake is not done: limited by address and network. The oldest gives way to a new one, so that a
//! peer that says nothing keeps nobody out.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::outbox::Slot;
use crate::peer_limit::{PeerCounts, PeerLimits};

/// OpenFlow handshakes at the same time. A network whose controller restarts has as many as switches.
pub(super) const LIMITS: PeerLimits = PeerLimits { address: 256, prefix: 512, loopback: 2_048, total: 2_048 };

/// The handshakes that are going on.
#[derive(Debug)]
pub(super) struct Handshakes {
    counts: PeerCounts,
    /// By address, in the order in which they began.
    order: BTreeSet<(IpAddr, u64, Slot)>,
    last: u64,
}

/// A handshake's place, to be given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    address: IpAddr,
    number: u64,
}

impl Handshakes {
    pub(super) fn new(limits: PeerLimits) -> Self {
        Self { counts: PeerCounts::new(limits), order: BTreeSet::new(), last: 0 }
    }

    /// The connection that has to close before one from this address may begin; `None` if there is room.
    pub(super) fn must_close(&self, address: IpAddr) -> Option<Slot> {
        let error = self.counts.check(address).err()?;
        let heaviest = self.counts.heaviest(address, error)?;
        let of_heaviest = (heaviest, 0, 0)..=(heaviest, u64::MAX, Slot::MAX);
        self.order.range(of_heaviest).next().map(|(_, _, slot)| *slot)
    }

    /// A handshake begins.
    pub(super) fn begin(&mut self, address: IpAddr, slot: Slot) -> Place {
        let address = address.to_canonical();
        self.last += 1;
        self.counts.add(address);
        self.order.insert((address, self.last, slot));
        Place { address, number: self.last }
    }

    /// A handshake is done, or its connection closes.
    pub(super) fn end(&mut self, Place { address, number }: Place, slot: Slot) {
        if self.order.remove(&(address, number, slot)) {
            self.counts.remove(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u32) -> IpAddr {
        IpAddr::V4((0x0a00_0000 + last).into())
    }

    #[test]
    fn the_oldest_handshake_of_the_same_address_gives_way() {
        let mut handshakes = Handshakes::new(LIMITS);
        let places: Vec<_> = (0..LIMITS.address).map(|slot| handshakes.begin(ip(1), slot)).collect();
        assert_eq!(handshakes.must_close(ip(1)), Some(0));
        assert_eq!(handshakes.must_close(ip(2)), None);
        handshakes.end(places[0], 0);
        assert_eq!(handshakes.must_close(ip(1)), None);
        handshakes.begin(ip(1), 0);
        assert_eq!(handshakes.must_close(ip(1)), Some(1));
    }

    #[test]
    fn when_all_places_are_taken_whoever_has_most_gives_way() {
        let mut handshakes = Handshakes::new(LIMITS);
        // One handshake each of a few, and a flood from many networks.
        handshakes.begin(ip(1), 0);
        for slot in 1..LIMITS.total {
            handshakes.begin(ip(0x1_0000 + 256 * (slot as u32 / 200)), slot);
        }
        let victim = handshakes.must_close(ip(2)).expect("no room");
        assert_ne!(victim, 0);
    }
}
