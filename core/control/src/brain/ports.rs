//! What is at each port: another switch, hosts, or nothing known yet.

use std::collections::BTreeMap;

use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use serde::Serialize;

/// What a port leads to.
///
/// ```text
///            settled                     LLDP heard
///  Pending ───────────▶ Host      Pending, Host, Silent ───────▶ Link
///     ▲                   │                                       │ LLDP missing
///     └─ port down and up ┴──────────── Silent ◀──────────────────┘
/// ```
///
/// A silent port stays one until the port has been down: behind it may be a switch that forwards and is not
/// connected, and to flood there could close a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Too new to tell; nothing but discovery passes.
    Pending,
    /// Hosts may be there.
    Host,
    /// Another switch is there.
    Link,
    /// Another switch was there and is not heard any more.
    Silent,
}

/// One port that is up.
#[derive(Debug)]
pub(super) struct PortState {
    pub(super) role: Role,
    pub(super) since: Time,
    /// When the next discovery frame leaves.
    pub(super) next_probe: Time,
    /// When the last discovery frame of the other end came in.
    pub(super) last_heard: Time,
}

/// The ports that are up.
#[derive(Debug, Default)]
pub(super) struct Ports(BTreeMap<SwitchPort, PortState>);

impl Ports {
    pub(super) fn insert(&mut self, at: SwitchPort, now: Time) {
        self.0.insert(at, PortState { role: Role::Pending, since: now, next_probe: now, last_heard: now });
    }

    pub(super) fn remove(&mut self, at: SwitchPort) -> Option<PortState> {
        self.0.remove(&at)
    }

    pub(super) fn remove_switch(&mut self, dpid: DatapathId) {
        self.0.retain(|at, _| at.dpid != dpid);
    }

    pub(super) fn role(&self, at: SwitchPort) -> Option<Role> {
        self.0.get(&at).map(|state| state.role)
    }

    pub(super) fn get_mut(&mut self, at: SwitchPort) -> Option<&mut PortState> {
        self.0.get_mut(&at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SwitchPort, &PortState)> {
        self.0.iter().map(|(at, state)| (*at, state))
    }

    /// The ports of one switch.
    pub(super) fn of(&self, dpid: DatapathId) -> impl Iterator<Item = (SwitchPort, &PortState)> {
        let (first, last) = (PortNo(0), PortNo::ANY);
        self.0
            .range(SwitchPort { dpid, port: first }..=SwitchPort { dpid, port: last })
            .map(|(at, state)| (*at, state))
    }

    /// The ports where hosts may be.
    pub(super) fn hosts(&self) -> impl Iterator<Item = SwitchPort> {
        self.iter().filter(|(_, state)| state.role == Role::Host).map(|(at, _)| at)
    }
}
