//! LLDP validation: the discovery frames that prove a link.
//!
//! A frame proves a link if this controller made it a moment ago, it arrives for the first time, and neither
//! port has shown a host. Two hosts that have never sent anything else can still relay frames and imitate a
//! link: see docs/security.md.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use braid_packet::lldp::{LldpError, LldpProbe};
use braid_topology::Link;
use braid_types::{PortNo, SwitchPort, Time};

use super::Discovery;
use crate::context::Context;
use crate::measurement::Measurement;
use crate::threat::Threat;

impl Discovery {
    /// Accepts a discovery frame, or returns the threat that it poses.
    pub(super) fn validate(
        &mut self,
        cx: &mut Context<'_>,
        measurement: &mut Measurement,
        at: SwitchPort,
        pdu: &[u8],
    ) -> Result<(), Threat> {
        match LldpProbe::decode(pdu, &cx.settings.lldp_key) {
            Ok(probe) => self.validate_probe(cx, measurement, &probe, at),
            Err(LldpError::NotOurs) => Ok(()),
            Err(error) => Err(Threat::ForgedProbe { why: error.to_string() }),
        }
    }

    fn validate_probe(
        &mut self,
        cx: &mut Context<'_>,
        measurement: &mut Measurement,
        probe: &LldpProbe,
        at: SwitchPort,
    ) -> Result<(), Threat> {
        let src = SwitchPort::new(probe.dpid, probe.port);
        if src == at {
            let returned = at.port == PortNo::CONTROLLER;
            measurement.handle_returned_probe(cx, at, probe.sent_at);
            return if returned { Ok(()) } else { Err(Threat::ReflectedProbe) };
        }
        if [src, at].into_iter().any(|port| self.ports.has_shown_host(port)) {
            return Err(Threat::RelayedProbe { of: src });
        }
        if !self.is_fresh(cx, src, at, probe.sent_at)? {
            return Ok(());
        }
        let link = Link { src, dst: at };
        if self.hear_link(cx, measurement, link) {
            measurement.handle_probe(cx, link, probe.sent_at);
        }
        Ok(())
    }

    /// Whether the frame is news: not if it is late, or if its port or switch was removed meanwhile.
    ///
    /// A late frame proves nothing and is no alarm, since switches and links can be slow. Time in which this
    /// controller did not listen makes no frame late.
    fn is_fresh(
        &mut self,
        cx: &mut Context<'_>,
        src: SwitchPort,
        at: SwitchPort,
        sent_at: Time,
    ) -> Result<bool, Threat> {
        if sent_at > cx.now {
            // A controller that takes over meets frames of the one before, which has another clock.
            if cx.out.installed.is_settling() {
                return Ok(false);
            }
            return Err(Threat::ForgedProbe { why: "it is dated in the future".to_owned() });
        }
        let is_late = cx.listened(sent_at) > self.intervals(cx, src.dpid).timeout;
        // A busy switch sends frames late.
        if is_late && cx.topology.link_at(src).is_some_and(|link| link.dst == at) {
            return Ok(false);
        }
        let Some(state) = self.ports.get_mut(src) else {
            // Frames that measure round trips name a reserved port, never a physical one.
            return if src.port.is_physical() { Ok(false) } else { Err(Threat::ReplayedProbe { of: src }) };
        };
        // Each frame exists once, and a link preserves their order.
        if state.sent_and_heard.is_some_and(|heard| sent_at <= heard) {
            return Err(Threat::ReplayedProbe { of: src });
        }
        if is_late {
            cx.counters.lldp_refused = cx.counters.lldp_refused.saturating_add(1);
            return Ok(false);
        }
        (state.sent_and_heard, state.unheard_probes) = (Some(sent_at), 0);
        Ok(true)
    }
}
