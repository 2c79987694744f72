//! Connections whose packets edges spread over several paths at once, and put back in order.
//!
//! All that goes from one edge to another by the same policy goes through one group of the first: a `Bundle` of paths. What
//! comes out at the other end for one host goes through one group there, which puts it in order.

mod cross_traffic;
mod place;
mod plan;
mod review;
mod telemetry;
mod view;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use braid_paths::Path;
use braid_steering::{Imbalance, Resequence, Route, StreamId, TransferId};
use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, PortNo, Time};

use crate::event::SwitchPorts;
use crate::fabric::Hops;
use crate::label::Label;
use crate::pipeline::{EdgeGroup, Hop, Spray as SprayGroup, SprayPath};
use cross_traffic::CrossTraffic;
use plan::Plan;
use telemetry::Telemetry;

pub use view::{
    EdgeList, EdgePathState, EdgePathView, EdgeView, HeldView, HoldTimeView, ResequencerCounts,
    ResequencerView, SprayGroupView, SprayPathView,
};

/// How paths are chosen for what is sprayed, and whether it is put in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SprayPolicy {
    pub(crate) k: usize,
    pub(crate) resequence: Resequence,
    pub(crate) max_mdi: Option<Imbalance>,
}

/// From which edge to which, and how.
type Key = (DatapathId, DatapathId, SprayPolicy);

/// The bundles in use, and what goes through them.
#[derive(Debug, Default)]
pub(crate) struct Spray {
    edges: BTreeSet<DatapathId>,
    bundles: BTreeMap<Key, Bundle>,
    streams: BTreeMap<StreamId, SprayedStream>,
    /// Streams that would be sprayed if there were paths enough that go together.
    single: BTreeMap<StreamId, SprayRequest>,
    last_group: Option<EdgeGroup>,
    /// Groups of an earlier controller, and when nothing leads there any more.
    found: Vec<(Time, DatapathId, EdgeGroup)>,
    cross_traffic: CrossTraffic,
    telemetry: Telemetry,
    events: VecDeque<SprayEvent>,
}

/// A stream that is to be sprayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SprayRequest {
    pub(crate) id: StreamId,
    pub(crate) transfer: TransferId,
    pub(crate) tuple: FiveTuple,
    /// The edges of the opening host and of the answering one.
    pub(crate) ends: (DatapathId, DatapathId),
    pub(crate) policy: SprayPolicy,
}

/// What streams have to know of bundles.
#[derive(Debug)]
pub(crate) enum SprayEvent {
    /// The first paths of a stream's bundles are others.
    Routed(StreamId, Route),
    /// The paths of a stream's bundles have changed.
    Changed(TransferId),
    /// A stream's bundle has no path any more.
    Lost(StreamId),
    /// There are paths now over which a stream can be sprayed that takes one.
    Sprayable(StreamId),
}

#[derive(Clone, Copy, Debug)]
struct SprayedStream {
    /// There and back.
    keys: [Key; 2],
    transfer: TransferId,
    tuple: FiveTuple,
}

/// Paths from one edge to another that packets are spread over.
#[derive(Debug)]
struct Bundle {
    group: EdgeGroup,
    members: Vec<Member>,
    plan: Plan,
    /// What puts in order at the other end, by host.
    orders: BTreeMap<(MacAddr, PortNo), EdgeGroup>,
    changed_at: Time,
    unused_since: Option<Time>,
}

/// A path of a bundle.
#[derive(Clone, PartialEq, Debug)]
struct Member {
    path: Path,
    label: Label,
    hop: Hop,
    /// The label of the same cables the other way, for answers to probes.
    back: Label,
    rate: BitsPerSec,
    delay: std::time::Duration,
}

impl Spray {
    /// What there is to know, in its order.
    pub(crate) fn poll_event(&mut self) -> Option<SprayEvent> {
        self.events.pop_front()
    }

    /// A switch has joined.
    pub(crate) fn handle_switch_up(&mut self, switch: &SwitchPorts, until: Time) {
        if switch.is_edge() {
            self.edges.insert(switch.dpid);
        }
        for group in switch.found.iter().flat_map(|found| &found.edge_groups) {
            self.found.push((until, switch.dpid, *group));
            self.last_group = self.last_group.max(Some(*group));
        }
    }

    /// A switch has left.
    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.edges.remove(&dpid);
        self.found.retain(|(_, at, _)| *at != dpid);
    }

    /// Whether a stream is sprayed now.
    pub(crate) fn has(&self, id: StreamId) -> bool {
        self.streams.contains_key(&id)
    }

    /// Where packets of a stream go that is sprayed.
    pub(crate) fn hop(&self, id: StreamId, reverse: bool) -> Option<(DatapathId, Hop)> {
        let key = self.streams.get(&id)?.keys.get(usize::from(reverse))?;
        Some((key.0, Hop::sprayed(self.bundles.get(key)?.group)))
    }

    /// What is known of a stream's way, if it is sprayed: the first path of each of its bundles.
    pub(crate) fn route(&self, id: StreamId) -> Option<Route> {
        let stream = self.streams.get(&id)?;
        let first = |key| self.bundles.get(key)?.members.first().map(|member| member.path.clone());
        Some(Route { forward: first(&stream.keys[0])?, reverse: first(&stream.keys[1])? })
    }

    /// Where a stream's packets enter all its paths, there and back.
    pub(crate) fn hops(&self, id: StreamId) -> Hops {
        let keys = self.streams.get(&id).into_iter().flat_map(|stream| &stream.keys);
        keys.filter_map(|key| self.bundles.get(key)).flat_map(Bundle::hops).collect()
    }

    /// The labels in use.
    pub(crate) fn labels(&self) -> impl Iterator<Item = Label> {
        self.bundles.values().flat_map(|bundle| bundle.members.iter().flat_map(|it| [it.label, it.back]))
    }

    /// Whether a stream is sprayed over one of `paths`.
    pub(crate) fn uses(&self, id: StreamId, paths: &BTreeSet<Path>) -> bool {
        let keys = self.streams.get(&id).into_iter().flat_map(|stream| &stream.keys);
        let mut members = keys.filter_map(|key| self.bundles.get(key)).flat_map(|bundle| &bundle.members);
        members.any(|member| paths.contains(&member.path))
    }

    /// Whether a group that waited to be written is still wanted.
    pub(crate) fn wants(&self, dpid: DatapathId, spray: &SprayGroup) -> bool {
        let bundle = self.bundles.iter().find(|(key, bundle)| key.0 == dpid && bundle.group == spray.group);
        bundle.is_some_and(|(_, bundle)| {
            bundle.members.iter().map(|it| it.label).eq(spray.paths.iter().map(|it| it.label))
        })
    }

    fn streams_of(&self, key: &Key) -> Vec<StreamId> {
        self.streams.iter().filter(|(_, it)| it.keys.contains(key)).map(|(id, _)| *id).collect()
    }

    fn next_group(&mut self) -> EdgeGroup {
        loop {
            let group = EdgeGroup::after(self.last_group);
            self.last_group = Some(group);
            let mut used = self.bundles.values().flat_map(|it| it.orders.values().chain([&it.group]));
            if !used.any(|used| *used == group) && !self.found.iter().any(|(.., found)| *found == group) {
                return group;
            }
        }
    }
}

impl Bundle {
    /// As its group has it.
    fn spray(&self, peer: DatapathId) -> SprayGroup {
        spray_over(self.group, peer, &self.members)
    }

    fn hops(&self) -> Hops {
        self.members.iter().map(|member| member.hop).collect()
    }
}

fn spray_over(group: EdgeGroup, peer: DatapathId, members: &[Member]) -> SprayGroup {
    let path = |member: &Member| SprayPath {
        label: member.label,
        port: member.hop.port,
        back: member.back,
        rate: member.rate,
        delay: member.delay,
    };
    let total = members.iter().map(|member| member.rate.0).fold(0, u64::saturating_add);
    SprayGroup { group, peer, paths: members.iter().map(path).collect(), burst: burst(BitsPerSec(total)) }
}

/// What all paths carry in 50 µs, and no more than a super-frame: the shorter the turns, the less has to be put in order, and the longer, the
/// more frames leave as one. Up to 240 Mbit/s each packet is decided by itself.
fn burst(total: BitsPerSec) -> u32 {
    (total.0 / 8 / 20_000).min(u16::MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_paths_are_the_more_leaves_in_a_row() {
        let burst = |mbits: u64| burst(BitsPerSec(mbits * 1_000_000));
        assert_eq!([200, 2_000, 20_000, u64::MAX / 1_000_000].map(burst), [1_250, 12_500, 65_535, 65_535]);
    }
}
