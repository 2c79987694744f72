//! The ports of a session: a bounded set, and their conversion from OpenFlow's descriptions.

use std::collections::BTreeMap;

use braid_openflow::{Port, PortConfig, PortReason, PortState, PortStatus as PortStatusMsg};
use braid_types::{BitsPerSec, PortNo};

use super::SessionError;
use crate::event::PortStatus;

/// The ports of a switch: with all details during the handshake, later only their existence.
#[derive(Debug)]
pub(super) struct Ports<T> {
    limit: usize,
    ports: BTreeMap<PortNo, T>,
}

impl Ports<()> {
    /// A set of these ports.
    pub(super) fn of(limit: usize, ports: impl IntoIterator<Item = PortNo>) -> Self {
        Self { limit, ports: ports.into_iter().map(|port| (port, ())).collect() }
    }
}

impl<T> Ports<T> {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, ports: BTreeMap::new() }
    }

    /// Adds or replaces a port.
    ///
    /// Errors: the switch has more ports than allowed.
    pub(super) fn set(&mut self, port: PortNo, known: T) -> Result<(), SessionError> {
        self.ports.insert(port, known);
        let (ports, limit) = (self.ports.len(), self.limit);
        if ports > limit { Err(SessionError::TooManyPorts { ports, limit }) } else { Ok(()) }
    }

    /// Handles a port that was added, changed or removed.
    pub(super) fn update(
        &mut self,
        status: &PortStatusMsg<'_>,
        known: impl FnOnce(&Port<'_>) -> T,
    ) -> Result<(), SessionError> {
        if status.reason == PortReason::Delete {
            self.ports.remove(&status.desc.port_no);
            return Ok(());
        }
        self.set(status.desc.port_no, known(&status.desc))
    }

    /// Takes the values, in the order of port numbers.
    pub(super) fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.ports).into_values().collect()
    }
}

/// Whether a switch says which of its ports are live: it has said so of one.
///
/// A port with a carrier that such a switch does not call live is one whose other end is not heard, as BFD finds out
/// (RFC 5880): fast-failover groups avoid it. Other switches never set the bit. OpenFlow 1.3.5 §7.2.1.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortLiveness {
    is_reported: bool,
}

impl PortLiveness {
    pub(super) const UNKNOWN: Self = Self { is_reported: false };

    pub(super) fn note(&mut self, port: &Port<'_>) {
        self.is_reported |= port.port_no.is_physical() && is_live(port);
    }

    /// A port as the switch describes it, up if it can be used.
    pub(super) fn status(self, port: &Port<'_>) -> PortStatus {
        self.judge(port_status(port), is_live(port))
    }

    /// A described port, up if it can be used.
    pub(super) const fn judge(self, mut port: PortStatus, is_live: bool) -> PortStatus {
        port.up &= is_live || !self.is_reported;
        port
    }
}

pub(super) fn is_live(port: &Port<'_>) -> bool {
    port.state.contains(PortState::LIVE)
}

/// A port, up if it has a carrier.
pub(super) fn port_status(port: &Port<'_>) -> PortStatus {
    PortStatus {
        port: port.port_no,
        mac: port.hw_addr,
        name: port.name.to_string(),
        up: !port.config.contains(PortConfig::PORT_DOWN) && !port.state.contains(PortState::LINK_DOWN),
        speed: BitsPerSec(u64::from(port.curr_speed.0).saturating_mul(1_000)),
    }
}
