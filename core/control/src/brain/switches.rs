//! Switches and their ports come and go.

use braid_types::{DatapathId, SwitchPort, Time};

use super::{Brain, context};
use crate::command::{Command, Commands};
use crate::discovery::DiscoveryEvent;
use crate::event::{PortStatus, SwitchPorts};
use crate::notice::Notice;
use crate::pipeline::BASE;
use crate::role::Role;

impl Brain {
    pub(super) fn on_switch_up(&mut self, now: Time, switch: &SwitchPorts, out: &mut Commands) {
        let dpid = switch.dpid;
        let is_blank = switch.found.as_ref().is_none_or(|found| found.rules.is_empty());
        self.discovery.handle_switch_up(&mut context!(self, now, out), dpid, is_blank);
        match &switch.found {
            Some(found) => {
                self.admission.handle_switch_up(dpid, &found.meters);
                self.take_up(now, dpid, found, out);
            }
            None => out.push(Command::Reset { dpid }),
        }
        self.fabric.handle_switch_up(&mut context!(self, now, out), switch);
        let patience = self.settings.adopt_timeout + self.settings.install_timeout * 2;
        self.spray.handle_switch_up(switch, now + patience);
        for rule in BASE {
            out.add(dpid, rule);
        }
        out.notice(Notice::SwitchJoined { dpid, ports: switch.ports.len() });
        for port in &switch.ports {
            self.on_port(now, dpid, port, out);
        }
        if let Some(found) = &switch.found {
            self.adopt_switch(now, dpid, found, out);
        }
    }

    pub(super) fn on_switch_down(&mut self, now: Time, dpid: DatapathId, out: &mut Commands) {
        self.broadcast.handle_switch_down(dpid);
        self.installed.forget(dpid);
        self.admission.handle_switch_down(dpid);
        self.hosts.handle_switch_down(dpid);
        self.fabric.handle_switch_down(&context!(self, now, out), dpid);
        self.routing.handle_switch_down(dpid);
        self.spray.handle_switch_down(dpid);
        self.discovery.handle_switch_down(&mut context!(self, now, out), dpid);
        self.drain_discovery(now, out);
        out.notice(Notice::SwitchLeft { dpid });
    }

    pub(super) fn on_port(&mut self, now: Time, dpid: DatapathId, status: &PortStatus, out: &mut Commands) {
        self.discovery.handle_port(&mut context!(self, now, out), dpid, status);
        self.drain_discovery(now, out);
    }

    pub(super) fn on_port_gone(&mut self, now: Time, at: SwitchPort, out: &mut Commands) {
        self.discovery.handle_port_gone(&mut context!(self, now, out), at);
        self.drain_discovery(now, out);
    }

    pub(super) fn on_lldp(&mut self, now: Time, at: SwitchPort, pdu: &[u8], out: &mut Commands) {
        let cx = &mut context!(self, now, out);
        self.discovery.handle_lldp(cx, &mut self.measurement, at, pdu);
        self.drain_discovery(now, out);
    }

    pub(super) fn tick_discovery(&mut self, now: Time, out: &mut Commands) {
        self.discovery.handle_timeout(&mut context!(self, now, out));
        self.drain_discovery(now, out);
    }

    /// Does what follows from what was discovered.
    pub(super) fn drain_discovery(&mut self, now: Time, out: &mut Commands) {
        while let Some(event) = self.discovery.poll_event() {
            match event {
                DiscoveryEvent::Changed { changes, why } => self.follow(now, &changes, why, out),
                DiscoveryEvent::RoleChanged { at, role } => self.on_role(now, at, role, out),
                DiscoveryEvent::Threat { at, threat } => {
                    self.admission.raise(&mut context!(self, now, out), at, threat);
                }
            }
        }
    }

    fn on_role(&mut self, now: Time, at: SwitchPort, role: Option<Role>, out: &mut Commands) {
        let cx = &mut context!(self, now, out);
        match role {
            // Nothing passes it yet.
            Some(Role::Pending) => return self.admission.handle_port_up(at),
            Some(role) => self.admission.handle_role(cx, at, role),
            None => self.admission.handle_port_down(cx, at),
        }
        self.broadcast.handle_change();
    }
}
