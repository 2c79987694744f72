//! Uplinks: interfaces that lead to routers of others, with addresses, neighbours, and tunnels between edges.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod device;
mod echo;
mod frame;
mod neighbours;
mod parts;
mod pmtu_cache;
mod rewriting;
mod segments;
mod settings;
mod tunnel;

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{MacAddr, PortNo, Time};

use crate::packets::Packet;
use braid_edge_protocol::Ends;
use device::Device;
use frame::{Around, Content};
use parts::Parts;
use rewriting::{Restored, Rewriting};
use tunnel::Tunnel;

pub use settings::{TunnelSettings, UplinkAddress, UplinkError, UplinkSettings};

/// The uplinks of an edge, and the tunnels over them, each of which is a port of the switch. Performs no I/O.
///
/// Uplinks are named by their place in the settings. After any `handle_*` or [`Self::send`], drain [`Self::poll_packets`], then ask
/// [`Self::poll_timeout`].
///
/// A tunnel carries Ethernet in GRE (RFC 2784, EtherType 0x6558), as `gretap` of Linux does, without key and number. It has no key that would
/// keep strangers out: what comes from the address of its other end is believed. TCP can cross it with the tunnel's addresses instead.
#[derive(Debug, Default)]
pub struct Uplinks {
    devices: Vec<Device>,
    tunnels: BTreeMap<PortNo, Tunnel>,
    /// Tunnels by their ends, as this edge sees them.
    by_ends: BTreeMap<(IpAddr, IpAddr), PortNo>,
    /// How long a frame may be that goes through any of them: what is sprayed goes through all.
    room: usize,
    /// The longest packet that goes through any of them without GRE; 0 if that is unknown.
    least_mtu: u32,
    sent: Vec<(usize, Packet)>,
}

/// The fate of a frame that came by an uplink.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// It was for the edge itself, or nobody.
    Taken,
    /// It came out of the tunnel that is this port.
    Inner(PortNo, Packet),
    /// It is for whatever else uses the interface.
    Other(Packet),
}

/// A tunnel as a port of the switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TunnelPort {
    /// Its number.
    pub number: PortNo,
    /// An Ethernet address that a port like that may have.
    pub mac: MacAddr,
    /// The longest packet that goes through any of the edge's tunnels, as what is sprayed goes through all; 0 if that is unknown.
    pub mtu: u32,
    /// The same for segments of TCP by this tunnel; 0 if they are no exception.
    pub segment_mtu: u32,
    /// Whether frames can pass.
    pub is_up: bool,
}

impl Uplinks {
    /// Uplinks that are down until [`Self::set_device`] says otherwise.
    ///
    /// # Errors
    ///
    /// [`UplinkError`] if an address is there twice, or a tunnel has no way.
    pub fn new(uplinks: &[UplinkSettings], tunnels: &[TunnelSettings]) -> Result<Self, UplinkError> {
        settings::check_addresses(uplinks)?;
        let mut all = Self { devices: uplinks.iter().map(Device::new).collect(), ..Self::default() };
        tunnels.iter().try_for_each(|tunnel| all.add_tunnel(tunnel))?;
        Ok(all)
    }

    fn add_tunnel(&mut self, settings: &TunnelSettings) -> Result<(), UplinkError> {
        let TunnelSettings { port, ends, rewrites } = *settings;
        let (device, next_hop) = self.resolve_next_hop(ends)?;
        if self.by_ends.insert((ends.src, ends.dst), port).is_some() {
            return Err(UplinkError::SameEnds(ends.src, ends.dst));
        }
        let rewriting = rewrites.then(Rewriting::default);
        let tunnel = Tunnel { ends, device, next_hop, path_mtu: None, rewriting, parts: Parts::default() };
        if self.tunnels.insert(port, tunnel).is_some() {
            return Err(UplinkError::SamePort(port));
        }
        Ok(())
    }

    fn resolve_next_hop(&mut self, ends: Ends) -> Result<(usize, usize), UplinkError> {
        let mut devices = self.devices.iter_mut().enumerate();
        let found = devices.find_map(|(place, device)| Some((place, device.address(ends.src)?, device)));
        let (place, address, device) = found.ok_or(UplinkError::NotOurs(ends.src))?;
        let next = address.next_hop(ends.dst).ok_or(UplinkError::NoWay(ends.src, ends.dst))?;
        Ok((place, device.neighbours.watch(next, address.address())))
    }

    /// The ports that are tunnels.
    pub fn ports(&self, now: Time) -> impl Iterator<Item = TunnelPort> {
        let mtu = u32::try_from(self.room.saturating_sub(frame::ETHERNET)).unwrap_or(u32::MAX);
        self.tunnels.iter().map(move |(number, tunnel)| {
            let segment_mtu = if tunnel.is_welcome(now) { self.least_mtu } else { 0 };
            let device = self.devices.get(tunnel.device);
            let mac = port_mac(device.map_or(MacAddr::ZERO, |it| it.mac), *number);
            let reached = |it: &Device| tunnel.around(it).is_some();
            TunnelPort { number: *number, mac, mtu, segment_mtu, is_up: device.is_some_and(reached) }
        })
    }

    /// Whether TCP crosses a tunnel without GRE.
    pub fn is_rewriting(&self, now: Time, port: PortNo) -> bool {
        let rewriting = self.tunnels.get(&port).and_then(|tunnel| tunnel.rewriting.as_ref());
        rewriting.is_some_and(|it| it.is_used(now))
    }

    /// Whether a port is a tunnel.
    pub fn is_tunnel(&self, port: PortNo) -> bool {
        self.tunnels.contains_key(&port)
    }

    /// The state of an uplink's interface: its Ethernet address, its MTU, whether frames can pass.
    pub fn set_device(&mut self, uplink: usize, mac: MacAddr, mtu: u32, is_up: bool) {
        let Some(device) = self.devices.get_mut(uplink) else { return };
        let is_other = device.mtu != mtu;
        (device.mac, device.mtu, device.is_up) = (mac, mtu, is_up);
        if is_other {
            self.update_lengths();
        }
    }

    /// Lengths follow from the MTUs of devices and paths.
    fn update_lengths(&mut self) {
        let known =
            self.tunnels.values().filter_map(|tunnel| Some((tunnel, self.devices.get(tunnel.device)?)));
        let known = known.filter(|(_, device)| device.mtu > 0);
        let mtus: Vec<_> = known.map(|(tunnel, device)| (tunnel.ends, tunnel.mtu(device))).collect();
        self.room = mtus.iter().map(|(ends, mtu)| segments::room(*mtu, *ends)).min().unwrap_or(0);
        self.least_mtu = mtus.iter().map(|(_, mtu)| *mtu).min().unwrap_or(0);
    }

    /// How long a frame may be with a segment of TCP from the other ends: where all rewrite, as long as without tunnels.
    fn whole_segment(&self, now: Time, is_v4: bool) -> usize {
        let rewrites = |it: &Tunnel| it.rewriting.as_ref().is_some_and(|it| it.is_used_by_other_end(now));
        let mut tunnels = self.tunnels.values();
        match tunnels.all(|it| rewrites(it) && it.ends.src.is_ipv4() == is_v4) {
            true => self.least_mtu as usize + frame::ETHERNET,
            false => self.room,
        }
    }

    /// A frame came in by an uplink.
    pub fn handle_packet(&mut self, now: Time, uplink: usize, packet: Packet) -> Arrival {
        let Some(device) = self.devices.get_mut(uplink) else { return Arrival::Other(packet) };
        if device.is_for_neighbours(&packet.data) {
            let (taken, answer) = device.hear(&packet.data);
            self.sent.extend(answer.map(|frame| (uplink, Packet::complete(frame))));
            return if taken { Arrival::Taken } else { Arrival::Other(packet) };
        }
        if let Some((ends, content)) = frame::content(&packet) {
            return self.leave(now, uplink, ends, content);
        }
        if self.learn_path_mtu(now, uplink, &packet.data) {
            return Arrival::Taken;
        }
        match self.devices.get(uplink).and_then(|device| echo::answer(device, &packet)) {
            Some(answer) => {
                self.sent.push((uplink, answer));
                Arrival::Taken
            }
            None => self.restore(now, uplink, packet),
        }
    }

    /// The port of the tunnel over an uplink whose other end sends with these ends.
    fn tunnel_from(&mut self, uplink: usize, ends: Ends) -> Option<(PortNo, &mut Tunnel)> {
        let port = *self.by_ends.get(&(ends.dst, ends.src))?;
        let tunnel = self.tunnels.get_mut(&port).filter(|tunnel| tunnel.device == uplink)?;
        Some((port, tunnel))
    }

    fn leave(&mut self, now: Time, uplink: usize, ends: Ends, content: Content) -> Arrival {
        let Some((port, tunnel)) = self.tunnel_from(uplink, ends) else { return Arrival::Taken };
        match content {
            Content::Frame(inner) => return Arrival::Inner(port, Packet::complete(inner)),
            Content::Part(part) => {
                let frame = tunnel.parts.join(&part).filter(|frame| frame.len() >= frame::ETHERNET);
                return frame.map_or(Arrival::Taken, |frame| Arrival::Inner(port, Packet::complete(frame)));
            }
            Content::Notice(notice) => {
                tunnel.rewriting.iter_mut().for_each(|it| it.handle_notice(now, &notice));
            }
        }
        self.send_notices(port);
        Arrival::Taken
    }

    /// A packet that came by an uplink, and is neither in GRE nor for the edge itself.
    fn restore(&mut self, now: Time, uplink: usize, mut packet: Packet) -> Arrival {
        let Some((src, dst)) = frame::addresses(&packet.data) else { return Arrival::Other(packet) };
        let Some((port, tunnel)) = self.tunnel_from(uplink, Ends { src, dst }) else {
            return Arrival::Other(packet);
        };
        match tunnel.rewriting.as_mut().map_or(Restored::Other, |it| it.receive(now, &mut packet)) {
            Restored::Yes => Arrival::Inner(port, packet),
            Restored::Other => Arrival::Other(packet),
            Restored::Refused => {
                self.send_notices(port);
                Arrival::Taken
            }
        }
    }

    /// Tells the other end of a tunnel what it is to know.
    fn send_notices(&mut self, port: PortNo) {
        let Some(tunnel) = self.tunnels.get_mut(&port) else { return };
        let around = self.devices.get(tunnel.device).and_then(|device| tunnel.around(device));
        let Some(rewriting) = &mut tunnel.rewriting else { return };
        let notices = rewriting.poll_notices();
        let frames = notices.filter_map(|notice| around.as_ref()?.put_notice(&notice));
        self.sent.extend(frames.map(|frame| (tunnel.device, Packet::complete(frame))));
    }

    /// Sends a frame through a tunnel; `false` if nobody passes it on, or it is too long.
    ///
    /// GSO packets are cut before they enter GRE, and what is too long then crosses in two parts if the other end knows those. In the SYN of
    /// a TCP connection, the greatest segment becomes what goes through whole, by whichever tunnel.
    pub fn send(&mut self, now: Time, port: PortNo, mut packet: Packet) -> bool {
        let Some(tunnel) = self.tunnels.get_mut(&port) else { return false };
        let Some(device) = self.devices.get(tunnel.device) else { return false };
        let Some(around) = tunnel.around(device) else { return false };
        let (uplink, longest) = (tunnel.device, tunnel.longest_frame(device));
        let is_rewritten = tunnel.rewriting.as_mut().is_some_and(|it| it.send(now, &around, &mut packet));
        self.send_notices(port);
        let frames = match is_rewritten {
            true => (packet.longest_part() <= longest).then(|| vec![packet]),
            false => self.enclose(now, port, &around, packet),
        };
        let is_sent = frames.is_some();
        self.sent.extend(frames.into_iter().flatten().map(|frame| (uplink, frame)));
        is_sent
    }

    /// The outer frames of a packet in GRE.
    fn enclose(&mut self, now: Time, port: PortNo, around: &Around, packet: Packet) -> Option<Vec<Packet>> {
        let frames = segments::whole(packet, |is_v4| self.whole_segment(now, is_v4))?;
        let room = self.room;
        self.tunnels.get_mut(&port)?.enclose(now, around, &frames, room)
    }

    /// Gives a packet that leaves by an uplink from one of its addresses the Ethernet addresses that get it to its next hop, as far as that
    /// is known; `false` if it is not. What is from others stays as it is.
    pub fn address(&self, uplink: usize, packet: &mut Packet) -> bool {
        let Some(device) = self.devices.get(uplink) else { return true };
        let Some((src, dst)) = frame::addresses(&packet.data) else { return true };
        let Some(own) = device.address(src) else { return true };
        let Some(next) = own.next_hop(dst) else { return true };
        let Some(mac) = device.neighbours.mac_of(next) else { return own.gateway().is_none() };
        packet.put_addresses(mac, device.mac);
        true
    }

    /// The frames that are to be sent, and by which uplinks, in order.
    pub fn poll_packets(&mut self) -> std::vec::Drain<'_, (usize, Packet)> {
        self.sent.drain(..)
    }

    /// When to call [`Self::handle_timeout`]; nothing if there is nobody to ask for.
    pub fn poll_timeout(&self) -> Option<Time> {
        let questions = self.devices.iter().filter(|it| it.is_up).filter_map(|it| it.neighbours.next());
        let hellos = self.tunnels.values().filter(|it| self.is_ready(it));
        let hellos = hellos.filter_map(|it| Some(it.rewriting.as_ref()?.poll_timeout()));
        let mtus = self.tunnels.values().filter_map(|it| Some(it.path_mtu?.until));
        questions.chain(hellos).chain(mtus).min()
    }

    /// Whether frames can leave by a tunnel.
    fn is_ready(&self, tunnel: &Tunnel) -> bool {
        self.devices.get(tunnel.device).is_some_and(|device| tunnel.around(device).is_some())
    }

    /// Asks where next hops are and whether other ends rewrite, and expires path MTUs.
    pub fn handle_timeout(&mut self, now: Time) {
        self.expire_path_mtus(now);
        let is_due = |it: &Tunnel| it.rewriting.as_ref().is_some_and(|it| it.poll_timeout() <= now);
        let due = self.tunnels.iter().filter(|(_, tunnel)| is_due(tunnel) && self.is_ready(tunnel));
        for port in due.map(|(port, _)| *port).collect::<Vec<_>>() {
            let tunnel = self.tunnels.get_mut(&port);
            tunnel.and_then(|it| it.rewriting.as_mut()).into_iter().for_each(|it| it.handle_timeout(now));
            self.send_notices(port);
        }
        for (place, device) in self.devices.iter_mut().enumerate().filter(|(_, it)| it.is_up) {
            let questions = device.neighbours.questions(now, device.mac);
            self.sent.extend(questions.into_iter().map(|frame| (place, Packet::complete(frame))));
        }
    }
}

/// Ports have addresses that differ, and are nobody's: the uplink's, as one that is locally administered, with the number in it.
fn port_mac(uplink: MacAddr, port: PortNo) -> MacAddr {
    let number = u64::from(port.0 & 0xffff);
    MacAddr::from_u64((uplink.to_u64() | 0x0200_0000_0000) ^ number << 16)
}
