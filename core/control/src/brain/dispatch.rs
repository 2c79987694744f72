//! Dispatch of events from switches and of requests to the machines.

use std::sync::Arc;
use std::time::Duration;

use braid_packet::lldp::ProbeKey;
use braid_steering::{KnownTransfer, Policies};
use braid_types::{DatapathId, SwitchPort, Time};

use super::Brain;
use crate::barrier::Barrier;
use crate::command::{Command, Commands};
use crate::discovery::SwitchLoss;
use crate::event::{Event, PortStatus, SwitchPorts};
use crate::fabric::FabricChange;
use crate::facts::{Fact, HostFact};
use crate::health::CountersRead;
use crate::hosts::Binding;
use crate::notice::Notice;
use crate::pipeline::BASE;
use crate::port_counters::PortCounters;
use crate::reservations::ReservationDeps;
use crate::role::Role;
use crate::routing::RoutingChange;
use crate::spray::SprayChange;
use crate::streams::{Counted, NetworkChange};

/// The machines while one event is handled, the time, and the resulting commands.
pub(crate) struct Dispatch<'a> {
    pub(crate) brain: &'a mut Brain,
    pub(crate) now: Time,
    pub(crate) out: &'a mut Commands,
}

/// The context of machines while `$dispatch` handles an event. A macro, as it borrows only some fields.
macro_rules! context {
    ($dispatch:expr) => {
        crate::context::Context {
            now: $dispatch.now,
            settings: &$dispatch.brain.settings,
            topology: &mut $dispatch.brain.topology,
            paths: &mut $dispatch.brain.paths,
            policies: &$dispatch.brain.policies,
            tokens: &mut $dispatch.brain.tokens,
            counters: &mut $dispatch.brain.counters,
            stalls: &$dispatch.brain.stalls,
            out: crate::writer::RuleWriter {
                commands: $dispatch.out,
                installed: &mut $dispatch.brain.installed,
                protections: &mut $dispatch.brain.protections,
                spare: &mut $dispatch.brain.spare,
            },
        }
    };
}
pub(crate) use context;

/// The machines that `hosts` uses.
macro_rules! host_deps {
    ($dispatch:expr) => {
        crate::hosts::HostDeps {
            cx: crate::brain::dispatch::context!($dispatch),
            discovery: &$dispatch.brain.discovery,
            admission: &mut $dispatch.brain.admission,
        }
    };
}
pub(crate) use host_deps;
/// The machines that `streams` uses.
macro_rules! stream_deps {
    ($dispatch:expr) => {
        crate::streams::StreamDeps {
            cx: crate::brain::dispatch::context!($dispatch),
            transfers: &mut $dispatch.brain.transfers,
            placer: &mut $dispatch.brain.placer,
            admission: &mut $dispatch.brain.admission,
            fabric: &mut $dispatch.brain.fabric,
            routing: &mut $dispatch.brain.routing,
            spray: &mut $dispatch.brain.spray,
            reservations: &mut $dispatch.brain.reservations,
            measurement: &$dispatch.brain.measurement,
        }
    };
}
pub(crate) use stream_deps;

/// The machines that `requests` uses.
macro_rules! request_deps {
    ($dispatch:expr) => {
        crate::requests::RequestDeps {
            deps: crate::brain::dispatch::stream_deps!($dispatch),
            streams: &mut $dispatch.brain.streams,
            memory: &$dispatch.brain.memory,
        }
    };
}
pub(crate) use request_deps;

/// The machines that reconciliation uses.
macro_rules! reconciliation {
    ($dispatch:expr) => {
        crate::reconcile::Reconciliation {
            on: crate::brain::dispatch::request_deps!($dispatch),
            discovery: &mut $dispatch.brain.discovery,
            hosts: &mut $dispatch.brain.hosts,
            broadcast: &mut $dispatch.brain.broadcast,
        }
    };
}
pub(crate) use reconciliation;

impl Dispatch<'_> {
    /// Hands an event to its machines, then drains what they report.
    pub(super) fn handle(&mut self, event: &Event<'_>) {
        match event {
            Event::SwitchUp(switch) => self.on_switch_up(switch),
            Event::SwitchDown { dpid } => self.on_switch_down(*dpid, SwitchLoss::Down),
            Event::SwitchMoved { dpid } => self.on_switch_down(*dpid, SwitchLoss::Moved),
            Event::PortUp { dpid, port } => self.on_port(*dpid, port),
            Event::PortGone { dpid, port } => self.on_port_gone(SwitchPort::new(*dpid, *port)),
            Event::PacketIn { dpid, in_port, table, data } => {
                self.on_packet(SwitchPort::new(*dpid, *in_port), *table, data);
            }
            Event::Barrier { dpid, token } => self.on_barrier(Barrier { dpid: *dpid, token: *token }),
            Event::FlowRemoved { dpid, cookie, bytes } => {
                self.brain.installed.end(*dpid, *cookie);
                let deps = &mut stream_deps!(self);
                self.brain.streams.handle_counters(deps, Counted::Removed(&(*cookie, *bytes)));
            }
            Event::StreamCounters { rules, .. } => {
                self.brain.streams.handle_counters(&mut stream_deps!(self), Counted::Running(rules));
            }
            Event::PortCounters { dpid, ports } => {
                self.on_port_counters(*dpid, ports);
            }
            Event::EdgeReports { dpid, reports } => {
                let (cx, admission) = (&mut context!(self), &mut self.brain.admission);
                self.brain.spray.handle_reports(cx, admission, *dpid, reports);
            }
            Event::Echo { dpid, sent_at } => {
                self.brain.measurement.handle_echo(&context!(self), *dpid, *sent_at);
            }
            Event::Refused { dpid, rule, reason } => self.on_refused(*dpid, *rule, reason),
            Event::PeerAlarm { peer, threat, count } => {
                self.brain.admission.raise_about_peer(&mut context!(self), *peer, threat, *count);
            }
            Event::MeasureCapacity { src } => {
                self.brain.measurement.measure_capacity(&mut context!(self), *src);
            }
            Event::ShapedPorts { ports } => self.brain.measurement.handle_shaped_ports(ports),
            Event::Request { ticket, request } => {
                let on = &mut request_deps!(self);
                self.brain.requests.handle_request(on, *ticket, request);
            }
            Event::Policy { text } => self.on_policy(text),
            Event::DiscoveryKey { secret } => self.brain.settings.lldp_key = ProbeKey::new(*secret),
            Event::Replaced => self.on_replaced(),
            Event::Facts { facts } => self.on_facts(facts),
            Event::Assignments { promised } => {
                let below =
                    ReservationDeps { fabric: &mut self.brain.fabric, streams: &self.brain.transfers };
                self.brain.reservations.restore(&context!(self), below, promised);
            }
            Event::Stalled { time, idle } => self.on_stall(*time, *idle),
            Event::Tick => self.tick(),
        }
        self.follow_graph();
        self.brain.routing.restore(&mut context!(self), &mut self.brain.fabric);
        self.drain_fabric();
        self.drain_streams();
    }

    fn on_port_counters(&mut self, dpid: DatapathId, ports: &[PortCounters]) {
        let period = self.brain.measurement.handle_port_counters(&context!(self), dpid, ports);
        let Some(period) = period else { return };
        let read = CountersRead { dpid, period, ports };
        let cx = &mut context!(self);
        self.brain.health.handle_port_counters(cx, &self.brain.measurement, &read);
        self.drain_health();
    }

    fn on_switch_up(&mut self, switch: &SwitchPorts) {
        let dpid = switch.dpid;
        let is_blank = switch.installed.as_ref().is_none_or(|found| found.rules.is_empty());
        self.brain.discovery.handle_switch_up(&mut context!(self), dpid, is_blank);
        match &switch.installed {
            Some(found) => {
                self.brain.admission.handle_switch_up(dpid, &found.meters);
                reconciliation!(self).load(dpid, found);
            }
            None => context!(self).out.push(Command::Reset { dpid }),
        }
        self.brain.bfd.handle_switch_up(switch);
        self.brain.fabric.handle_change(&mut context!(self), FabricChange::SwitchUp(switch));
        self.follow_routes(RoutingChange::SwitchUp(switch));
        self.brain.spray.handle_change(&mut context!(self), SprayChange::SwitchUp(switch));
        for rule in BASE {
            context!(self).out.add(dpid, rule);
        }
        self.out.notice(Notice::SwitchJoined { dpid, ports: switch.ports.len() });
        for port in &switch.ports {
            self.on_port(dpid, port);
        }
        if let Some(found) = &switch.installed {
            reconciliation!(self).handle_switch(dpid, found);
            self.drain_discovery();
            self.drain_hosts();
        }
    }

    fn on_switch_down(&mut self, dpid: DatapathId, why: SwitchLoss) {
        self.brain.bfd.handle_switch_down(dpid);
        self.brain.broadcast.handle_switch_down(dpid);
        self.brain.installed.forget(dpid);
        self.brain.admission.handle_switch_down(dpid);
        self.brain.hosts.handle_switch_down(dpid);
        self.brain.fabric.handle_change(&mut context!(self), FabricChange::SwitchDown(dpid));
        self.follow_routes(RoutingChange::SwitchDown(dpid));
        self.brain.spray.handle_change(&mut context!(self), SprayChange::SwitchDown(dpid));
        self.brain.discovery.handle_switch_down(&mut context!(self), dpid, why);
        self.drain_discovery();
        self.out.notice(Notice::SwitchLeft { dpid });
    }

    /// The text of a policy file replaces the policy; open streams keep their paths. Invalid text changes nothing.
    fn on_policy(&mut self, text: &str) {
        if let Ok(policies) = Policies::parse(text) {
            self.brain.policies = Arc::new(policies);
        }
    }

    /// Another controller decides from now on what becomes of streams, labels and bypasses.
    fn on_replaced(&mut self) {
        if self.brain.follow_at().is_some() {
            self.follow_now();
        }
        self.drain_fabric();
        self.brain.streams.handle_change(&mut stream_deps!(self), NetworkChange::Replaced);
        self.brain.fabric.handle_change(&mut context!(self), FabricChange::Replaced);
    }

    /// What another controller knew is remembered until switches join.
    fn on_facts(&mut self, facts: &[Fact]) {
        self.brain.memory.accept(self.now, facts);
        let transfers = facts.iter().filter_map(|fact| match fact {
            Fact::Transfer(transfer) => Some(KnownTransfer::Mptcp(transfer.clone())),
            Fact::Connections(connections) => Some(KnownTransfer::Plain(connections.clone())),
            Fact::Host(_) | Fact::Link(_) => None,
        });
        self.brain.transfers.remember(transfers);
        for at in self.brain.discovery.ports_with(Role::Host).collect::<Vec<_>>() {
            self.recall_hosts(at);
        }
    }

    /// Fills in the hosts at a port that no rule of its switch has named.
    fn recall_hosts(&mut self, at: SwitchPort) {
        for HostFact { ip, mac, at } in self.brain.memory.hosts_at(at).collect::<Vec<_>>() {
            self.brain.hosts.recall(&mut host_deps!(self), Binding { mac, ip, at });
        }
        self.drain_hosts();
    }

    /// The controller could not listen: nobody was silent meanwhile. If it was busy, less is sent.
    fn on_stall(&mut self, time: Duration, idle: Duration) {
        self.brain.counters.stalled += time;
        self.brain.stalls.note(self.now, time, idle);
    }

    fn on_port(&mut self, dpid: DatapathId, status: &PortStatus) {
        self.brain.discovery.handle_port(&mut context!(self), dpid, status);
        self.drain_discovery();
    }

    fn on_port_gone(&mut self, at: SwitchPort) {
        self.brain.discovery.handle_port_gone(&mut context!(self), at);
        self.drain_discovery();
    }

    pub(super) fn on_lldp(&mut self, at: SwitchPort, pdu: &[u8]) {
        let cx = &mut context!(self);
        self.brain.discovery.handle_lldp(cx, &mut self.brain.measurement, at, pdu);
        self.drain_discovery();
    }

    pub(super) fn on_role(&mut self, at: SwitchPort, role: Option<Role>) {
        let cx = &mut context!(self);
        match role {
            // A pending port carries no traffic yet.
            Some(Role::Pending) => return self.brain.admission.handle_port_up(at),
            Some(role) => {
                self.brain.admission.handle_role(cx, at, role);
                self.brain.bfd.handle_role(cx, at, role);
            }
            None => self.brain.admission.handle_port_down(cx, at),
        }
        if role == Some(Role::Host) {
            self.recall_hosts(at);
        }
        self.brain.broadcast.handle_change();
    }
}
