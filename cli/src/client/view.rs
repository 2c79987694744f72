//! What a controller tells of its network, as far as tables show it. Fields that are not known are passed over.

use std::net::{IpAddr, SocketAddr};

use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, SwitchPort, Time};
use serde::Deserialize;

/// A switch that is connected.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Switch {
    pub(crate) dpid: DatapathId,
    /// Where it connected from.
    pub(crate) address: Option<SocketAddr>,
    pub(crate) ports: Vec<Port>,
}

/// A port of a switch.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Port {
    pub(crate) up: bool,
    /// `link`, `host` or `pending`; none while it is down.
    pub(crate) role: Option<String>,
}

/// One direction of a link, and what is known of it by now.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Link {
    pub(crate) src: SwitchPort,
    pub(crate) dst: SwitchPort,
    capacity_bps: u64,
    measured_capacity_bps: Option<u64>,
    measured_capacity_at: Option<Time>,
    delay_us: Option<Delay>,
    delay_at: Option<Time>,
    load_bps: Option<u64>,
    available_bps: Option<u64>,
    load_at: Option<Time>,
    loss: Option<f64>,
    loss_at: Option<Time>,
}

/// The delay of a link, in microseconds.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Delay {
    base: f64,
    current: f64,
}

/// Something that was measured, and when, on the controller's clock.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Reading<T> {
    pub(crate) value: T,
    pub(crate) at: Option<Time>,
}

/// A host's interface.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Host {
    pub(crate) mac: MacAddr,
    pub(crate) at: SwitchPort,
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) last_seen: Time,
}

/// An edge, and what it told; `None` for what it has not.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Edge {
    pub(crate) dpid: DatapathId,
    pub(crate) sprays: Vec<EdgeSpray>,
    pub(crate) orders: Vec<EdgeOrder>,
}

/// What it sprays to another edge.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EdgeSpray {
    pub(crate) to: DatapathId,
    pub(crate) paths: Vec<EdgePath>,
}

/// A path that it sprays over.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EdgePath {
    pub(crate) path: Vec<DatapathId>,
    /// By which it leaves them.
    pub(crate) ports: Vec<SwitchPort>,
    pub(crate) read_at: Option<Time>,
    /// `carries`, `silent`, `down` or `left_out`.
    pub(crate) state: Option<String>,
    /// From 0 to 1.
    pub(crate) share: Option<f64>,
    pub(crate) carried_bps: Option<u64>,
    pub(crate) found_bps: Option<u64>,
    pub(crate) round_trip_us: Option<f64>,
    pub(crate) queue_us: Option<f64>,
    pub(crate) loss: Option<f64>,
}

/// What it puts in order for a host.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EdgeOrder {
    pub(crate) from: DatapathId,
    pub(crate) host: MacAddr,
    pub(crate) held: Option<EdgeHeld>,
    pub(crate) waited: Option<EdgeWaited>,
    pub(crate) counted: Option<EdgeCounts>,
}

/// What waits now.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EdgeHeld {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
    pub(crate) most_bytes: u64,
}

/// How long packets had waited, in microseconds.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EdgeWaited {
    pub(crate) p50_us: Option<f64>,
    pub(crate) p99_us: Option<f64>,
    pub(crate) max_us: Option<f64>,
}

/// What became of gaps.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EdgeCounts {
    pub(crate) spurious: u64,
    pub(crate) gaps_filled: u64,
    gaps_passed: u64,
    gaps_timed_out: u64,
    gaps_over_threshold: u64,
    gaps_overflowed: u64,
    gaps_ended: u64,
}

/// What something at a port did that it must not.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Alarm {
    pub(crate) at: SwitchPort,
    pub(crate) text: String,
    pub(crate) count: u64,
    pub(crate) last_at: Time,
}

/// Something that happened.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Event {
    /// On the controller's clock.
    pub(crate) time: Time,
    pub(crate) level: String,
    pub(crate) text: String,
}

/// A transfer in progress.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Transfer {
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) opened_at: Time,
    pub(crate) streams: Vec<Stream>,
}

/// A stream of a transfer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Stream {
    src: IpAddr,
    dst: IpAddr,
    src_port: u16,
    dst_port: u16,
    /// The switches on its way; empty while it follows the default route.
    pub(crate) path: Vec<DatapathId>,
    /// By which it leaves them.
    #[serde(default)]
    pub(crate) ports: Vec<SwitchPort>,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
}

impl Link {
    pub(crate) const fn capacity(&self) -> BitsPerSec {
        BitsPerSec(self.capacity_bps)
    }

    /// What was measured of the capacity on demand; the time is of the last try.
    pub(crate) fn measured_capacity(&self) -> Reading<Option<u64>> {
        Reading { value: self.measured_capacity_bps, at: self.measured_capacity_at }
    }

    pub(crate) fn load(&self) -> Option<Reading<u64>> {
        self.load_bps.map(|value| Reading { value, at: self.load_at })
    }

    pub(crate) fn available(&self) -> Option<Reading<u64>> {
        self.available_bps.map(|value| Reading { value, at: self.load_at })
    }

    /// Without queues, in microseconds.
    pub(crate) fn base_delay(&self) -> Option<Reading<f64>> {
        self.delay_us.map(|delay| Reading { value: delay.base, at: self.delay_at })
    }

    /// As it is now, in microseconds.
    pub(crate) fn current_delay(&self) -> Option<Reading<f64>> {
        self.delay_us.map(|delay| Reading { value: delay.current, at: self.delay_at })
    }

    /// From 0 to 1.
    pub(crate) fn loss(&self) -> Option<Reading<f64>> {
        self.loss.map(|value| Reading { value, at: self.loss_at })
    }
}

impl EdgeCounts {
    /// Gaps that did not close.
    pub(crate) const fn given_up(&self) -> u64 {
        self.gaps_passed
            + self.gaps_timed_out
            + self.gaps_over_threshold
            + self.gaps_overflowed
            + self.gaps_ended
    }
}

impl Stream {
    pub(crate) const fn from(&self) -> SocketAddr {
        SocketAddr::new(self.src, self.src_port)
    }

    pub(crate) const fn to(&self) -> SocketAddr {
        SocketAddr::new(self.dst, self.dst_port)
    }

    pub(crate) const fn tuple(&self) -> FiveTuple {
        FiveTuple { src: self.src, dst: self.dst, src_port: self.src_port, dst_port: self.dst_port }
    }
}
