//! What a controller tells of its network, as far as tables show it. Fields that are not known are passed over.

use std::net::{IpAddr, SocketAddr};

use braid_types::{BitsPerSec, DatapathId, MacAddr, SwitchPort, Time};
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

impl Stream {
    pub(crate) const fn from(&self) -> SocketAddr {
        SocketAddr::new(self.src, self.src_port)
    }

    pub(crate) const fn to(&self) -> SocketAddr {
        SocketAddr::new(self.dst, self.dst_port)
    }
}
