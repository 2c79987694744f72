//! The table of default paths, by address and by switch.

use std::hash::Hash;
use std::net::IpAddr;

use braid_types::{DatapathId, Index};
use smallvec::SmallVec;

use super::ecmp::GroupKey;
use super::next_hop::{Entry, NextHop, RouteKey};
use crate::fabric::{Fabric, LabelOwner, LeaseChange, LeasedLabels};

/// The default paths, installed or waiting for confirmation.
///
/// First packets to many addresses arrive in any order, and each lookup of a random address waits for memory.
/// So the index is small, and its entries are stored in the order of arrival.
///
/// Invariant: a place holds the routes of one address, at least one, or is in `free`.
#[derive(Debug, Default)]
pub(super) struct Routes {
    to: Index<IpAddr, Place>,
    places: Vec<NextHops>,
    /// The address of each place, apart from what each packet reads.
    owners: Vec<IpAddr>,
    free: Vec<Place>,
    count: usize,
    at: Index<DatapathId, RoutesAt>,
    /// The number of installed and pending routes to each group.
    group_uses: Index<GroupKey, u32>,
}

/// Where the routes of a switch are, so that a switch that leaves costs no look at those of others.
#[derive(Debug, Default)]
struct RoutesAt {
    /// Every place with a route of the switch, and perhaps others: routes that are removed leave theirs behind.
    places: Vec<Place>,
    count: usize,
}

/// Places beyond twice the routes of a switch, from which on they are collected anew.
const MAX_LEFT_BEHIND: usize = 64;

/// An index of `places`.
type Place = u32;

/// The routes to one address, in the order of switches.
type NextHops = SmallVec<[(DatapathId, Entry); 1]>;

impl Routes {
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// The wanted next hop from a switch to `dst`.
    pub(super) fn get(&self, dst: IpAddr, dpid: DatapathId) -> Option<NextHop> {
        self.entry(dst, dpid).map(|entry| entry.wanted)
    }

    pub(super) fn entry(&self, dst: IpAddr, dpid: DatapathId) -> Option<Entry> {
        self.entry_at(*self.to.get(&dst)?, dpid).copied()
    }

    /// Entries in the order of their keys. All lookups by address come before the first entry is read, so that
    /// they do not wait for each other.
    pub(super) fn entries(&self, keys: &[RouteKey]) -> impl Iterator<Item = Option<&Entry>> {
        let places: Vec<_> = keys.iter().map(|key| Some((*self.to.get(&key.dst)?, key.dpid))).collect();
        places.into_iter().map(|place| place.and_then(|(place, dpid)| self.entry_at(place, dpid)))
    }

    fn entry_at(&self, place: Place, dpid: DatapathId) -> Option<&Entry> {
        let at = find(&self.places, place, dpid)?;
        self.places.get(place as usize)?.get(at).map(|(_, entry)| entry)
    }

    fn ways(&self, dst: IpAddr) -> &[(DatapathId, Entry)] {
        let place = self.to.get(&dst).and_then(|place| self.places.get(*place as usize));
        place.map(SmallVec::as_slice).unwrap_or_default()
    }

    /// Replaces a route; returns the old one.
    pub(super) fn insert(
        &mut self,
        fabric: &mut Fabric,
        RouteKey { dst, dpid }: RouteKey,
        entry: Entry,
    ) -> Option<Entry> {
        let place = self.place(dst);
        let ways = self.places.get_mut(place as usize)?;
        let before = match ways.binary_search_by_key(&dpid, |(at, _)| *at) {
            Ok(at) => Some(std::mem::replace(&mut ways[at].1, entry)),
            Err(at) => {
                ways.insert(at, (dpid, entry));
                self.count += 1;
                self.note_at(dpid, place);
                None
            }
        };
        self.note_uses(fabric, dpid, before, Some(entry));
        before
    }

    /// The place of an address, perhaps a new one. There are at most as many as routes, whose limit is far
    /// lower.
    fn place(&mut self, dst: IpAddr) -> Place {
        let Self { to, places, owners, free, .. } = self;
        *to.entry(dst).or_insert_with(|| match free.pop() {
            Some(place) => {
                owners.get_mut(place as usize).into_iter().for_each(|owner| *owner = dst);
                place
            }
            None => {
                places.push(NextHops::new());
                owners.push(dst);
                (places.len() - 1) as Place
            }
        })
    }

    /// Records that a switch has one more route, at a place.
    fn note_at(&mut self, dpid: DatapathId, place: Place) {
        let at = self.at.entry(dpid).or_default();
        at.places.push(place);
        at.count += 1;
        if at.places.len() > at.count * 2 + MAX_LEFT_BEHIND {
            at.places.sort_unstable();
            at.places.dedup();
            let places = &self.places;
            at.places.retain(|place| find(places, *place, dpid).is_some());
        }
    }

    /// Updates the leases of labels and the counts of groups for an entry that was replaced, added or removed.
    fn note_uses(
        &mut self,
        fabric: &mut Fabric,
        dpid: DatapathId,
        before: Option<Entry>,
        after: Option<Entry>,
    ) {
        if before.iter().flat_map(Entry::next_hops).eq(after.iter().flat_map(Entry::next_hops)) {
            return;
        }
        let labels = |entry: &Option<Entry>| entry.iter().flat_map(Entry::labels).collect::<LeasedLabels>();
        let (owner, labels_before, labels_after) = (LabelOwner::Routes, labels(&before), labels(&after));
        fabric.handle_lease(LeaseChange::Labels { owner, before: &labels_before, after: &labels_after });
        let groups = &mut self.group_uses;
        after.iter().flat_map(Entry::groups).for_each(|group| count_up(groups, GroupKey { dpid, group }));
        before.iter().flat_map(Entry::groups).for_each(|group| count_down(groups, &GroupKey { dpid, group }));
    }

    /// Whether an installed or pending route leads to a group.
    pub(super) fn use_group(&self, key: GroupKey) -> bool {
        self.group_uses.contains_key(&key)
    }

    pub(super) fn take(&mut self, fabric: &mut Fabric, RouteKey { dst, dpid }: RouteKey) -> Option<Entry> {
        let place = *self.to.get(&dst)?;
        let ways = self.places.get_mut(place as usize)?;
        let at = ways.binary_search_by_key(&dpid, |(at, _)| *at).ok()?;
        let (_, entry) = ways.remove(at);
        self.count -= 1;
        if let Some(at) = self.at.get_mut(&dpid) {
            at.count -= 1;
        }
        if ways.is_empty() {
            *ways = NextHops::new();
            self.to.remove(&dst);
            self.free.push(place);
        }
        self.note_uses(fabric, dpid, Some(entry), None);
        Some(entry)
    }

    /// All routes that pass `test`, by address and switch. O(n log n).
    #[expect(clippy::disallowed_methods, reason = "sorted at once")]
    pub(super) fn sorted(&self, test: impl Fn(&Entry) -> bool) -> Vec<(RouteKey, Entry)> {
        let ways = self.to.keys().map(|dst| (*dst, self.ways(*dst)));
        let all = ways.flat_map(|(dst, ways)| {
            ways.iter().map(move |(dpid, entry)| (RouteKey { dst, dpid: *dpid }, *entry))
        });
        let mut sorted: Vec<_> = all.filter(|(_, entry)| test(entry)).collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        sorted
    }

    /// Records that a route was sent to its switch.
    pub(super) fn note_written(
        &mut self,
        fabric: &mut Fabric,
        RouteKey { dst, dpid }: RouteKey,
        way: NextHop,
    ) {
        let Some(entry) = self.entry_mut(dst, dpid) else { return };
        let after = Entry { written: Some(way), ..*entry };
        let before = std::mem::replace(entry, after);
        self.note_uses(fabric, dpid, Some(before), Some(after));
    }

    fn entry_mut(&mut self, dst: IpAddr, dpid: DatapathId) -> Option<&mut Entry> {
        let place = *self.to.get(&dst)?;
        let at = find(&self.places, place, dpid)?;
        self.places.get_mut(place as usize)?.get_mut(at).map(|(_, entry)| entry)
    }

    /// The labels of all routes, as often as they are in one.
    #[cfg(test)]
    pub(super) fn labels(&self) -> Vec<crate::label::Label> {
        self.sorted(|_| true).into_iter().flat_map(|(_, entry)| entry.labels().collect::<Vec<_>>()).collect()
    }

    /// The switches with a route to `dst`.
    pub(super) fn switches_to(&self, dst: IpAddr) -> Vec<DatapathId> {
        self.ways(dst).iter().map(|(dpid, _)| *dpid).collect()
    }

    /// The routes whose wanted or installed next hop passes `test`, by address and switch.
    pub(super) fn through(&self, test: impl Fn(DatapathId, NextHop) -> bool) -> Vec<(RouteKey, Entry)> {
        let mut routes = self.sorted(|_| true);
        routes.retain(|(key, entry)| entry.next_hops().any(|way| test(key.dpid, way)));
        routes
    }

    /// Removes the routes of a switch that has lost its rules. O(n log m) for its n routes, of m to an address.
    pub(super) fn forget(&mut self, fabric: &mut Fabric, dpid: DatapathId) {
        let Some(RoutesAt { mut places, .. }) = self.at.remove(&dpid) else { return };
        places.sort_unstable();
        places.dedup();
        for place in places {
            let Some(at) = find(&self.places, place, dpid) else { continue };
            let Some(ways) = self.places.get_mut(place as usize) else { continue };
            let (_, entry) = ways.remove(at);
            self.count -= 1;
            if ways.is_empty() {
                *ways = NextHops::new();
                self.free.push(place);
                self.owners.get(place as usize).map(|dst| self.to.remove(dst));
            }
            self.note_uses(fabric, dpid, Some(entry), None);
        }
    }
}

/// Where the route of a switch is among those at a place.
fn find(places: &[NextHops], place: Place, dpid: DatapathId) -> Option<usize> {
    places.get(place as usize)?.binary_search_by_key(&dpid, |(at, _)| *at).ok()
}

fn count_up<K: Eq + Hash>(uses: &mut Index<K, u32>, key: K) {
    *uses.entry(key).or_default() += 1;
}

fn count_down<K: Eq + Hash>(uses: &mut Index<K, u32>, key: &K) {
    if let Some(count) = uses.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            uses.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use braid_types::PortNo;
    use proptest::prelude::*;

    use super::*;
    use crate::label::Label;
    use crate::pipeline::{Exit, Hop};

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Insert(u8, u64, Entry),
        Take(u8, u64),
        Forget(u64),
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let way = |label: Option<u32>| {
            let port = PortNo(1);
            label.map_or(NextHop::Here, |number| {
                NextHop::By(Hop { label: Label(number), port, exit: Exit::Plain })
            })
        };
        let number = || prop::option::of(1..4_u32);
        (number(), prop::option::of(number()))
            .prop_map(move |(wanted, written)| Entry { wanted: way(wanted), written: written.map(way) })
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..12_u8, 0..4_u64, entry()).prop_map(|(dst, dpid, entry)| Step::Insert(dst, dpid, entry)),
            3 => (0..12_u8, 0..4_u64).prop_map(|(dst, dpid)| Step::Take(dst, dpid)),
            1 => (0..4_u64).prop_map(Step::Forget),
        ]
    }

    proptest! {
        #[test]
        fn routes_are_what_a_sorted_map_would_hold(steps in prop::collection::vec(step(), 0..200)) {
            let (mut routes, mut model) = (Routes::default(), BTreeMap::new());
            let fabric = &mut Fabric::default();
            let key = |dst: u8, dpid| RouteKey { dst: IpAddr::from([10, 0, 0, dst]), dpid: DatapathId(dpid) };
            for step in steps {
                match step {
                    Step::Insert(dst, dpid, entry) => {
                        let before = routes.insert(fabric, key(dst, dpid), entry).is_some();
                        prop_assert_eq!(before, model.insert(key(dst, dpid), ()).is_some());
                    }
                    Step::Take(dst, dpid) => {
                        let taken = routes.take(fabric, key(dst, dpid)).is_some();
                        prop_assert_eq!(taken, model.remove(&key(dst, dpid)).is_some());
                    }
                    Step::Forget(dpid) => {
                        routes.forget(fabric, DatapathId(dpid));
                        model.retain(|key, ()| key.dpid != DatapathId(dpid));
                    }
                }
                let all: Vec<_> = routes.sorted(|_| true).into_iter().map(|(key, _)| key).collect();
                prop_assert_eq!(&all, &model.keys().copied().collect::<Vec<_>>());
                prop_assert_eq!(routes.len(), all.len());
                prop_assert_eq!(routes.places.len(), routes.to.len() + routes.free.len());
                let of_switches: Vec<_> = (0..4).filter_map(|dpid| routes.at.get(&DatapathId(dpid))).collect();
                prop_assert_eq!(of_switches.iter().map(|at| at.count).sum::<usize>(), all.len());
                for RoutesAt { places, count } in of_switches {
                    prop_assert!(places.len() <= count * 2 + MAX_LEFT_BEHIND + 24);
                }
                let keys: Vec<_> = (0..12).flat_map(|dst| (0..4).map(move |dpid| key(dst, dpid))).collect();
                for (key, entry) in keys.iter().zip(routes.entries(&keys)) {
                    prop_assert_eq!(entry.map(|entry| entry.wanted), routes.get(key.dst, key.dpid));
                    prop_assert_eq!(entry.is_some(), model.contains_key(key));
                }
                let mut uses = BTreeMap::new();
                for label in routes.labels() {
                    *uses.entry((label, LabelOwner::Routes)).or_insert(0) += 1;
                }
                prop_assert_eq!(fabric.leases(), uses);
            }
        }
    }
}
