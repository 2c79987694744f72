//! Views of the core's state, as API clients and people see it.

mod records;
mod rules;

use std::net::IpAddr;
use std::time::Duration;

use braid_steering::{StreamId, TransferId, TransferKind};
use braid_topology::{Link, LinkState};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};

use crate::health::{Degraded, LossEvidence};
use crate::measurement::LinkReading;
use crate::role::Role;

pub use crate::spray::{
    EdgeList, EdgePathState, EdgePathView, EdgeView, HeldView, HoldTimeView, ResequencerCounts,
    ResequencerView, SprayGroupView, SprayPathView,
};
pub use records::TransferRecord;
pub use rules::{RuleMeanings, RuleNumbers};

/// A switch that is connected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchView {
    /// Its identity.
    pub dpid: DatapathId,
    /// Its ports, by number.
    pub ports: Vec<PortView>,
}

/// A port of a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortView {
    /// Its number.
    pub port: PortNo,
    /// Its name in the switch.
    pub name: String,
    /// Whether packets can pass.
    pub up: bool,
    /// What it leads to; none while it is down.
    pub role: Option<Role>,
}

/// One direction of a link between two switches, and what was measured of it; `None` for what was not, yet.
///
/// Times are on the controller's clock, so that each reading has an age.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkView {
    /// The sending end.
    pub src: SwitchPort,
    /// The receiving end.
    pub dst: SwitchPort,
    /// What it can carry, in bits a second: as it was configured, or else measured, or else the speed of its ports.
    pub capacity_bps: u64,
    /// What was measured of that on demand.
    pub measured_capacity_bps: Option<u64>,
    /// When it was last tried to measure it, with whatever success.
    pub measured_capacity_at: Option<Time>,
    /// How long a frame takes, in microseconds.
    pub delay_us: Option<DelayView>,
    /// When that was measured last.
    pub delay_at: Option<Time>,
    /// What it carries, in bits a second, smoothed.
    pub load_bps: Option<u64>,
    /// The capacity that is not in use, in bits a second.
    pub available_bps: Option<u64>,
    /// When the counters were read that these two are of.
    pub load_at: Option<Time>,
    /// The share of packets that do not arrive, from 0 to 1.
    pub loss: Option<f64>,
    /// The end of the time over which that was counted.
    pub loss_at: Option<Time>,
    /// What is known of it while it is degraded and avoided, as it loses frames.
    pub degraded: Option<DegradedView>,
    /// What was counted since the controller has known its ports.
    pub counters: LinkCounts,
}

/// A link that is up but loses or corrupts frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DegradedView {
    /// Since when that is known.
    pub since: Time,
    /// What shows it.
    pub evidence: LossEvidence,
    /// Since when it has lost nothing.
    pub clean_since: Time,
    /// How long it must lose nothing to be used again.
    pub hold: Duration,
}

/// The delay of a link, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayView {
    /// Without queues: the least that was measured lately.
    pub base: f64,
    /// As it is now, with the queues on the way.
    pub current: f64,
    /// Half of the frames of the last minute took no longer.
    pub p50: f64,
    /// And 99 of 100 no longer.
    pub p99: f64,
}

/// Counts of a link, of the switches' counters, that never go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounts {
    /// Bytes of frames that the sending port has sent.
    pub bytes: u64,
    /// Packets that it has sent.
    pub packets: u64,
    /// Packets that a port has dropped on the way into the link or out of it.
    pub dropped: u64,
    /// Packets with errors at either port, whatever their direction.
    pub errors: u64,
}

/// A host's interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostView {
    /// Its Ethernet address.
    pub mac: MacAddr,
    /// Where it is attached.
    pub at: SwitchPort,
    /// Its IP addresses.
    pub addresses: Vec<IpAddr>,
    /// When it was last heard, on the controller's clock.
    pub last_seen: Time,
}

/// A transfer in progress.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransferView {
    /// Its number.
    pub id: TransferId,
    /// How it is carried.
    pub kind: TransferKind,
    /// When its first stream opened, on the controller's clock.
    pub opened_at: Time,
    /// Its streams that are established, in the order in which they opened.
    pub streams: Vec<StreamView>,
}

/// A stream of a transfer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamView {
    /// Its number.
    pub id: StreamId,
    /// The opening host's address.
    pub src: IpAddr,
    /// The answering host's address.
    pub dst: IpAddr,
    /// The opening host's port.
    pub src_port: u16,
    /// The answering host's port.
    pub dst_port: u16,
    /// The switches on its way, the first one if it is sprayed; empty while it follows the default path.
    pub path: Vec<DatapathId>,
    /// The ports by which it leaves them: which it takes of several links between two switches.
    pub ports: Vec<SwitchPort>,
    /// The paths that its packets are spread over from the opening host, if they are; those of the lowest delay first.
    pub spray_paths: Vec<SprayPathView>,
    /// Bytes of frames counted from the opening host.
    pub bytes_sent: u64,
    /// Bytes of frames counted towards the opening host.
    pub bytes_received: u64,
    /// What leaves the opening host, in bits a second, between the last two counts.
    pub sent_bps: u64,
    /// What goes to the opening host, likewise.
    pub received_bps: u64,
}

/// What is known of a link.
pub(crate) fn link_view(link: &Link, state: LinkState, reading: &LinkReading) -> LinkView {
    let LinkReading { delay, load, loss, capacity, capacity_asked_at, sent, dropped, errors } = *reading;
    let micros = |delay: Duration| delay.as_nanos() as f64 / 1e3;
    LinkView {
        src: link.src,
        dst: link.dst,
        capacity_bps: state.capacity.0,
        measured_capacity_bps: capacity.map(|it| it.capacity.0),
        measured_capacity_at: capacity_asked_at,
        delay_us: delay.map(|it| DelayView {
            base: micros(it.base),
            current: micros(it.current),
            p50: micros(it.p50),
            p99: micros(it.p99),
        }),
        delay_at: delay.map(|it| it.at),
        load_bps: load.map(|it| it.load.0),
        available_bps: load.map(|it| LinkState { load: it.load, ..state }.available().0),
        load_at: load.map(|it| it.at),
        loss: loss.map(|it| it.ratio),
        loss_at: loss.map(|it| it.at),
        degraded: None,
        counters: LinkCounts { bytes: sent.bytes_out, packets: sent.packets_out, dropped, errors },
    }
}

impl From<&Degraded> for DegradedView {
    fn from(degraded: &Degraded) -> Self {
        let Degraded { since, evidence, hold, clean_since, .. } = *degraded;
        Self { since, evidence, clean_since, hold }
    }
}
