//! Which discovery frames prove that there is a link.
//!
//! One that was made by this controller a moment ago, comes in for the first time, and joins two ports of which
//! neither has shown a host. Two hosts that have never sent anything else can still carry frames from one to the
//! other and pass for a link: see docs/security.md.

use braid_packet::lldp::{LldpError, LldpProbe};
use braid_topology::Link;
use braid_types::{PortNo, SwitchPort, Time};

use super::{Brain, context};
use crate::command::Commands;
use crate::threat::Threat;

impl Brain {
    pub(super) fn on_lldp(&mut self, now: Time, at: SwitchPort, pdu: &[u8], out: &mut Commands) {
        let believed = match LldpProbe::decode(pdu, &self.settings.lldp_key) {
            Ok(probe) => self.on_probe(now, &probe, at, out),
            Err(LldpError::NotOurs) => Ok(()),
            Err(error) => Err(Threat::ForgedProbe { why: error.to_string() }),
        };
        if let Err(threat) = believed {
            self.counters.lldp_refused += 1;
            self.admission.raise(&mut context!(self, now, out), at, threat);
        }
    }

    fn on_probe(
        &mut self,
        now: Time,
        probe: &LldpProbe,
        at: SwitchPort,
        out: &mut Commands,
    ) -> Result<(), Threat> {
        let src = SwitchPort::new(probe.dpid, probe.port);
        if src == at {
            let returned = at.port == PortNo::CONTROLLER;
            self.measurement.handle_returned_probe(&context!(self, now, out), at, probe.sent_at);
            return if returned { Ok(()) } else { Err(Threat::ReflectedProbe) };
        }
        if !self.is_fresh(now, src, at, probe.sent_at)? {
            return Ok(());
        }
        if [src, at].into_iter().any(|port| self.ports.has_shown_host(port)) {
            return Err(Threat::RelayedProbe { of: src });
        }
        self.link_heard(now, src, at, out);
        let link = Link { src, dst: at };
        if self.topology.link_at(src) == Some(link) {
            self.measurement.handle_probe(&context!(self, now, out), link, probe.sent_at);
        }
        Ok(())
    }

    /// Whether the frame tells something: not if it was overtaken by the news that its port or switch is gone.
    fn is_fresh(
        &mut self,
        now: Time,
        src: SwitchPort,
        at: SwitchPort,
        sent_at: Time,
    ) -> Result<bool, Threat> {
        let is_old = now.since(sent_at) > self.settings.link_timeout;
        // A switch that is busy sends frames late.
        if is_old && self.topology.link_at(src).is_some_and(|link| link.dst == at) {
            return Ok(false);
        }
        let Some(state) = self.ports.get_mut(src) else {
            // Frames that switches send straight back are made for no port that there is.
            let is_gone = !is_old && src.port.is_physical();
            return if is_gone { Ok(false) } else { Err(Threat::ReplayedProbe { of: src }) };
        };
        // Of each frame there is one, and a link keeps their order.
        if is_old || state.sent_and_heard.is_some_and(|heard| sent_at <= heard) {
            return Err(Threat::ReplayedProbe { of: src });
        }
        state.sent_and_heard = Some(sent_at);
        Ok(true)
    }
}
