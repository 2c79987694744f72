//! Dispatch of packet-ins to the machines.

use std::net::IpAddr;

use braid_packet::{Frame, Ip, Payload, Transport};
use braid_types::{DatapathId, PortNo, SwitchPort};

use super::dispatch::{Dispatch, context, host_deps, stream_deps};
use crate::hosts::{Binding, DHCP_CLIENT, NeighborPacket};
use crate::label::Label;
use crate::pipeline::Table;
use crate::role::Role;
use crate::routing::RouteKey;
use crate::streams::PacketSource;

/// A packet that a table of a switch sent to the controller.
struct Punt<'a> {
    at: SwitchPort,
    table: u8,
    frame: &'a Frame<'a>,
    bytes: &'a [u8],
}
impl Dispatch<'_> {
    pub(super) fn on_packet(&mut self, at: SwitchPort, table: u8, bytes: &[u8]) {
        self.brain.counters.packet_ins += 1;
        let Ok(frame) = Frame::parse(bytes) else {
            self.brain.counters.unreadable += 1;
            return;
        };
        let role = self.brain.discovery.role(at);
        if !self.brain.admission.admit_punt(&mut context!(self), at, role, &frame) {
            return;
        }
        // A labelled packet was forwarded by a switch that is not connected: its sender is elsewhere.
        let from_host = role == Some(Role::Host) && Label::from_mac(frame.dst).is_none();
        let punt = Punt { at, table, frame: &frame, bytes };
        match &frame.payload {
            Payload::Lldp(pdu) => self.on_lldp(at, pdu),
            Payload::Arp(arp) if from_host => {
                self.brain.hosts.handle_arp(&mut host_deps!(self), punt.neighbor(arp.sender_ip.into()), arp);
                self.drain_hosts();
            }
            Payload::Ip(ip) if from_host => self.on_ip(&punt, ip),
            Payload::Ip(ip) if at.port == PortNo::CONTROLLER => self.on_route_miss(at.dpid, ip.dst, bytes),
            _ => {}
        }
    }

    fn on_ip(&mut self, punt: &Punt<'_>, ip: &Ip<'_>) {
        let host = Binding { mac: punt.frame.src, ip: ip.src, at: punt.at };
        let is_admitted =
            self.learn(host) && self.brain.hosts.admit_lookup(&mut host_deps!(self), punt.at, ip);
        if !is_admitted {
            return;
        }
        match &ip.transport {
            Transport::Icmpv6(message) => {
                self.brain.hosts.handle_nd(&mut host_deps!(self), punt.neighbor(ip.src), message);
                self.drain_hosts();
            }
            Transport::Tcp(_) if punt.is_of_handshake_or_end() => self.on_tcp(punt, ip.dst),
            Transport::Udp(udp) if udp.dst_port == DHCP_CLIENT => self.offer(punt.at, ip.dst, punt.bytes),
            _ => self.forward_or_look_up(punt.at.dpid, ip.dst, punt.bytes),
        }
    }

    fn on_tcp(&mut self, punt: &Punt<'_>, dst: IpAddr) {
        let Punt { at, frame, bytes, .. } = *punt;
        let from = PacketSource::Port(at);
        if !self.brain.streams.handle_tcp(&mut stream_deps!(self), from, frame, bytes) {
            self.forward_or_look_up(at.dpid, dst, bytes);
        }
    }

    /// Handles a DHCP server's answer to a client that may not have its address yet.
    fn offer(&mut self, at: SwitchPort, dst: IpAddr, bytes: &[u8]) {
        match self.brain.topology.host_with_address(dst) {
            Some(_) => self.forward_or_look_up(at.dpid, dst, bytes),
            None => {
                self.brain.hosts.relay(&mut host_deps!(self), at, bytes);
                self.drain_hosts();
            }
        }
    }

    /// Handles a packet that the controller sent and that found no route.
    ///
    /// If a route should exist, the switch has lost or refused it. The packet is dropped, since it would come
    /// back again and again. The next packet to that host installs the route again.
    fn on_route_miss(&mut self, dpid: DatapathId, dst: IpAddr, bytes: &[u8]) {
        if !self.brain.routing.forget(&mut self.brain.fabric, RouteKey { dst, dpid }) {
            self.forward_or_look_up(dpid, dst, bytes);
        }
    }

    /// Forwards a packet, or holds it while its destination is looked up.
    fn forward_or_look_up(&mut self, dpid: DatapathId, dst: IpAddr, frame: &[u8]) {
        match self.brain.topology.host_with_address(dst) {
            Some(_) => {
                let cx = &mut context!(self);
                self.brain.routing.forward(cx, &mut self.brain.fabric, &[RouteKey { dst, dpid }], frame);
            }
            None => self.look_up(dpid, dst, frame),
        }
    }

    /// Handles a held packet as if it had just arrived.
    pub(super) fn resume(&mut self, dpid: DatapathId, bytes: &[u8]) {
        let Ok(frame) = Frame::parse(bytes) else { return };
        let Payload::Ip(ip) = &frame.payload else { return };
        let from = PacketSource::Held(dpid);
        if !self.brain.streams.handle_tcp(&mut stream_deps!(self), from, &frame, bytes) {
            self.forward_or_look_up(dpid, ip.dst, bytes);
        }
    }
}

impl<'a> Punt<'a> {
    fn neighbor(&self, ip: IpAddr) -> NeighborPacket<'a> {
        let Self { at, frame, bytes, .. } = *self;
        NeighborPacket {
            at,
            src: frame.src,
            ip,
            dst: frame.dst,
            frame: bytes,
            is_mirrored: self.is_mirrored(),
        }
    }

    /// Whether a TCP packet opens or closes a connection, other than one without a route.
    const fn is_of_handshake_or_end(&self) -> bool {
        self.table == Table::Admit as u8 || self.table == Table::Syn as u8
    }

    /// Whether this is a copy of a unicast packet between neighbours, which the switch forwards itself.
    const fn is_mirrored(&self) -> bool {
        self.table == Table::Admit as u8 && !self.frame.dst.is_multicast()
    }
}
