//! Discovery of switches, ports, and the links that LLDP finds between them.

mod damping;
mod lldp;
mod pace;
mod ports;
mod probes;

use std::collections::{BTreeSet, VecDeque};

use braid_topology::{Change, Link, LinkState, Port};
use braid_types::{DatapathId, SwitchPort, Time};

use crate::context::Context;
use crate::event::PortStatus;
use crate::measurement::Measurement;
use crate::notice::LinkLoss;
use crate::pipeline::{NeighborTraffic, Rule};
use crate::role::Role;
use crate::threat::Threat;
use damping::Damping;
use pace::Pace;
use ports::Ports;

/// How many times [`Settings::start_hold`](crate::Settings::start_hold) the start may take while switches join.
const START_HOLD_FACTOR: u32 = 10;

/// The ports of all switches, and what each leads to.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    ports: Ports,
    damping: Damping,
    pace: Pace,
    /// The ports that count for the intervals of discovery, as of the last tick.
    counted_ports: usize,
    first_switch_at: Option<Time>,
    last_switch_at: Option<Time>,
    events: VecDeque<DiscoveryEvent>,
}

/// A report to the machines above.
#[derive(Debug)]
pub(crate) enum DiscoveryEvent {
    /// Switches, ports or links were added or removed.
    Changed {
        /// The changes, in order.
        changes: Vec<Change>,
        /// Why the links among them were lost.
        why: LinkLoss,
    },
    /// A port has a new role; `None` if it is down.
    RoleChanged {
        /// The port.
        at: SwitchPort,
        /// Its new role.
        role: Option<Role>,
    },
    /// A threat at a port.
    Threat {
        /// The port.
        at: SwitchPort,
        /// The threat.
        threat: Threat,
    },
}

/// Why a switch has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SwitchLoss {
    /// Its connection is closed.
    Down,
    /// It gets another connection, or another controller.
    Moved,
}

impl Discovery {
    /// A switch joins. A blank switch has restarted.
    pub(crate) fn handle_switch_up(&mut self, cx: &mut Context<'_>, dpid: DatapathId, is_blank: bool) {
        self.first_switch_at.get_or_insert(cx.now);
        self.last_switch_at = Some(cx.now);
        cx.topology.add_switch(dpid, []);
        if is_blank {
            self.ports.forget_switch(dpid);
        }
    }

    /// A switch has left. Links are not unstable because its connection moves.
    pub(crate) fn handle_switch_down(&mut self, cx: &mut Context<'_>, dpid: DatapathId, loss: SwitchLoss) {
        self.ports.remove_switch(dpid);
        let changes = cx.topology.remove_switch(dpid);
        match loss {
            SwitchLoss::Down => self.change(cx, changes, LinkLoss::Switch),
            SwitchLoss::Moved => self.report(changes, LinkLoss::Switch),
        }
    }

    /// A port was added or changed.
    pub(crate) fn handle_port(&mut self, cx: &mut Context<'_>, dpid: DatapathId, status: &PortStatus) {
        if !status.port.is_physical() || cx.topology.switch(dpid).is_none() {
            return;
        }
        let PortStatus { port, mac, up, speed, .. } = *status;
        let at = SwitchPort::new(dpid, port);
        let described = Port { number: port, name: status.name.clone(), mac, up, speed };
        if let Ok(changes) = cx.topology.set_port(dpid, described) {
            self.change(cx, changes, LinkLoss::Port);
        }
        match (up, self.ports.role(at)) {
            (true, None) => {
                self.ports.insert(at, cx.now, cx.settings.role_hold);
                self.events.push_back(DiscoveryEvent::RoleChanged { at, role: Some(Role::Pending) });
                self.probe_new_port(cx, at);
            }
            (false, Some(_)) => self.close_port(cx, at),
            _ => {}
        }
    }

    /// A port was removed.
    pub(crate) fn handle_port_gone(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        self.close_port(cx, at);
        let changes = cx.topology.remove_port(at);
        self.change(cx, changes, LinkLoss::Port);
    }

    /// Handles a frame that claims to be a discovery frame. Its delay goes to `measurement`.
    pub(crate) fn handle_lldp(
        &mut self,
        cx: &mut Context<'_>,
        measurement: &mut Measurement,
        at: SwitchPort,
        pdu: &[u8],
    ) {
        if let Err(threat) = self.validate(cx, measurement, at, pdu) {
            cx.counters.lldp_refused += 1;
            self.events.push_back(DiscoveryEvent::Threat { at, threat });
        }
    }

    /// Sends due discovery frames, settles ports and removes silent links. Called once a tick. Returns the switches
    /// that got frames of several ports at once: one more to them costs no write.
    ///
    /// During reconciliation, a link port without a link waits for the switch at its other end.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>) -> BTreeSet<DatapathId> {
        self.ports.tick(cx.now, cx.settings.role_hold);
        self.probe_due_ports(cx)
    }

    /// A host was seen at a port.
    pub(crate) fn handle_host_seen(&mut self, at: SwitchPort) {
        self.ports.mark_host_seen(at);
    }

    /// Gives a new port the role that it had with an earlier controller.
    pub(crate) fn restore_role(&mut self, cx: &mut Context<'_>, at: SwitchPort, role: Role) {
        if self.ports.role(at) == Some(Role::Pending) {
            self.set_role(cx, at, role);
        }
    }

    /// The role of a port; `None` while it is down.
    pub(crate) fn role(&self, at: SwitchPort) -> Option<Role> {
        self.ports.role(at)
    }

    /// The ports of a switch that are up, with their roles.
    pub(crate) fn roles_of(&self, dpid: DatapathId) -> impl Iterator<Item = (SwitchPort, Role)> {
        self.ports.of(dpid).map(|(at, state)| (at, state.role))
    }

    /// The ports with this role.
    pub(crate) fn ports_with(&self, role: Role) -> impl Iterator<Item = SwitchPort> {
        self.ports.iter().filter(move |(_, state)| state.role == role).map(|(at, _)| at)
    }

    /// The next report, in order.
    pub(crate) fn poll_event(&mut self) -> Option<DiscoveryEvent> {
        self.events.pop_front()
    }

    fn close_port(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        if let Some(state) = self.ports.remove(at, cx.now) {
            leave_role(cx, at, state.role);
            self.events.push_back(DiscoveryEvent::RoleChanged { at, role: None });
        }
    }

    /// Handles a proof of a link. Returns whether the link is known, then or now.
    fn hear_link(&mut self, cx: &mut Context<'_>, measurement: &Measurement, link: Link) -> bool {
        let Link { src, dst } = link;
        let Some(state) = self.ports.get_mut(dst) else { return false };
        state.last_heard = cx.now;
        if cx.topology.link_at(src) == Some(link) {
            return true;
        }
        if cx.topology.link_at(dst).is_some_and(|link| link.dst != src) {
            self.unlink(cx, dst, LinkLoss::Rewired);
        }
        self.set_role(cx, src, Role::Link);
        self.set_role(cx, dst, Role::Link);
        if self.damping.suppresses(cx, &link) {
            return false;
        }
        let state = LinkState::of_capacity(measurement.link_capacity(cx.settings, cx.topology, &link));
        if let Ok(changes) = cx.topology.add_link(link, state) {
            self.change(cx, changes, LinkLoss::Rewired);
        }
        self.ask_for_reverse(cx, link);
        cx.topology.link_at(src) == Some(link)
    }

    /// Has a new link heard in the other direction, too, with the next tick: the switch that has heard this one may have been here
    /// all the time, and its own frame may not be due for long.
    fn ask_for_reverse(&mut self, cx: &Context<'_>, Link { dst, .. }: Link) {
        let waits = self.ports.get(dst).is_some_and(|state| !state.is_urgent);
        if waits && cx.topology.link_at(dst).is_none() {
            self.ports.schedule(dst, cx.now);
        }
    }

    /// Removes the link at `at` in both directions.
    fn unlink(&mut self, cx: &mut Context<'_>, at: SwitchPort, why: LinkLoss) {
        let changes = cx.topology.remove_links_at(at);
        self.change(cx, changes, why);
    }

    fn change(&mut self, cx: &mut Context<'_>, changes: Vec<Change>, why: LinkLoss) {
        if why != LinkLoss::Rewired {
            for change in &changes {
                if let Change::LinkRemoved { link } = change {
                    self.damping.note_loss(cx, link);
                }
            }
        }
        self.report(changes, why);
    }

    fn report(&mut self, changes: Vec<Change>, why: LinkLoss) {
        if !changes.is_empty() {
            self.events.push_back(DiscoveryEvent::Changed { changes, why });
        }
    }

    fn set_role(&mut self, cx: &mut Context<'_>, at: SwitchPort, role: Role) {
        let Some(state) = self.ports.get_mut(at) else { return };
        let old = std::mem::replace(&mut state.role, role);
        if old == role {
            return;
        }
        (state.since, state.last_heard) = (cx.now, cx.now);
        state.shown.link |= role == Role::Link;
        leave_role(cx, at, old);
        match role {
            Role::Host => from_hosts(at).for_each(|rule| cx.out.add(at.dpid, rule)),
            Role::Link => from_link(at).into_iter().for_each(|rule| cx.out.add(at.dpid, rule)),
            Role::Pending | Role::Silent => {}
        }
        self.events.push_back(DiscoveryEvent::RoleChanged { at, role: Some(role) });
    }
}

fn leave_role(cx: &mut Context<'_>, at: SwitchPort, role: Role) {
    match role {
        Role::Host => from_hosts(at).for_each(|rule| cx.delete(at.dpid, rule)),
        Role::Link => from_link(at).into_iter().for_each(|rule| cx.delete(at.dpid, rule)),
        Role::Pending | Role::Silent => {}
    }
}

/// The rules that admit packets from another switch.
fn from_link(at: SwitchPort) -> [Rule; 2] {
    let port = at.port;
    [Rule::FromBypass { port }, Rule::FromLink { port }]
}

/// The rules that admit packets from hosts at a port.
fn from_hosts(at: SwitchPort) -> impl Iterator<Item = Rule> {
    let port = at.port;
    let copies = NeighborTraffic::ALL.map(|traffic| Rule::NeighborCopy { port, traffic });
    let answers = [false, true].map(|ipv6| [Rule::SynAck { ipv6, port }, Rule::Reset { ipv6, port }]);
    answers.into_iter().flatten().chain(copies).chain([Rule::FromHost { port }])
}
