//! Sprayed connections: edges spread their packets over several paths and resequence them.
//!
//! Traffic from one edge to another under one policy uses one group of the first edge: a `Bundle` of paths.
//! At the other edge, one group for each host resequences its packets.

mod cross_traffic;
mod place;
mod plan;
mod review;
mod silence;
mod telemetry;
mod view;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use braid_paths::Path;
use braid_planner::{SprayPlan, SprayPolicy, burst};
use braid_steering::{Route, StreamId, TransferId};
use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, PortNo, SwitchPair, Time};

use crate::context::Context;
use crate::event::SwitchPorts;
use crate::fabric::{Fabric, Hops, LabelOwner, LeaseChange, LeasedLabels};
use crate::label::Label;
use crate::pipeline::{EdgeGroup, Hop, Spray as SprayGroup, SprayPath};
use cross_traffic::CrossTraffic;
use telemetry::Telemetry;

pub use view::{
    EdgeList, EdgePathState, EdgePathView, EdgeView, HeldView, HoldTimeView, ResequencerCounts,
    ResequencerView, SprayGroupView, SprayPathView,
};

/// The two edges of a bundle, and its policy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct BundleKey {
    ends: SwitchPair,
    policy: SprayPolicy,
}

impl BundleKey {
    /// The keys of both directions.
    const fn both(ends: SwitchPair, policy: SprayPolicy) -> [Self; 2] {
        [Self { ends, policy }, Self { ends: ends.reversed(), policy }]
    }
}

/// The bundles in use and their streams.
///
/// What it shows beside the methods here: `is_possible`, `place`, `await_paths` and `leave` in `place`; `review` and `commit` in `review`;
/// `handle_reports` in `telemetry`; `list_edges` in `view`.
#[derive(Debug, Default)]
pub(crate) struct Spray {
    edges: BTreeSet<DatapathId>,
    bundles: BTreeMap<BundleKey, Bundle>,
    streams: BTreeMap<StreamId, SprayedStream>,
    /// Streams to be sprayed as soon as suitable paths exist.
    single: BTreeMap<StreamId, SprayRequest>,
    last_group: Option<EdgeGroup>,
    /// Groups of an earlier controller, and when no rule uses them any more.
    found: Vec<(Time, DatapathId, EdgeGroup)>,
    cross_traffic: CrossTraffic,
    telemetry: Telemetry,
    events: VecDeque<SprayEvent>,
}

/// A stream that should be sprayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SprayRequest {
    pub(crate) id: StreamId,
    pub(crate) transfer: TransferId,
    pub(crate) tuple: FiveTuple,
    /// The edges of the opening and of the answering host.
    pub(crate) ends: SwitchPair,
    pub(crate) policy: SprayPolicy,
    /// Whether its policy allows spraying now.
    pub(crate) is_allowed: bool,
}

/// A change of the network that concerns edges.
#[derive(Debug)]
pub(crate) enum SprayChange<'a> {
    /// A switch has joined; it may be an edge.
    SwitchUp(&'a SwitchPorts),
    /// A switch has left.
    SwitchDown(DatapathId),
    /// Links were added or removed: bundles drop broken paths and add others.
    Links(&'a mut Fabric),
}

/// A report to the machines above.
#[derive(Debug)]
pub(crate) enum SprayEvent {
    /// The first paths of a stream's bundles have changed.
    Routed(StreamId, Route),
    /// The paths of a stream's bundles have changed.
    Changed(TransferId),
    /// A stream's bundle has no path any more.
    Lost(StreamId),
    /// A stream on a single path can be sprayed now.
    Sprayable(StreamId),
}

#[derive(Clone, Copy, Debug)]
struct SprayedStream {
    /// Forward and reverse.
    keys: [BundleKey; 2],
    transfer: TransferId,
    tuple: FiveTuple,
}

/// Paths from one edge to another over which packets are sprayed.
#[derive(Debug)]
struct Bundle {
    group: EdgeGroup,
    members: Vec<Member>,
    plan: SprayPlan,
    /// The resequencing groups at the other edge, by host.
    resequencers: BTreeMap<(MacAddr, PortNo), EdgeGroup>,
    changed_at: Time,
    unused_since: Option<Time>,
}

/// A path of a bundle.
#[derive(Clone, PartialEq, Debug)]
struct Member {
    path: Path,
    label: Label,
    hop: Hop,
    /// The label of the same links in reverse, for answers to probes.
    back: Label,
    rate: BitsPerSec,
    delay: std::time::Duration,
}

/// One direction of a sprayed stream.
#[derive(Clone, Copy, Debug)]
struct Direction {
    id: StreamId,
    key: BundleKey,
    tuple: FiveTuple,
    reverse: bool,
}

impl SprayedStream {
    fn directions(self, id: StreamId) -> [Direction; 2] {
        let [there, back] = self.keys;
        [
            Direction { id, key: there, tuple: self.tuple, reverse: false },
            Direction { id, key: back, tuple: self.tuple.reversed(), reverse: true },
        ]
    }
}

impl Spray {
    /// The next report, in order.
    pub(crate) fn poll_event(&mut self) -> Option<SprayEvent> {
        self.events.pop_front()
    }

    /// The network has changed.
    pub(crate) fn handle_change(&mut self, cx: &mut Context<'_>, change: SprayChange<'_>) {
        match change {
            SprayChange::SwitchUp(switch) => self.handle_switch_up(cx, switch),
            SprayChange::SwitchDown(dpid) => self.handle_switch_down(dpid),
            SprayChange::Links(fabric) => self.handle_links(cx, fabric),
        }
    }

    fn handle_switch_up(&mut self, cx: &Context<'_>, switch: &SwitchPorts) {
        let until = cx.now + cx.settings.reconcile_timeout + cx.settings.install_timeout * 2;
        if switch.is_edge() {
            self.edges.insert(switch.dpid);
        }
        for group in switch.installed.iter().flat_map(|found| &found.edge_groups) {
            self.found.push((until, switch.dpid, *group));
            self.last_group = self.last_group.max(Some(*group));
        }
    }

    fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.edges.remove(&dpid);
        self.found.retain(|(_, at, _)| *at != dpid);
    }

    /// The bundles of a sprayed stream.
    pub(crate) fn stream(&self, id: StreamId) -> Option<StreamBundles<'_>> {
        let keys = self.streams.get(&id)?.keys;
        let [forward, reverse] = keys.map(|key| self.bundles.get(&key).map(|bundle| (key, bundle)));
        Some(StreamBundles { both: [forward?, reverse?] })
    }

    /// Whether a pending group is still wanted.
    fn wants(&self, dpid: DatapathId, spray: &SprayGroup) -> bool {
        let bundle =
            self.bundles.iter().find(|(key, bundle)| key.ends.src == dpid && bundle.group == spray.group);
        bundle.is_some_and(|(_, bundle)| {
            bundle.members.iter().map(|it| it.label).eq(spray.paths.iter().map(|it| it.label))
        })
    }

    fn streams_of(&self, key: &BundleKey) -> Vec<StreamId> {
        self.streams.iter().filter(|(_, it)| it.keys.contains(key)).map(|(id, _)| *id).collect()
    }

    fn next_group(&mut self) -> EdgeGroup {
        loop {
            let group = EdgeGroup::after(self.last_group);
            self.last_group = Some(group);
            let mut used = self.bundles.values().flat_map(|it| it.resequencers.values().chain([&it.group]));
            if !used.any(|used| *used == group) && !self.found.iter().any(|(.., found)| *found == group) {
                return group;
            }
        }
    }
}

/// The bundles of a stream, forward and reverse. Its `view` is in the file of that name.
#[derive(Clone, Copy)]
pub(crate) struct StreamBundles<'a> {
    both: [(BundleKey, &'a Bundle); 2],
}

impl StreamBundles<'_> {
    /// The switch and first hop of one direction.
    pub(crate) fn hop(self, reverse: bool) -> (DatapathId, Hop) {
        let [forward, back] = self.both;
        let (key, bundle) = if reverse { back } else { forward };
        (key.ends.src, Hop::sprayed(bundle.group))
    }

    /// The first path of each bundle; `None` if one has none.
    pub(crate) fn route(self) -> Option<Route> {
        let [forward, reverse] =
            self.both.map(|(_, bundle)| bundle.members.first().map(|member| member.path.clone()));
        Some(Route { forward: forward?, reverse: reverse? })
    }

    /// The first hops of all paths in both directions.
    pub(crate) fn hops(self) -> Hops {
        self.both.into_iter().flat_map(|(_, bundle)| bundle.hops()).collect()
    }

    /// Whether the stream uses one of `paths`.
    pub(crate) fn uses(self, paths: &BTreeSet<Path>) -> bool {
        let mut members = self.both.into_iter().flat_map(|(_, bundle)| &bundle.members);
        members.any(|member| paths.contains(&member.path))
    }
}

impl Bundle {
    /// The group of this bundle.
    fn spray(&self, peer: DatapathId) -> SprayGroup {
        spray_over(self.group, peer, &self.members)
    }

    /// Gives the bundle other paths and leases their labels.
    fn set_members(&mut self, fabric: &mut Fabric, members: Vec<Member>) {
        let before = labels_of(&std::mem::replace(&mut self.members, members));
        let (owner, after) = (LabelOwner::Bundles, labels_of(&self.members));
        fabric.handle_lease(LeaseChange::Labels { owner, before: &before, after: &after });
    }

    fn hops(&self) -> Hops {
        self.members.iter().map(|member| member.hop).collect()
    }
}

fn labels_of(members: &[Member]) -> LeasedLabels {
    members.iter().flat_map(|member| [member.label, member.back]).collect()
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

#[cfg(test)]
impl Spray {
    /// The labels of all bundles, as often as they are in one.
    pub(crate) fn labels(&self) -> impl Iterator<Item = Label> {
        self.bundles.values().flat_map(|bundle| labels_of(&bundle.members))
    }
}
