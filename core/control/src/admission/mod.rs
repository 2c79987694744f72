//! Admission: punt rate limits, the meters that enforce them in switches, and alarms.
//!
//! Each port has its own limits, so a port that exceeds them leaves capacity for the others.

mod alarms;
mod limits;
mod meters;

use std::net::IpAddr;

use braid_packet::Frame;
use braid_types::{DatapathId, SwitchPort};

use crate::context::Context;
use crate::event::InstalledMeters;
use crate::role::Role;
use crate::threat::{AlarmSource, Threat};
use alarms::Alarms;
use limits::Limits;
use meters::Meters;

pub use alarms::{Alarm, AlarmKey};

/// The limits and meters of ports, and the alarms that ports have caused.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    limits: Limits,
    meters: Meters,
    alarms: Alarms,
}

impl Admission {
    /// A switch joins. Its meters may be an earlier controller's.
    pub(crate) fn handle_switch_up(&mut self, dpid: DatapathId, found: &InstalledMeters) {
        self.meters.add(dpid, found);
    }

    /// A switch and its ports have left.
    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.limits.forget_switch(dpid);
        self.meters.forget(dpid);
    }

    /// A port is up: its limits apply from now on.
    pub(crate) fn handle_port_up(&mut self, at: SwitchPort) {
        self.limits.add(at);
    }

    /// A port is down or removed.
    pub(crate) fn handle_port_down(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        self.limits.forget(at);
        self.meters.remove(cx, at);
    }

    /// A port has a new role. A host port gets a meter if the switch supports it; others lose theirs.
    pub(crate) fn handle_role(&mut self, cx: &mut Context<'_>, at: SwitchPort, role: Role) {
        if role == Role::Host {
            self.meters.set(cx, at);
        } else {
            self.meters.remove(cx, at);
            self.meters.remove_found(cx, at);
        }
    }

    /// Whether a packet from a switch is within the limit of its port. Ports that lead to switches have no
    /// limit; packets from unknown ports are dropped.
    pub(crate) fn admit_punt(
        &mut self,
        cx: &mut Context<'_>,
        at: SwitchPort,
        role: Option<Role>,
        frame: &Frame<'_>,
    ) -> bool {
        if role == Some(Role::Link) {
            return true;
        }
        let Some(may) = self.limits.take_packet(cx, at, frame) else { return false };
        if !may {
            cx.counters.packets_over_limit += 1;
            self.raise(cx, at, Threat::TooManyPackets);
        }
        may
    }

    /// Whether one more stream from a port may get its own path, which costs rules. None may while the controller
    /// is overloaded: they take the default path.
    pub(crate) fn admit_stream(&mut self, cx: &mut Context<'_>, at: SwitchPort) -> bool {
        let may = !cx.is_overloaded() && self.limits.take_stream(cx, at);
        cx.counters.streams_over_limit += u64::from(!may);
        may
    }

    /// Whether a port may add a new address, address conflict or lookup now.
    pub(crate) fn admit_address(&mut self, cx: &mut Context<'_>, at: SwitchPort) -> bool {
        let Some(may) = self.limits.take_address(cx, at) else { return false };
        if !may {
            self.raise(cx, at, Threat::TooManyAddresses);
        }
        may
    }

    /// Raises an alarm about a port.
    pub(crate) fn raise(&mut self, cx: &mut Context<'_>, at: SwitchPort, threat: Threat) {
        cx.counters.alarms += 1;
        self.alarms.raise(cx, AlarmSource::Port(at), threat, 1);
    }

    /// Raises an alarm about a peer of the controller that did something so many times.
    pub(crate) fn raise_about_peer(
        &mut self,
        cx: &mut Context<'_>,
        peer: IpAddr,
        threat: &Threat,
        count: u64,
    ) {
        cx.counters.alarms = cx.counters.alarms.saturating_add(count);
        self.alarms.raise(cx, AlarmSource::Peer(peer), threat.clone(), count);
    }

    /// Reports alarms that were held back. Called once a tick.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.alarms.tick(cx);
    }

    /// The alarms after this source and kind, by source and kind.
    pub(crate) fn alarms_after(&self, alarm: Option<AlarmKey>) -> impl Iterator<Item = Alarm> {
        self.alarms.after(alarm)
    }
}
