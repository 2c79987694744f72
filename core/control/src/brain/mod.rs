//! The machines, and what each of them is told of an event.

mod events;
mod reads;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

use braid_packet::{Frame, Ip, Payload, Transport};
use braid_topology::Topology;
use braid_types::{DatapathId, PortNo, SwitchPort, Time};

use crate::admission::Admission;
use crate::command::{Command, Commands};
use crate::counters::Counters;
use crate::discovery::Discovery;
use crate::event::{Event, PortStatus, SwitchPorts};
use crate::fabric::Fabric;
use crate::hosts::{Binding, DHCP_CLIENT, Hosts, NeighborPacket};
use crate::label::Label;
use crate::measurement::Measurement;
use crate::notice::Notice;
use crate::path_cache::PathCache;
use crate::pipeline::{BASE, Table};
use crate::requests::{Requests, lower};
use crate::reservations::Reservations;
use crate::restore::{InstalledState, restoring};
use crate::role::Role;
use crate::routing::{BroadcastTree, Routing};
use crate::settings::Settings;
use crate::spray::Spray;
use crate::streams::{Streams, Syn, is_ending, network};
use crate::writer::Protections;

/// What the machines of `$brain` may use while an event is handled. A macro, as it borrows some of its fields only.
macro_rules! context {
    ($brain:expr, $now:expr, $out:expr) => {
        crate::context::Context {
            now: $now,
            settings: &$brain.settings,
            topology: &mut $brain.topology,
            paths: &mut $brain.paths,
            counters: &mut $brain.counters,
            out: crate::writer::RuleWriter {
                commands: $out,
                installed: &mut $brain.installed,
                protections: &mut $brain.protections,
            },
        }
    };
}
pub(crate) use context;

/// The machines of `$brain` that the one of hosts asks.
macro_rules! below {
    ($brain:expr) => {
        crate::hosts::Below { discovery: &$brain.discovery, admission: &mut $brain.admission }
    };
}
pub(crate) use below;

/// The controller's state machine. Performs no I/O.
///
/// After each [`handle`](Self::handle), carry out the commands in their order at each switch.
#[derive(Debug)]
pub struct Brain {
    settings: Settings,
    topology: Topology,
    discovery: Discovery,
    paths: PathCache,
    fabric: Fabric,
    routing: Routing,
    hosts: Hosts,
    broadcast: BroadcastTree,
    measurement: Measurement,
    installed: InstalledState,
    protections: Protections,
    streams: Streams,
    counters: Counters,
    counters_read_at: Time,
    /// The topology's structure that labels, routes and streams are in line with.
    followed: u64,
    admission: Admission,
    requests: Requests,
    reservations: Reservations,
    spray: Spray,
}

impl Brain {
    /// Knows nothing yet.
    pub fn new(settings: Settings) -> Self {
        let topology = Topology::with_limits(settings.hosts);
        Self {
            streams: Streams::new(&settings),
            reservations: Reservations::new(&settings),
            spray: Spray::default(),
            paths: PathCache::new(topology.graph(), settings.paths, settings.weight),
            settings,
            topology,
            discovery: Discovery::default(),
            fabric: Fabric::default(),
            routing: Routing::default(),
            hosts: Hosts::default(),
            broadcast: BroadcastTree::default(),
            measurement: Measurement::default(),
            installed: InstalledState::default(),
            protections: Protections::default(),
            counters: Counters::default(),
            counters_read_at: Time::ZERO,
            followed: 0,
            admission: Admission::default(),
            requests: Requests::default(),
        }
    }

    /// Takes note of one event and appends what is to be done to `out`.
    ///
    /// `now` must not go backwards from one event to the next.
    pub fn handle(&mut self, now: Time, event: &Event<'_>, out: &mut Commands) {
        match event {
            Event::SwitchUp(switch) => self.on_switch_up(now, switch, out),
            Event::SwitchDown { dpid } => self.on_switch_down(now, *dpid, out),
            Event::PortUp { dpid, port } => self.on_port(now, *dpid, port, out),
            Event::PortGone { dpid, port } => self.on_port_gone(now, SwitchPort::new(*dpid, *port), out),
            Event::PacketIn { dpid, in_port, table, data } => {
                self.on_packet(now, SwitchPort::new(*dpid, *in_port), *table, data, out);
            }
            Event::Barrier { dpid, token } => self.on_barrier(now, *dpid, *token, out),
            Event::FlowRemoved { dpid, cookie, bytes } => {
                self.installed.end(*dpid, *cookie);
                let net = &mut network!(self, now, out);
                self.streams.handle_flow_removed(net, *cookie, *bytes);
            }
            Event::StreamCounters { rules, .. } => self.streams.handle_counters(now, rules),
            Event::PortCounters { dpid, ports } => {
                self.measurement.handle_port_counters(&context!(self, now, out), *dpid, ports);
            }
            Event::EdgeReports { dpid, reports } => self.spray.handle_reports(now, *dpid, reports),
            Event::Echo { dpid, sent_at } => {
                self.measurement.handle_echo(&context!(self, now, out), *dpid, *sent_at);
            }
            Event::Refused { dpid, rule, reason } => self.on_refused(now, *dpid, *rule, reason, out),
            Event::MeasureCapacity { src } => {
                self.measurement.measure_capacity(&mut context!(self, now, out), *src);
            }
            Event::Request { ticket, request } => {
                let on = &mut lower!(self, now, out);
                self.requests.handle_request(on, *ticket, request);
            }
            Event::Policy { text } => self.streams.set_policy(text),
            Event::Tick => self.tick(now, out),
        }
        self.follow_graph(now, out);
        self.routing.restore(&mut context!(self, now, out), &mut self.fabric);
        self.drain_fabric(now, out);
        self.drain_streams(now, out);
    }

    /// When [`Event::Tick`] has something to do next, if that is sooner than the usual tick.
    pub fn wake_at(&self) -> Option<Time> {
        let times = [self.fabric.wake_at(), self.streams.wake_at(), self.requests.wake_at()];
        times.into_iter().flatten().min()
    }

    fn on_switch_up(&mut self, now: Time, switch: &SwitchPorts, out: &mut Commands) {
        let dpid = switch.dpid;
        let is_blank = switch.found.as_ref().is_none_or(|found| found.rules.is_empty());
        self.discovery.handle_switch_up(&mut context!(self, now, out), dpid, is_blank);
        match &switch.found {
            Some(found) => {
                self.admission.handle_switch_up(dpid, &found.meters);
                restoring!(self, now, out).load(dpid, found);
            }
            None => context!(self, now, out).out.push(Command::Reset { dpid }),
        }
        self.fabric.handle_switch_up(&mut context!(self, now, out), switch);
        let patience = self.settings.adopt_timeout + self.settings.install_timeout * 2;
        self.spray.handle_switch_up(switch, now + patience);
        for rule in BASE {
            context!(self, now, out).out.add(dpid, rule);
        }
        out.notice(Notice::SwitchJoined { dpid, ports: switch.ports.len() });
        for port in &switch.ports {
            self.on_port(now, dpid, port, out);
        }
        if let Some(found) = &switch.found {
            restoring!(self, now, out).handle_switch(dpid, found);
            self.drain_discovery(now, out);
            self.drain_hosts(now, out);
        }
    }

    fn on_switch_down(&mut self, now: Time, dpid: DatapathId, out: &mut Commands) {
        self.broadcast.handle_switch_down(dpid);
        self.installed.forget(dpid);
        self.admission.handle_switch_down(dpid);
        self.hosts.handle_switch_down(dpid);
        self.fabric.handle_switch_down(&mut context!(self, now, out), dpid);
        self.routing.handle_switch_down(dpid);
        self.spray.handle_switch_down(dpid);
        self.discovery.handle_switch_down(&mut context!(self, now, out), dpid);
        self.drain_discovery(now, out);
        out.notice(Notice::SwitchLeft { dpid });
    }

    fn on_port(&mut self, now: Time, dpid: DatapathId, status: &PortStatus, out: &mut Commands) {
        self.discovery.handle_port(&mut context!(self, now, out), dpid, status);
        self.drain_discovery(now, out);
    }

    fn on_port_gone(&mut self, now: Time, at: SwitchPort, out: &mut Commands) {
        self.discovery.handle_port_gone(&mut context!(self, now, out), at);
        self.drain_discovery(now, out);
    }

    fn on_lldp(&mut self, now: Time, at: SwitchPort, pdu: &[u8], out: &mut Commands) {
        let cx = &mut context!(self, now, out);
        self.discovery.handle_lldp(cx, &mut self.measurement, at, pdu);
        self.drain_discovery(now, out);
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

    fn on_packet(&mut self, now: Time, at: SwitchPort, table: u8, bytes: &[u8], out: &mut Commands) {
        self.counters.packet_ins += 1;
        let Ok(frame) = Frame::parse(bytes) else {
            self.counters.unreadable += 1;
            return;
        };
        let role = self.discovery.role(at);
        if !self.admission.admit_punt(&mut context!(self, now, out), at, role, &frame) {
            return;
        }
        // What has a label was forwarded by a switch that is not connected: its sender is elsewhere.
        let from_host = role == Some(Role::Host) && Label::from_mac(frame.dst).is_none();
        match &frame.payload {
            Payload::Lldp(pdu) => self.on_lldp(now, at, pdu, out),
            Payload::Arp(arp) if from_host => {
                let packet = neighbor_packet(at, &frame, table, bytes);
                let (mut cx, mut below) = (context!(self, now, out), below!(self));
                self.hosts.handle_arp(&mut cx, &mut below, packet, arp);
                self.drain_hosts(now, out);
            }
            Payload::Ip(ip) if from_host => self.on_ip(now, at, table, (&frame, ip), bytes, out),
            Payload::Ip(ip) if at.port == PortNo::CONTROLLER => {
                self.on_returned(now, at.dpid, ip.dst, bytes, out);
            }
            _ => {}
        }
    }

    fn on_ip(
        &mut self,
        now: Time,
        at: SwitchPort,
        table: u8,
        (frame, ip): (&Frame<'_>, &Ip<'_>),
        bytes: &[u8],
        out: &mut Commands,
    ) {
        let host = Binding { mac: frame.src, ip: ip.src, at };
        if !self.learn(now, host, out)
            || !self.hosts.admit_lookup(&mut context!(self, now, out), &mut below!(self), (at, ip))
        {
            return;
        }
        match &ip.transport {
            Transport::Icmpv6(message) => {
                let packet = neighbor_packet(at, frame, table, bytes);
                let (mut cx, mut below) = (context!(self, now, out), below!(self));
                self.hosts.handle_nd(&mut cx, &mut below, packet, (ip.src, message));
                self.drain_hosts(now, out);
            }
            Transport::Tcp(tcp) if table == Table::Admit as u8 => match frame.five_tuple() {
                Some(tuple) if is_ending(tcp.flags) => {
                    let net = &mut network!(self, now, out);
                    self.streams.handle_ending(net, &tuple, tcp.flags);
                }
                Some(tuple) if tcp.flags.is_syn_ack() => {
                    let net = &mut network!(self, now, out);
                    self.streams.handle_syn_ack(net, tuple, tcp);
                }
                Some(_) if self.may_steer(now, at, frame, out) => {
                    self.on_syn(now, at.dpid, frame, bytes, out);
                }
                Some(_) => self.forward_or_search(now, at.dpid, ip.dst, bytes, out),
                None => {}
            },
            Transport::Udp(udp) if udp.dst_port == DHCP_CLIENT => self.offer(now, at, ip.dst, bytes, out),
            _ => self.forward_or_search(now, at.dpid, ip.dst, bytes, out),
        }
    }

    /// A host opens a connection; the packet waits until its stream has a path.
    fn on_syn(&mut self, now: Time, dpid: DatapathId, frame: &Frame<'_>, bytes: &[u8], out: &mut Commands) {
        self.counters.syns += 1;
        match Syn::new(&self.topology, dpid, frame, bytes) {
            Some(syn) => self.streams.handle_syn(&mut network!(self, now, out), syn),
            None => {
                let dst = frame.five_tuple().map(|tuple| tuple.dst);
                dst.into_iter().for_each(|dst| self.look_up(now, dpid, dst, bytes, out));
            }
        }
    }

    /// Whether a connection may get a path of its own. Above the limit of its port it goes the way of all others.
    fn may_steer(&mut self, now: Time, at: SwitchPort, frame: &Frame<'_>, out: &mut Commands) -> bool {
        !self.streams.is_new(&self.settings, frame)
            || self.admission.admit_stream(&mut context!(self, now, out), at)
    }

    /// A DHCP server answers a client that may not have its address yet.
    fn offer(&mut self, now: Time, at: SwitchPort, dst: IpAddr, bytes: &[u8], out: &mut Commands) {
        match self.topology.host_with_address(dst) {
            Some(_) => self.forward_or_search(now, at.dpid, dst, bytes, out),
            None => self.hosts.relay(&mut context!(self, now, out), &mut below!(self), at, bytes),
        }
    }

    /// A packet that the controller sent found no route.
    ///
    /// If there should be one, the switch has lost or refused it. The packet is dropped, or it would come back
    /// again and again; the next one of its host has the route written anew.
    fn on_returned(&mut self, now: Time, dpid: DatapathId, dst: IpAddr, bytes: &[u8], out: &mut Commands) {
        if !self.routing.forget((dst, dpid)) {
            self.forward_or_search(now, dpid, dst, bytes, out);
        }
    }

    /// Sends a packet on, or holds it while its destination is looked for.
    fn forward_or_search(
        &mut self,
        now: Time,
        dpid: DatapathId,
        dst: IpAddr,
        frame: &[u8],
        out: &mut Commands,
    ) {
        match self.topology.host_with_address(dst) {
            Some(_) => {
                let cx = &mut context!(self, now, out);
                self.routing.forward(cx, &mut self.fabric, (dst, dpid), frame);
            }
            None => self.look_up(now, dpid, dst, frame, out),
        }
    }

    /// A packet that waited here goes on as if it had just come in.
    fn resume(&mut self, now: Time, dpid: DatapathId, bytes: &[u8], out: &mut Commands) {
        let Ok(frame) = Frame::parse(bytes) else { return };
        match &frame.payload {
            Payload::Ip(_) if frame.tcp().is_some_and(|tcp| tcp.flags.is_syn()) => {
                self.on_syn(now, dpid, &frame, bytes, out);
            }
            Payload::Ip(ip) => self.forward_or_search(now, dpid, ip.dst, bytes, out),
            _ => {}
        }
    }
}

fn neighbor_packet<'a>(at: SwitchPort, frame: &Frame<'_>, table: u8, bytes: &'a [u8]) -> NeighborPacket<'a> {
    NeighborPacket { at, src: frame.src, dst: frame.dst, frame: bytes, is_copy: is_copy(frame, table) }
}

/// Whether the packet of a host, sent up by `table`, goes on without the controller: neighbours talk to each other.
const fn is_copy(frame: &Frame<'_>, table: u8) -> bool {
    table == Table::Admit as u8 && !frame.dst.is_multicast()
}
