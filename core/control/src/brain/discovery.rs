//! Switches and their ports come and go; LLDP tells which ports are joined by links.

use std::time::Duration;

use braid_packet::lldp::LldpProbe;
use braid_topology::{Link, LinkState, Port};
use braid_types::{DatapathId, SwitchPort, Time};

use super::{Brain, context};
use crate::command::{Command, Commands, Target};
use crate::event::{PortStatus, SwitchPorts};
use crate::notice::{LinkLoss, Notice};
use crate::pipeline::{BASE, Rule, Talk};
use crate::ports::PortState;
use crate::role::Role;

impl Brain {
    pub(super) fn on_switch_up(&mut self, now: Time, switch: &SwitchPorts, out: &mut Commands) {
        let dpid = switch.dpid;
        self.first_switch_at.get_or_insert(now);
        self.topology.add_switch(dpid, []);
        match &switch.found {
            Some(found) => {
                self.admission.handle_switch_up(dpid, &found.meters);
                self.take_up(now, dpid, found, out);
            }
            None => out.push(Command::Reset { dpid }),
        }
        if switch.found.as_ref().is_none_or(|found| found.rules.is_empty()) {
            self.ports.forget_switch(dpid);
        }
        self.take_up_guards(switch, out);
        let patience = self.settings.adopt_timeout + self.settings.install_timeout * 2;
        self.sprays.join_switch(switch, now + patience);
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
        self.ports.remove_switch(dpid);
        self.flood.forget(dpid);
        self.found.forget(dpid);
        self.admission.handle_switch_down(dpid);
        self.hosts.handle_switch_down(dpid);
        self.forget_ingress(now, dpid);
        self.labels.trunks.close_at(dpid);
        self.forget_guards(now, dpid);
        self.routes.forget(dpid);
        self.sprays.leave_switch(dpid);
        let changes = self.topology.remove_switch(dpid);
        self.follow(now, &changes, LinkLoss::Switch, out);
        out.notice(Notice::SwitchLeft { dpid });
    }

    pub(super) fn on_port(&mut self, now: Time, dpid: DatapathId, status: &PortStatus, out: &mut Commands) {
        if !status.port.is_physical() || self.topology.switch(dpid).is_none() {
            return;
        }
        let PortStatus { port, mac, up, speed, .. } = *status;
        let at = SwitchPort::new(dpid, port);
        let described = Port { number: port, name: status.name.clone(), mac, up, speed };
        if let Ok(changes) = self.topology.set_port(dpid, described) {
            self.follow(now, &changes, LinkLoss::Port, out);
        }
        match (up, self.ports.role(at)) {
            (true, None) => {
                self.ports.insert(at, now, self.settings.role_hold);
                self.admission.handle_port_up(at);
                self.probe_port(now, at, out);
            }
            (false, Some(_)) => self.close_port(now, at, out),
            _ => {}
        }
    }

    pub(super) fn on_port_gone(&mut self, now: Time, at: SwitchPort, out: &mut Commands) {
        self.close_port(now, at, out);
        let changes = self.topology.remove_port(at);
        self.follow(now, &changes, LinkLoss::Port, out);
    }

    fn close_port(&mut self, now: Time, at: SwitchPort, out: &mut Commands) {
        self.flood.touch();
        if let Some(state) = self.ports.remove(at, now) {
            self.leave_role(at, state.role, out);
            self.admission.handle_port_down(&mut context!(self, now, out), at);
        }
    }

    /// Sends the discovery frames that are due, and draws conclusions from those that did not come.
    pub(super) fn tick_ports(&mut self, now: Time, out: &mut Commands) {
        self.ports.tick(now, self.settings.role_hold);
        let due: Vec<_> =
            self.ports.iter().filter(|(_, state)| state.next_probe <= now).map(|(at, _)| at).collect();
        for at in due {
            self.probe_port(now, at, out);
        }
        let (settle, timeout) = (self.settings.settle, self.settings.link_timeout);
        // Switches that rules of an earlier controller keep busy need their time to find this one.
        let starting = self.first_switch_at.is_none_or(|at| now.since(at) < self.settings.start_hold);
        let is_settled = |role, since| role == Role::Pending && now.since(since) >= settle && !starting;
        let settled = self.ports.iter().filter(|(_, s)| is_settled(s.role, s.since));
        for (at, shown) in settled.map(|(at, state)| (at, state.shown)).collect::<Vec<_>>() {
            if shown.link {
                out.notice(Notice::PortHeld { at, hold: self.settings.role_hold });
            }
            self.set_role(now, at, if shown.link { Role::Silent } else { Role::Host }, out);
        }
        let is_silent = |at, state: &PortState| {
            state.role == Role::Link && now.since(state.last_heard) > timeout && !self.is_awaited(at)
        };
        let silent = self.ports.iter().filter(|(at, state)| is_silent(*at, state));
        for at in silent.map(|(at, _)| at).collect::<Vec<_>>() {
            self.unlink(now, at, LinkLoss::Silent, out);
            self.set_role(now, at, Role::Silent, out);
        }
    }

    /// Whether the switch at the other end may be on its way still.
    fn is_awaited(&self, at: SwitchPort) -> bool {
        self.found.is_settling() && self.topology.is_edge(at)
    }

    fn probe_port(&mut self, now: Time, at: SwitchPort, out: &mut Commands) {
        let interval = self.settings.probe_interval;
        let is_unheard = self.is_unheard(now, at);
        let Some(state) = self.ports.get_mut(at) else { return };
        let is_new = state.role == Role::Pending || (state.role == Role::Link && self.topology.is_edge(at));
        let wait = if is_new || is_unheard { self.settings.settle / 4 } else { jittered(interval, at, now) };
        state.next_probe = now + wait;
        let Some(port) = self.topology.port(at) else { return };
        let probe = LldpProbe { dpid: at.dpid, port: at.port, sent_at: now };
        let frame = probe.encode(&self.settings.lldp_key, port.mac);
        out.send(at.dpid, Target::Port(at.port), &frame);
    }

    /// Whether the other end of a link has missed a discovery frame: more of them soon tell a loss from many.
    fn is_unheard(&self, now: Time, at: SwitchPort) -> bool {
        let peer = self.topology.link_at(at).and_then(|link| self.ports.get(link.dst));
        peer.is_some_and(|peer| now.since(peer.last_heard) > self.settings.probe_interval * 5 / 4)
    }

    pub(super) fn link_heard(&mut self, now: Time, src: SwitchPort, dst: SwitchPort, out: &mut Commands) {
        let Some(state) = self.ports.get_mut(dst) else { return };
        state.last_heard = now;
        if self.topology.link_at(src).is_some_and(|link| link.dst == dst) {
            return;
        }
        if self.topology.link_at(dst).is_some_and(|link| link.dst != src) {
            self.unlink(now, dst, LinkLoss::Recabled, out);
        }
        self.set_role(now, src, Role::Link, out);
        self.set_role(now, dst, Role::Link, out);
        let link = Link { src, dst };
        if self.is_left_alone(now, &link) {
            return;
        }
        let capacity = self.measurement.link_capacity(&self.settings, &self.topology, &link);
        let state = LinkState::of_capacity(capacity);
        if let Ok(changes) = self.topology.add_link(link, state) {
            self.follow(now, &changes, LinkLoss::Recabled, out);
        }
    }

    /// Removes the link at `at` in both directions.
    fn unlink(&mut self, now: Time, at: SwitchPort, why: LinkLoss, out: &mut Commands) {
        let changes = self.topology.remove_links_at(at);
        self.follow(now, &changes, why, out);
    }

    pub(super) fn set_role(&mut self, now: Time, at: SwitchPort, role: Role, out: &mut Commands) {
        let Some(state) = self.ports.get_mut(at) else { return };
        let old = std::mem::replace(&mut state.role, role);
        if old == role {
            return;
        }
        (state.since, state.last_heard) = (now, now);
        state.shown.link |= role == Role::Link;
        self.flood.touch();
        self.leave_role(at, old, out);
        match role {
            Role::Host => admission(at).for_each(|rule| out.add(at.dpid, rule)),
            Role::Link => from_link(at).into_iter().for_each(|rule| out.add(at.dpid, rule)),
            Role::Pending | Role::Silent => {}
        }
        self.admission.handle_role(&mut context!(self, now, out), at, role);
    }

    fn leave_role(&mut self, at: SwitchPort, role: Role, out: &mut Commands) {
        match role {
            Role::Host => admission(at).for_each(|rule| self.delete(at.dpid, rule, out)),
            Role::Link => from_link(at).into_iter().for_each(|rule| self.delete(at.dpid, rule, out)),
            Role::Pending | Role::Silent => {}
        }
    }
}

/// The interval less up to a fifth, so that frames of many ports do not leave together and wait for each other.
pub(crate) fn jittered(interval: Duration, at: SwitchPort, now: Time) -> Duration {
    let seed = at.dpid.0.rotate_left(32) ^ u64::from(at.port.0) ^ now.as_nanos();
    // Fibonacci hashing: the upper bits depend on all of the seed.
    let parts = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    interval - interval * parts as u32 / (5 * 256)
}

/// What lets the packets of another switch in.
fn from_link(at: SwitchPort) -> [Rule; 2] {
    let port = at.port;
    [Rule::FromDetour { port }, Rule::FromLink { port }]
}

/// What lets the packets of hosts at a port in.
fn admission(at: SwitchPort) -> impl Iterator<Item = Rule> {
    let port = at.port;
    let talk = Talk::ALL.map(|talk| Rule::Neighbour { port, talk });
    let answers = [false, true].map(|ipv6| [Rule::SynAck { ipv6, port }, Rule::Reset { ipv6, port }]);
    answers.into_iter().flatten().chain(talk).chain([Rule::FromHost { port }])
}
