//! What switches send up, by what it is.

use std::net::IpAddr;

use braid_packet::{Frame, Ip, Payload, Transport};
use braid_types::{DatapathId, PortNo, SwitchPort, Time};

use super::{Brain, below, context};
use crate::command::Commands;
use crate::hosts::{Binding, DHCP_CLIENT, NeighborPacket};
use crate::label::Label;
use crate::pipeline::Table;
use crate::role::Role;
use crate::streams::{Syn, is_ending, network};

impl Brain {
    pub(super) fn on_packet(
        &mut self,
        now: Time,
        at: SwitchPort,
        table: u8,
        bytes: &[u8],
        out: &mut Commands,
    ) {
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
    pub(super) fn forward_or_search(
        &mut self,
        now: Time,
        dpid: DatapathId,
        dst: IpAddr,
        frame: &[u8],
        out: &mut Commands,
    ) {
        match self.topology.host_with_address(dst) {
            Some(_) => self.forward(now, dpid, dst, frame, out),
            None => self.look_up(now, dpid, dst, frame, out),
        }
    }

    /// Sends a packet that entered at `dpid` on its default path.
    pub(super) fn forward(
        &mut self,
        now: Time,
        dpid: DatapathId,
        dst: IpAddr,
        frame: &[u8],
        out: &mut Commands,
    ) {
        self.routing.forward(&mut context!(self, now, out), &mut self.fabric, (dst, dpid), frame);
    }

    /// A packet that waited here goes on as if it had just come in.
    pub(super) fn resume(&mut self, now: Time, dpid: DatapathId, bytes: &[u8], out: &mut Commands) {
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
