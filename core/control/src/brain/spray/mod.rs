//! Connections whose packets edges spread over several paths at once, and put back in order.
//!
//! All that goes from one edge to another in the same manner goes through one group of the first: a `Bundle` of paths. What
//! comes out at the other end for one host goes through one group there, which puts it in order.

mod edges;
mod follow;
mod others;
mod place;
mod plan;
mod telling;

use std::collections::{BTreeMap, BTreeSet};

use braid_paths::Path;
use braid_steering::{Imbalance, Resequence, StreamId};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo, SwitchPort, Time};
use serde::Serialize;

use super::placing::Hops;
use crate::event::SwitchPorts;
use crate::label::Label;
use crate::pipeline::{EdgeGroup, Hop, Spray, SprayPath};
use others::Others;
use plan::Plan;
use telling::Telling;

pub use edges::{
    EdgeHeldView, EdgeList, EdgeOrderCounts, EdgeOrderView, EdgePathState, EdgePathView, EdgeSprayView,
    EdgeView, EdgeWaitedView,
};

/// How paths are chosen for what is sprayed, and whether it is put in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct SprayManner {
    pub(super) k: usize,
    pub(super) resequence: Resequence,
    pub(super) max_mdi: Option<Imbalance>,
}

/// From which edge to which, and how.
type Key = (DatapathId, DatapathId, SprayManner);

/// The bundles in use, and what goes through them.
#[derive(Debug, Default)]
pub(super) struct Sprays {
    edges: BTreeSet<DatapathId>,
    bundles: BTreeMap<Key, Bundle>,
    of_stream: BTreeMap<StreamId, [Key; 2]>,
    /// Streams that would be sprayed if there were paths enough that go together.
    single: BTreeSet<StreamId>,
    last_group: Option<EdgeGroup>,
    /// Groups of an earlier controller, and when nothing leads there any more.
    found: Vec<(Time, DatapathId, EdgeGroup)>,
    others: Others,
    telling: Telling,
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

/// A path that a stream is sprayed over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SprayView {
    /// The switches on the path.
    pub path: Vec<DatapathId>,
    /// The ports by which it leaves them.
    pub ports: Vec<SwitchPort>,
    /// What the path was found to have to spare, in bits a second: shares begin in proportion to it, and follow the edge's probes.
    pub rate_bps: u64,
    /// How long the path takes, in microseconds.
    pub delay_us: u64,
}

impl Sprays {
    /// A switch has joined.
    pub(super) fn join_switch(&mut self, switch: &SwitchPorts, until: Time) {
        if switch.is_edge() {
            self.edges.insert(switch.dpid);
        }
        for group in switch.found.iter().flat_map(|found| &found.edge_groups) {
            self.found.push((until, switch.dpid, *group));
            self.last_group = self.last_group.max(Some(*group));
        }
    }

    /// A switch has left.
    pub(super) fn leave_switch(&mut self, dpid: DatapathId) {
        self.edges.remove(&dpid);
        self.found.retain(|(_, at, _)| *at != dpid);
    }

    /// Whether a stream is sprayed now.
    pub(super) fn has(&self, id: StreamId) -> bool {
        self.of_stream.contains_key(&id)
    }

    /// Where packets of a stream go that is sprayed.
    pub(super) fn hop(&self, id: StreamId, reverse: bool) -> Option<(DatapathId, Hop)> {
        let key = self.of_stream.get(&id)?.get(usize::from(reverse))?;
        Some((key.0, Hop::sprayed(self.bundles.get(key)?.group)))
    }

    /// Where a stream's packets enter all its paths, there and back.
    pub(super) fn hops(&self, id: StreamId) -> Hops {
        let keys = self.of_stream.get(&id).into_iter().flatten();
        keys.filter_map(|key| self.bundles.get(key)).flat_map(Bundle::hops).collect()
    }

    /// The labels in use.
    pub(super) fn labels(&self) -> impl Iterator<Item = Label> {
        self.bundles.values().flat_map(|bundle| bundle.members.iter().flat_map(|it| [it.label, it.back]))
    }

    /// Whether a stream is sprayed over one of `paths`.
    pub(super) fn uses(&self, id: StreamId, paths: &BTreeSet<Path>) -> bool {
        let keys = self.of_stream.get(&id).into_iter().flatten();
        let mut members = keys.filter_map(|key| self.bundles.get(key)).flat_map(|bundle| &bundle.members);
        members.any(|member| paths.contains(&member.path))
    }

    /// Whether a group that waited to be written is still wanted.
    pub(super) fn wants(&self, dpid: DatapathId, spray: &Spray) -> bool {
        let bundle = self.bundles.iter().find(|(key, bundle)| key.0 == dpid && bundle.group == spray.group);
        bundle.is_some_and(|(_, bundle)| {
            bundle.members.iter().map(|it| it.label).eq(spray.paths.iter().map(|it| it.label))
        })
    }

    /// The paths of a stream from its opening host, if it is sprayed.
    pub(super) fn view(&self, id: StreamId) -> Vec<SprayView> {
        let key = self.of_stream.get(&id).map(|[forward, _]| forward);
        let members = key.and_then(|key| self.bundles.get(key)).map(|bundle| bundle.members.as_slice());
        let view = |member: &Member| SprayView {
            path: member.path.switches().collect(),
            ports: edges::ports(&member.path),
            rate_bps: member.rate.0,
            delay_us: u64::try_from(member.delay.as_micros()).unwrap_or(u64::MAX),
        };
        members.unwrap_or_default().iter().map(view).collect()
    }

    /// A stream is not sprayed any more.
    pub(super) fn leave(&mut self, id: StreamId) {
        self.of_stream.remove(&id);
        self.single.remove(&id);
    }

    fn streams_of(&self, key: &Key) -> Vec<StreamId> {
        self.of_stream.iter().filter(|(_, keys)| keys.contains(key)).map(|(id, _)| *id).collect()
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
    fn spray(&self, peer: DatapathId) -> Spray {
        spray_over(self.group, peer, &self.members)
    }

    fn hops(&self) -> Hops {
        self.members.iter().map(|member| member.hop).collect()
    }
}

fn spray_over(group: EdgeGroup, peer: DatapathId, members: &[Member]) -> Spray {
    let path = |member: &Member| SprayPath {
        label: member.label,
        port: member.hop.port,
        back: member.back,
        rate: member.rate,
        delay: member.delay,
    };
    let total = members.iter().map(|member| member.rate.0).fold(0, u64::saturating_add);
    Spray { group, peer, paths: members.iter().map(path).collect(), burst: burst(BitsPerSec(total)) }
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
