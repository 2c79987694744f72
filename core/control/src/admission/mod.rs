//! What hosts may ask of the controller: punt rate limits, the meters that hold them in switches, and alarms.
//!
//! Every port has its own share of the controller, so that one that asks for everything leaves room for the others.

mod alarms;
mod limits;
mod meters;

use braid_packet::Frame;
use braid_types::{DatapathId, SwitchPort};

use crate::context::Context;
use crate::event::InstalledMeters;
use crate::role::Role;
use crate::threat::Threat;
use alarms::Alarms;
use limits::Limits;
use meters::Meters;

pub use alarms::Alarm;

/// Decides what ports may ask of the controller, and remembers what they did that they must not.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    limits: Limits,
    meters: Meters,
    alarms: Alarms,
}

impl Admission {
    /// A switch joins with meters, which may be an earlier controller's.
    pub(crate) fn handle_switch_up(&mut self, dpid: DatapathId, found: &InstalledMeters) {
        self.meters.add(dpid, found);
    }

    /// A switch left, and its ports with it.
    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.limits.forget_switch(dpid);
        self.meters.forget(dpid);
    }

    /// A port is up: it has its share from now on.
    pub(crate) fn handle_port_up(&mut self, at: SwitchPort) {
        self.limits.add(at);
    }

    /// A port is down or gone.
    pub(crate) fn handle_port_down(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        self.limits.forget(at);
        self.meters.remove(cx, at);
    }

    /// What a port leads to was found out: where hosts are, a meter holds the limit if the switch can.
    pub(crate) fn handle_role(&mut self, cx: &mut Context<'_>, at: SwitchPort, role: Role) {
        if role == Role::Host {
            self.meters.set(cx, at);
        } else {
            self.meters.remove(cx, at);
            self.meters.remove_found(cx, at);
        }
    }

    /// Whether a packet that a switch sent up is within the limit of its port. What switches send each other has none.
    pub(crate) fn admit_punt(
        &mut self,
        cx: &mut Context<'_>,
        at: SwitchPort,
        role: Option<Role>,
        frame: &Frame<'_>,
    ) -> bool {
        let may = role == Some(Role::Link) || self.limits.take_packet(cx, at, frame);
        if !may {
            cx.counters.packets_over_limit += 1;
            self.raise(cx, at, Threat::TooManyPackets);
        }
        may
    }

    /// Whether one more stream from a port may get a path of its own, which costs rules.
    pub(crate) fn admit_stream(&mut self, cx: &mut Context<'_>, at: SwitchPort) -> bool {
        let may = self.limits.take_stream(cx, at);
        cx.counters.streams_over_limit += u64::from(!may);
        may
    }

    /// Whether a port may show one more new address, address conflict or lookup now.
    pub(crate) fn admit_address(&mut self, cx: &mut Context<'_>, at: SwitchPort) -> bool {
        let Some(may) = self.limits.take_address(cx, at) else { return false };
        if !may {
            self.raise(cx, at, Threat::TooManyAddresses);
        }
        may
    }

    /// Something at a port did what it must not.
    pub(crate) fn raise(&mut self, cx: &mut Context<'_>, at: SwitchPort, threat: Threat) {
        cx.counters.alarms += 1;
        self.alarms.raise(cx, at, threat);
    }

    /// Tells of alarms that were held back; called once a tick.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.alarms.tick(cx);
    }

    /// What was done at ports that must not be, by port and kind, that follows something of this kind at this port.
    pub(crate) fn alarms_after(
        &self,
        alarm: Option<(SwitchPort, &'static str)>,
    ) -> impl Iterator<Item = Alarm> {
        self.alarms.after(alarm)
    }
}
