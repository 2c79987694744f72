//! Edges and what they do, as programs and people see it.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_edge_protocol::telemetry::PathState;
use braid_paths::Path;
use braid_spray::Waits;
use braid_steering::StreamId;
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time, following};
use serde::Serialize;

use super::telemetry::{OrderReading, PathReading};
use super::{Bundle, BundleKey, Member, Spray};
use crate::pipeline::EdgeGroup;

/// An edge, and what it has told; `None` for what it has not, yet. Times are on the controller's clock.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EdgeView {
    /// Its identity.
    pub dpid: DatapathId,
    /// When it answered last what its groups have done.
    pub answered_at: Option<Time>,
    /// To which edges it sprays.
    pub sprays: Vec<EdgeSprayView>,
    /// For which hosts it puts in order what comes.
    pub orders: Vec<EdgeOrderView>,
}

/// A group that sprays over paths to another edge.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EdgeSprayView {
    /// Its number.
    pub group: u32,
    /// The edge at the end of its paths.
    pub to: DatapathId,
    /// Its paths, those of the lowest delay first.
    pub paths: Vec<EdgePathView>,
}

/// A path that an edge sprays over, as the edge sees it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EdgePathView {
    /// The switches on it.
    pub path: Vec<DatapathId>,
    /// The ports by which it leaves them.
    pub ports: Vec<SwitchPort>,
    /// When what follows was told.
    pub read_at: Option<Time>,
    /// Whether it carries anything.
    pub state: Option<EdgePathState>,
    /// The share of all packets that it is given, from 0 to 1.
    pub share: Option<f64>,
    /// What was sent by it between the last two readings, in bits a second.
    pub carried_bps: Option<u64>,
    /// What it was found to carry when it last queued, in bits a second.
    pub found_bps: Option<u64>,
    /// How long answers to probes take, smoothed, in microseconds.
    pub round_trip_us: Option<f64>,
    /// How long packets wait in its queues, in microseconds.
    pub queue_us: Option<f64>,
    /// The part that is lost lately of what is sent by it, or of its probes while that is little, from 0 to 1.
    pub loss: Option<f64>,
    /// Packets that were sent by it, since its group changed last.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Whether a path of an edge carries anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EdgePathState {
    /// It carries its share.
    Carries,
    /// It does not answer probes, and carries nothing.
    Silent,
    /// The port where it begins is down.
    Down,
    /// It answers, and is given nothing: it loses what others do not, or more comes without it.
    LeftOut,
}

/// A group that puts in order what comes from another edge for one host.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EdgeOrderView {
    /// Its number.
    pub group: u32,
    /// The edge that sprays.
    pub from: DatapathId,
    /// The host.
    pub host: MacAddr,
    /// The edge's port that leads there.
    pub port: PortNo,
    /// When what follows was told.
    pub read_at: Option<Time>,
    /// What waits; nothing while nothing is put in order.
    pub held: Option<EdgeHeldView>,
    /// How long those packets had waited that went on between the last two readings.
    pub waited: Option<EdgeWaitedView>,
    /// What was counted since the group was made.
    pub counted: Option<EdgeOrderCounts>,
    /// How long all had waited that went on since then.
    #[serde(skip)]
    pub waits: Waits,
    /// The sum of that, in seconds.
    #[serde(skip)]
    pub waited_s: f64,
}

/// What waits in the buffer of a group.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EdgeHeldView {
    /// Flows that are known.
    pub flows: u32,
    /// Packets that wait.
    pub packets: u32,
    /// Their bytes, with what each takes besides.
    pub bytes: u64,
    /// As many packets may wait.
    pub most_packets: u64,
    /// And as many bytes.
    pub most_bytes: u64,
    /// And as many bytes of one flow: T of Banfi et al.
    pub most_bytes_of_flow: u64,
    /// A packet waits no longer, in microseconds.
    pub longest_us: f64,
}

/// How long packets had waited, in microseconds, too high by an eighth at most; null if none had.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EdgeWaitedView {
    /// How many went on that had waited.
    pub packets: u64,
    /// Half of them no longer.
    pub p50_us: Option<f64>,
    /// 99 of 100 no longer.
    pub p99_us: Option<f64>,
    /// None longer.
    pub max_us: Option<f64>,
}

/// What became of packets and gaps, counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EdgeOrderCounts {
    /// Packets that passed at once.
    pub forwarded: u64,
    /// Packets that had to wait.
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
    /// Gaps given up because every path had delivered something later.
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

impl Spray {
    /// The paths of a stream from its opening host, if it is sprayed.
    pub(crate) fn view(&self, id: StreamId) -> Vec<SprayView> {
        let key = self.streams.get(&id).map(|stream| &stream.keys[0]);
        let members = key.and_then(|key| self.bundles.get(key)).map(|bundle| bundle.members.as_slice());
        let view = |member: &Member| SprayView {
            path: member.path.switches().collect(),
            ports: ports(&member.path),
            rate_bps: member.rate.0,
            delay_us: u64::try_from(member.delay.as_micros()).unwrap_or(u64::MAX),
        };
        members.unwrap_or_default().iter().map(view).collect()
    }

    /// Goes on with a list of edges by at most so many groups that spray; whether that was all.
    pub(crate) fn list_edges(&self, list: &mut EdgeList, count: usize) -> bool {
        if list.last.is_none() {
            list.edges = self.edges.iter().map(|dpid| (*dpid, self.edge(*dpid))).collect();
        }
        let mut bundles = self.bundles.range(following(list.last)).peekable();
        for (key, bundle) in bundles.by_ref().take(count) {
            if let Some(edge) = list.edges.get_mut(&key.ends.src) {
                edge.sprays.push(self.spray_group(key, bundle));
            }
            if let Some(edge) = list.edges.get_mut(&key.ends.dst) {
                let orders = bundle.orders.iter();
                edge.orders
                    .extend(orders.map(|((host, port), group)| self.order_group(key, *host, *port, *group)));
            }
            list.last = Some(*key);
        }
        bundles.peek().is_none()
    }

    fn edge(&self, dpid: DatapathId) -> EdgeView {
        let answered_at = self.telemetry.answered_at(dpid);
        EdgeView { dpid, answered_at, sprays: Vec::new(), orders: Vec::new() }
    }

    fn spray_group(&self, key: &BundleKey, bundle: &Bundle) -> EdgeSprayView {
        let reading =
            |member: &Member| self.telemetry.paths.get(&(key.ends.src, bundle.group, member.label.mac()));
        let paths = bundle.members.iter().map(|member| path_view(&member.path, reading(member))).collect();
        EdgeSprayView { group: bundle.group.id().0, to: key.ends.dst, paths }
    }

    fn order_group(&self, key: &BundleKey, host: MacAddr, port: PortNo, group: EdgeGroup) -> EdgeOrderView {
        let reading = self.telemetry.orders.get(&(key.ends.dst, group));
        EdgeOrderView {
            group: group.id().0,
            from: key.ends.src,
            host,
            port,
            read_at: reading.map(|it| it.at),
            held: reading.map(held),
            waited: reading.map(waited),
            counted: reading.map(counted),
            waits: reading.map(|it| it.report.waits.clone()).unwrap_or_default(),
            waited_s: reading.map_or(0.0, |it| it.report.counters.waited_nanos as f64 / 1e9),
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
        found_bps: reading.and_then(|it| it.found).map(|it| it.0),
        round_trip_us: report.and_then(|it| it.round_trip).map(micros),
        // Of a path that was never heard nothing is known.
        queue_us: report.filter(|it| it.round_trip.is_some()).map(|it| micros(it.queue)),
        loss: report.filter(|it| it.round_trip.is_some()).map(|it| it.loss),
        packets: report.map_or(0, |it| it.packets),
        bytes: report.map_or(0, |it| it.bytes),
    }
}

fn held(reading: &OrderReading) -> EdgeHeldView {
    let (gauge, limits) = (reading.report.gauge, reading.report.limits);
    EdgeHeldView {
        flows: gauge.flows,
        packets: gauge.packets,
        bytes: gauge.bytes,
        most_packets: limits.packets,
        most_bytes: limits.bytes,
        most_bytes_of_flow: limits.flow_bytes,
        longest_us: micros(reading.report.hold_time),
    }
}

fn waited(reading: &OrderReading) -> EdgeWaitedView {
    let longest = Duration::from_nanos(reading.report.counters.longest_nanos);
    // Classes of times end beyond the longest.
    let quantile = |share| reading.lately.quantile(share).map(|it| micros(it.min(longest)));
    EdgeWaitedView {
        packets: reading.lately.total(),
        p50_us: quantile(0.5),
        p99_us: quantile(0.99),
        max_us: quantile(1.0),
    }
}

const fn counted(reading: &OrderReading) -> EdgeOrderCounts {
    let counters = &reading.report.counters;
    EdgeOrderCounts {
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
            PathState::Active => Self::Carries,
            PathState::Silent => Self::Silent,
            PathState::Down => Self::Down,
            PathState::Suspended => Self::LeftOut,
        }
    }
}
