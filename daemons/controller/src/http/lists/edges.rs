//! `GET /api/v1/edges`.

use braid_api::{
    Edge, EdgePath, EdgePathState, Edges, HeldPackets, HoldTime, Resequencer, ResequencerCounters, SprayGroup,
};
use braid_control::view::{
    self, EdgePathView, EdgeView, HeldView, HoldTimeView, ResequencerCounts, ResequencerView,
};
use braid_types::DatapathId;

use crate::http::replica::{Listed, Naming};
use crate::state_copy::Keyed;

list_route!(/// Edges: what they spray over which paths, and resequence for which hosts.
    edges, "/api/v1/edges", EdgeView, Edges);

impl Keyed for EdgeView {
    type Key = DatapathId;

    fn key(&self) -> DatapathId {
        self.dpid
    }
}

impl Listed for EdgeView {
    type Wire = Edge;

    fn wire(&self, naming: &Naming) -> Edge {
        let groups = self.spray_groups.iter();
        let groups = groups.map(|it| SprayGroup {
            group: it.group,
            to: it.to,
            to_name: naming.names.label(it.to),
            paths: it.paths.iter().map(|it| path(it, naming)).collect(),
        });
        Edge {
            dpid: self.dpid,
            name: naming.names.metadata(self.dpid).name,
            answered_at: self.answered_at,
            spray_groups: groups.collect(),
            resequencers: self.resequencers.iter().map(|it| resequencer(it, naming)).collect(),
        }
    }
}

fn path(path: &EdgePathView, naming: &Naming) -> EdgePath {
    EdgePath {
        path: path.path.clone(),
        path_names: naming.names.path_labels(&path.path),
        ports: path.ports.clone(),
        port_names: naming.ports(&path.ports),
        read_at: path.read_at,
        state: path.state.map(state),
        share: path.share,
        carried_bps: path.carried_bps,
        estimated_capacity_bps: path.estimated_capacity_bps,
        round_trip_us: path.round_trip_us,
        queue_us: path.queue_us,
        loss: path.loss,
        silences: path.silences,
        packets: path.packets,
        bytes: path.bytes,
    }
}

const fn state(state: view::EdgePathState) -> EdgePathState {
    match state {
        view::EdgePathState::Active => EdgePathState::Active,
        view::EdgePathState::Silent => EdgePathState::Silent,
        view::EdgePathState::Down => EdgePathState::Down,
        view::EdgePathState::Suspended => EdgePathState::Suspended,
    }
}

fn resequencer(resequencer: &ResequencerView, naming: &Naming) -> Resequencer {
    Resequencer {
        group: resequencer.group,
        from: resequencer.from,
        from_name: naming.names.label(resequencer.from),
        host: resequencer.host,
        port: resequencer.port,
        read_at: resequencer.read_at,
        held: resequencer.held.map(held),
        hold_time: resequencer.hold_time.map(hold_time),
        counters: resequencer.counters.map(counters),
    }
}

const fn held(held: HeldView) -> HeldPackets {
    let HeldView { flows, packets, bytes, max_packets, max_bytes, max_flow_bytes, max_hold_us } = held;
    HeldPackets { flows, packets, bytes, max_packets, max_bytes, max_flow_bytes, max_hold_us }
}

const fn hold_time(hold_time: HoldTimeView) -> HoldTime {
    let HoldTimeView { packets, p50_us, p99_us, max_us } = hold_time;
    HoldTime { packets, p50_us, p99_us, max_us }
}

const fn counters(counts: ResequencerCounts) -> ResequencerCounters {
    ResequencerCounters {
        forwarded: counts.forwarded,
        held: counts.held,
        unknown: counts.unknown,
        stray: counts.stray,
        old: counts.old,
        spurious: counts.spurious,
        gaps_filled: counts.gaps_filled,
        gaps_passed: counts.gaps_passed,
        gaps_timed_out: counts.gaps_timed_out,
        gaps_over_threshold: counts.gaps_over_threshold,
        gaps_overflowed: counts.gaps_overflowed,
        gaps_ended: counts.gaps_ended,
    }
}
