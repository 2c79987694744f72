//! The flow table of the resequencer: set-associative, with a keyed hash.

use std::net::IpAddr;

use braid_types::{FiveTuple, Time};

use super::flow::Flow;

/// The number of places in a set, which flows with equal hash bits share.
const WAYS: usize = 16;

/// The known flows: a set-associative table, so that with any keys a look-up compares at most [`WAYS`] of them, and
/// nothing is ever moved.
///
/// In a full set, a new flow replaces the one silent for longest that holds nothing.
#[derive(Clone, Debug)]
pub(super) struct Table {
    sets: Vec<Vec<Place>>,
    seed: u64,
    count: u32,
}

/// Where a flow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FlowId {
    set: u32,
    way: u32,
}

#[derive(Clone, Debug)]
struct Place {
    key: Option<FiveTuple>,
    used: Time,
    flow: Flow,
}

impl Table {
    /// A table for about `flows` flows.
    pub(super) fn new(flows: u32, seed: u64) -> Self {
        let sets = (flows as usize).div_ceil(WAYS).next_power_of_two();
        Self { sets: (0..sets).map(|_| Vec::new()).collect(), seed, count: 0 }
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn get_mut(&mut self, id: FlowId) -> Option<&mut Flow> {
        let place = self.sets.get_mut(id.set as usize)?.get_mut(id.way as usize)?;
        Some(&mut place.flow)
    }

    pub(super) fn flows_mut(&mut self) -> impl Iterator<Item = &mut Flow> {
        self.sets.iter_mut().flatten().map(|place| &mut place.flow)
    }

    /// The flow of `key`.
    pub(super) fn find(&mut self, now: Time, key: &FiveTuple) -> Option<FlowId> {
        let set = self.set_of(key);
        let places = self.sets.get_mut(set)?;
        let (way, place) =
            places.iter_mut().enumerate().find(|(_, place)| place.key.as_ref() == Some(key))?;
        place.used = now;
        Some(FlowId { set: set as u32, way: way as u32 })
    }

    /// Adds an unknown flow; `None` if all that it could replace hold packets.
    pub(super) fn insert(&mut self, now: Time, key: &FiveTuple, flow: Flow) -> Option<FlowId> {
        let set = self.set_of(key);
        let places = self.sets.get_mut(set)?;
        let place = Place { key: Some(*key), used: now, flow };
        let way = match vacancy(places) {
            Some(way) => way,
            None if places.len() < WAYS => places.len(),
            None => longest_silent(places)?,
        };
        match places.get_mut(way) {
            Some(old) => {
                self.count = self.count.saturating_add(old.key.is_none().into());
                *old = place;
            }
            None => {
                self.count = self.count.saturating_add(1);
                places.push(place);
            }
        }
        Some(FlowId { set: set as u32, way: way as u32 })
    }

    /// Removes a flow, whose held packets must have been taken out.
    pub(super) fn remove(&mut self, id: FlowId) {
        let place = self.sets.get_mut(id.set as usize).and_then(|set| set.get_mut(id.way as usize));
        if place.is_some_and(|place| place.key.take().is_some()) {
            self.count = self.count.saturating_sub(1);
        }
    }

    fn set_of(&self, key: &FiveTuple) -> usize {
        // The number of sets is a power of two.
        hash(self.seed, key) as usize & self.sets.len().saturating_sub(1)
    }
}

fn vacancy(places: &[Place]) -> Option<usize> {
    places.iter().position(|place| place.key.is_none())
}

fn longest_silent(places: &[Place]) -> Option<usize> {
    let idle = places.iter().enumerate().filter(|(_, place)| place.flow.holds_nothing());
    idle.min_by_key(|(_, place)| place.used).map(|(way, _)| way)
}

/// Spreads keys over sets; without the seed nobody can target a set.
fn hash(seed: u64, key: &FiveTuple) -> u64 {
    let ports = u64::from(key.src_port) << 16 | u64::from(key.dst_port);
    let start = fold(seed ^ 0x9e37_79b9_7f4a_7c15, ports ^ 0xe703_7ed1_a0b4_28db);
    [key.src, key.dst].iter().fold(start, |hash, address| match address {
        IpAddr::V4(address) => fold(hash ^ u64::from(address.to_bits()), 0xa076_1d64_78bd_642f),
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            fold(fold(hash ^ bits as u64, 0xa076_1d64_78bd_642f) ^ (bits >> 64) as u64, 0x8ebc_6af0_9c88_c6e3)
        }
    })
}

// The mixing step of wyhash: both halves of a product of 64 by 64 bits.
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> FiveTuple {
        let src = IpAddr::V4(std::net::Ipv4Addr::from_bits(0x0a00_0000 | number >> 8));
        let dst = IpAddr::V6(std::net::Ipv6Addr::from_bits(u128::from(number & 0xff)));
        FiveTuple { src, dst, src_port: 1, dst_port: 2 }
    }

    #[test]
    fn flows_are_found_until_there_are_too_many() {
        let mut table = Table::new(1_024, 7);
        for number in 0..10_000 {
            let now = Time::from_millis(number.into());
            assert_eq!(table.find(now, &key(number)), None);
            let id = table.insert(now, &key(number), Flow::new(crate::SeqNo(0))).unwrap();
            assert_eq!(table.find(now, &key(number)), Some(id));
        }
        assert!(table.count() <= 1_024);
        assert!((9_500..10_000).filter(|it| table.find(Time::ZERO, &key(*it)).is_some()).count() > 450);
    }

    #[test]
    fn keys_spread_evenly() {
        let mut sets = [0_u32; 256];
        (0..65_536).for_each(|number| sets[hash(7, &key(number)) as usize & 255] += 1);
        assert!(sets.iter().all(|count| (150..370).contains(count)), "{sets:?}");
    }

    #[test]
    fn a_place_that_was_left_is_taken_again() {
        let mut table = Table::new(1, 7);
        let now = Time::ZERO;
        for number in 0..1_000 {
            let id = table.insert(now, &key(number), Flow::new(crate::SeqNo(0))).unwrap();
            table.remove(id);
            table.remove(id);
        }
        assert_eq!((table.count(), table.sets[0].len()), (0, 1));
    }
}
