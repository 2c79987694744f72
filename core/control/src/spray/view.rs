//! Views of edges: spray groups, paths and resequencers with what the edge last reported.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_edge_protocol::telemetry::PathState;
use braid_paths::Path;
use braid_spray::HoldHistogram;
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time, following};

use super::telemetry::{GroupKey, MemberKey, PathReading, ResequencerReading};
use super::{Bundle, BundleKey, Member, Spray, StreamBundles};
use crate::pipeline::EdgeGroup;

/// An edge and its telemetry; `None` for what it has not reported yet. Times are on the controller's clock.
#[derive(Clone, PartialEq, Debug)]
pub struct EdgeView {
    /// Its identity.
    pub dpid: DatapathId,
    /// When it reported last.
    pub answered_at: Option<Time>,
    /// To which edges it sprays.
    pub spray_groups: Vec<SprayGroupView>,
    /// A resequencer for each host to which it delivers sprayed traffic.
    pub resequencers: Vec<ResequencerView>,
}

/// A group that sprays over paths to another edge.
#[derive(Clone, PartialEq, Debug)]
pub struct SprayGroupView {
    /// Its number.
    pub group: u32,
    /// The edge at the end of its paths.
    pub to: DatapathId,
    /// Its paths, those of the lowest delay first.
    pub paths: Vec<EdgePathView>,
}

/// A path that an edge sprays over, as the edge sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct EdgePathView {
    /// The switches on it.
    pub path: Vec<DatapathId>,
    /// The ports by which it leaves them.
    pub ports: Vec<SwitchPort>,
    /// When the following values were reported.
    pub read_at: Option<Time>,
    /// Whether it carries traffic.
    pub state: Option<EdgePathState>,
    /// The share of all packets that it is given, from 0 to 1.
    pub share: Option<f64>,
    /// The traffic sent on it between the last two readings, in bits a second.
    pub carried_bps: Option<u64>,
    /// Its estimated capacity, in bits a second: what it carried when it last queued.
    pub estimated_capacity_bps: Option<u64>,
    /// How long answers to probes take, smoothed, in microseconds.
    pub round_trip_us: Option<f64>,
    /// How long packets wait in its queues, in microseconds.
    pub queue_us: Option<f64>,
    /// The part that is lost lately of what is sent by it, or of its probes while that is little, from 0 to 1.
    pub loss: Option<f64>,
    /// How often it has stopped answering probes, since its group changed last.
    pub silences: u32,
    /// Packets that were sent by it, since then.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Whether a path of an edge carries anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgePathState {
    /// It carries its share.
    Active,
    /// It does not answer probes, and carries nothing.
    Silent,
    /// The port where it begins is down.
    Down,
    /// It answers, and is given nothing: it loses what others do not, or more comes without it.
    Suspended,
}

/// A group that resequences traffic of another edge for one host.
#[derive(Clone, PartialEq, Debug)]
pub struct ResequencerView {
    /// Its number.
    pub group: u32,
    /// The edge that sprays.
    pub from: DatapathId,
    /// The host.
    pub host: MacAddr,
    /// The edge's port that leads there.
    pub port: PortNo,
    /// When the following values were reported.
    pub read_at: Option<Time>,
    /// The packets that it holds; nothing while it resequences nothing.
    pub held: Option<HeldView>,
    /// How long the packets were held that it released between the last two readings.
    pub hold_time: Option<HoldTimeView>,
    /// Its counters since the group was made.
    pub counters: Option<ResequencerCounts>,
    /// How long all packets were held that it released since then.
    pub hold_histogram: HoldHistogram,
    /// The sum of that, in seconds.
    pub hold_time_s: f64,
}

/// The packets in a resequencer, and its limits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HeldView {
    /// Flows that are known.
    pub flows: u32,
    /// Packets that are held.
    pub packets: u32,
    /// Their bytes, with what each takes besides.
    pub bytes: u64,
    /// The limit of held packets.
    pub max_packets: u64,
    /// The limit of held bytes.
    pub max_bytes: u64,
    /// The limit of held bytes of one flow: T of Banfi et al.
    pub max_flow_bytes: u64,
    /// The longest time for which a packet is held, in microseconds.
    pub max_hold_us: f64,
}

/// How long packets were held, in microseconds, too high by an eighth at most; `None` if none was.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HoldTimeView {
    /// Packets that were released.
    pub packets: u64,
    /// Their median.
    pub p50_us: Option<f64>,
    /// Their 99th percentile.
    pub p99_us: Option<f64>,
    /// The longest.
    pub max_us: Option<f64>,
}

/// Counters of a resequencer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ResequencerCounts {
    /// Packets that passed at once.
    pub forwarded: u64,
    /// Packets that were held.
    pub held: u64,
    /// Of those that passed: of flows that there was no room to know.
    pub unknown: u64,
    /// Too far from what was expected to be believed.
    pub stray: u64,
    /// Retransmissions and duplicates.
    pub old: u64,
    /// Of these, late ones: the gap was given up too soon.
    pub spurious: u64,
    /// Gaps that closed because the packet came.
    pub gaps_filled: u64,
    /// Gaps given up because every path had delivered something sent later, a packet or a probe.
    pub gaps_passed: u64,
    /// Because a packet had waited long enough.
    pub gaps_timed_out: u64,
    /// Because the flow held more than its threshold.
    pub gaps_over_threshold: u64,
    /// Because the buffer was full.
    pub gaps_overflowed: u64,
    /// Because the connection ended or began anew.
    pub gaps_ended: u64,
}

/// A path that a stream is sprayed over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SprayPathView {
    /// The switches on the path.
    pub path: Vec<DatapathId>,
    /// The ports by which it leaves them.
    pub ports: Vec<SwitchPort>,
    /// What the path was found to have to spare, in bits a second: shares begin in proportion to it, and follow the edge's probes.
    pub rate_bps: u64,
    /// How long the path takes, in microseconds.
    pub delay_us: u64,
}

/// A list of edges that is made piece by piece.
#[derive(Debug, Default)]
pub struct EdgeList {
    edges: BTreeMap<DatapathId, EdgeView>,
    /// The last group that is in it.
    last: Option<BundleKey>,
}

impl EdgeList {
    /// The edges by datapath id.
    pub fn into_views(self) -> Vec<EdgeView> {
        self.edges.into_values().collect()
    }
}

impl StreamBundles<'_> {
    /// The paths of the stream from its opening host.
    pub(crate) fn view(self) -> Vec<SprayPathView> {
        let [(_, forward), _] = self.both;
        let view = |member: &Member| SprayPathView {
            path: member.path.switches().collect(),
            ports: ports(&member.path),
            rate_bps: member.rate.0,
            delay_us: u64::try_from(member.delay.as_micros()).unwrap_or(u64::MAX),
        };
        forward.members.iter().map(view).collect()
    }
}

impl Spray {
    /// Goes on with a list of edges by at most so many groups that spray; whether that was all.
    pub(crate) fn list_edges(&self, list: &mut EdgeList, count: usize) -> bool {
        if list.last.is_none() {
            list.edges = self.edges.iter().map(|dpid| (*dpid, self.edge(*dpid))).collect();
        }
        let mut bundles = self.bundles.range(following(list.last)).peekable();
        for (key, bundle) in bundles.by_ref().take(count) {
            if let Some(edge) = list.edges.get_mut(&key.ends.src) {
                edge.spray_groups.push(self.spray_group(key, bundle));
            }
            if let Some(edge) = list.edges.get_mut(&key.ends.dst) {
                let groups = bundle.resequencers.iter();
                edge.resequencers.extend(
                    groups.map(|((host, port), group)| self.resequencer_view(key, *host, *port, *group)),
                );
            }
            list.last = Some(*key);
        }
        bundles.peek().is_none()
    }

    fn edge(&self, dpid: DatapathId) -> EdgeView {
        let answered_at = self.telemetry.answered_at(dpid);
        EdgeView { dpid, answered_at, spray_groups: Vec::new(), resequencers: Vec::new() }
    }

    fn spray_group(&self, key: &BundleKey, bundle: &Bundle) -> SprayGroupView {
        let of = GroupKey { dpid: key.ends.src, group: bundle.group };
        let reading =
            |member: &Member| self.telemetry.paths.get(&MemberKey { of, label: member.label.mac() });
        let paths = bundle.members.iter().map(|member| path_view(&member.path, reading(member))).collect();
        SprayGroupView { group: bundle.group.id().0, to: key.ends.dst, paths }
    }

    fn resequencer_view(
        &self,
        key: &BundleKey,
        host: MacAddr,
        port: PortNo,
        group: EdgeGroup,
    ) -> ResequencerView {
        let reading = self.telemetry.resequencers.get(&GroupKey { dpid: key.ends.dst, group });
        ResequencerView {
            group: group.id().0,
            from: key.ends.src,
            host,
            port,
            read_at: reading.map(|it| it.at),
            held: reading.map(held),
            hold_time: reading.map(hold_time),
            counters: reading.map(counters),
            hold_histogram: reading.map(|it| it.report.waits.clone()).unwrap_or_default(),
            hold_time_s: reading.map_or(0.0, |it| it.report.counters.waited_nanos as f64 / 1e9),
        }
    }
}

/// The ports by which a path leaves its switches.
fn ports(path: &Path) -> Vec<SwitchPort> {
    path.links().iter().map(|link| link.src).collect()
}

fn path_view(path: &Path, reading: Option<&PathReading>) -> EdgePathView {
    let report = reading.map(|it| it.report);
    EdgePathView {
        path: path.switches().collect(),
        ports: ports(path),
        read_at: reading.map(|it| it.at),
        state: report.map(|it| it.state.into()),
        share: reading.map(|it| it.share),
        carried_bps: reading.and_then(|it| it.carried).map(|it| it.0),
        estimated_capacity_bps: reading.and_then(|it| it.estimated_capacity).map(|it| it.0),
        round_trip_us: report.and_then(|it| it.round_trip).map(micros),
        // Of a path that was never heard nothing is known.
        queue_us: report.filter(|it| it.round_trip.is_some()).map(|it| micros(it.queue)),
        loss: report.filter(|it| it.round_trip.is_some()).map(|it| it.loss),
        silences: report.map_or(0, |it| it.silences),
        packets: report.map_or(0, |it| it.packets),
        bytes: report.map_or(0, |it| it.bytes),
    }
}

fn held(reading: &ResequencerReading) -> HeldView {
    let (gauge, limits) = (reading.report.gauge, reading.report.limits);
    HeldView {
        flows: gauge.flows,
        packets: gauge.packets,
        bytes: gauge.bytes,
        max_packets: limits.packets,
        max_bytes: limits.bytes,
        max_flow_bytes: limits.flow_bytes,
        max_hold_us: micros(reading.report.hold_time),
    }
}

fn hold_time(reading: &ResequencerReading) -> HoldTimeView {
    let longest = Duration::from_nanos(reading.report.counters.longest_nanos);
    // Classes of times end beyond the longest.
    let quantile = |share| reading.recent.quantile(share).map(|it| micros(it.min(longest)));
    HoldTimeView {
        packets: reading.recent.total(),
        p50_us: quantile(0.5),
        p99_us: quantile(0.99),
        max_us: quantile(1.0),
    }
}

const fn counters(reading: &ResequencerReading) -> ResequencerCounts {
    let counters = &reading.report.counters;
    ResequencerCounts {
        forwarded: counters.forwarded,
        held: counters.held,
        unknown: counters.unknown,
        stray: counters.stray,
        old: counters.old,
        spurious: counters.spurious,
        gaps_filled: counters.gaps_filled,
        gaps_passed: counters.gaps_passed,
        gaps_timed_out: counters.gaps_timed_out,
        gaps_over_threshold: counters.gaps_over_threshold,
        gaps_overflowed: counters.gaps_overflowed,
        gaps_ended: counters.gaps_ended,
    }
}

fn micros(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e3
}

impl From<PathState> for EdgePathState {
    fn from(state: PathState) -> Self {
        match state {
            PathState::Active => Self::Active,
            PathState::Silent => Self::Silent,
            PathState::Down => Self::Down,
            PathState::Suspended => Self::Suspended,
        }
    }
}
