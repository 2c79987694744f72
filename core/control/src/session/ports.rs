//! The ports that a session knows, bounded in number, and their conversion from OpenFlow's description.

use std::collections::BTreeMap;

use braid_openflow::{Port, PortConfig, PortReason, PortState, PortStatus as PortStatusMsg};
use braid_types::{BitsPerSec, PortNo};

use super::SessionError;
use crate::event::PortStatus;

/// What is known of each port of a switch: all of it during the handshake, afterwards only that it is there.
#[derive(Debug)]
pub(super) struct Ports<T> {
    limit: usize,
    ports: BTreeMap<PortNo, T>,
}

impl Ports<()> {
    /// These ports are there.
    pub(super) fn of(limit: usize, ports: impl IntoIterator<Item = PortNo>) -> Self {
        Self { limit, ports: ports.into_iter().map(|port| (port, ())).collect() }
    }
}

impl<T> Ports<T> {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, ports: BTreeMap::new() }
    }

    /// The port is there, and as `known`.
    ///
    /// Errors: the switch has more ports than it may.
    pub(super) fn set(&mut self, port: PortNo, known: T) -> Result<(), SessionError> {
        self.ports.insert(port, known);
        let (ports, limit) = (self.ports.len(), self.limit);
        if ports > limit { Err(SessionError::TooManyPorts { ports, limit }) } else { Ok(()) }
    }

    /// The port was added, changed or removed.
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

    /// Takes out what is known, by the numbers of the ports.
    pub(super) fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.ports).into_values().collect()
    }
}

/// A port as a switch describes it.
pub(super) fn port_status(port: &Port<'_>) -> PortStatus {
    PortStatus {
        port: port.port_no,
        mac: port.hw_addr,
        name: port.name.to_string(),
        up: !port.config.contains(PortConfig::PORT_DOWN) && !port.state.contains(PortState::LINK_DOWN),
        speed: BitsPerSec(u64::from(port.curr_speed.0).saturating_mul(1_000)),
    }
}
