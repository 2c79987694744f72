//! Uplinks: interfaces that lead to routers of others, with addresses, neighbours, and tunnels between edges.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod device;
mod echo;
mod frame;
mod neighbours;
mod pmtu_cache;
mod segments;
mod settings;

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{MacAddr, PortNo, Time};

use crate::packets::Packet;
use braid_edge_protocol::Ends;
use device::Device;
use pmtu_cache::PathMtu;
pub use settings::{TunnelSettings, UplinkAddress, UplinkError, UplinkSettings};

/// The uplinks of an edge, and the tunnels over them, each of which is a port of the switch. Performs no I/O.
///
/// Uplinks are named by their place in the settings. After any `handle_*` or [`Self::send`], drain [`Self::poll_packets`], then ask
/// [`Self::poll_timeout`].
///
/// A tunnel carries Ethernet in GRE (RFC 2784, EtherType 0x6558), as `gretap` of Linux does, without key and number. It has no key that would
/// keep strangers out: what comes from the address of its other end is believed.
#[derive(Debug, Default)]
pub struct Uplinks {
    devices: Vec<Device>,
    tunnels: BTreeMap<PortNo, Tunnel>,
    /// Tunnels by their ends, as this edge sees them.
    by_ends: BTreeMap<(IpAddr, IpAddr), PortNo>,
    /// How long a frame may be that goes through any of them: what is sprayed goes through all.
    room: usize,
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

#[derive(Clone, Copy, Debug)]
struct Tunnel {
    ends: Ends,
    device: usize,
    /// The next hop, by its place among the device's neighbours.
    next_hop: usize,
    /// The longest packet that gets through, as a router has said.
    path_mtu: Option<PathMtu>,
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
    /// Whether frames can pass.
    pub is_up: bool,
}

impl Tunnel {
    /// The longest packet that goes by it; 0 if that is unknown.
    fn mtu(&self, device: &Device) -> u32 {
        self.path_mtu.map_or(device.mtu, |known| known.mtu.min(device.mtu))
    }
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
        let TunnelSettings { port, ends } = *settings;
        let (device, next_hop) = self.way(ends)?;
        if self.by_ends.insert((ends.src, ends.dst), port).is_some() {
            return Err(UplinkError::SameEnds(ends.src, ends.dst));
        }
        if self.tunnels.insert(port, Tunnel { ends, device, next_hop, path_mtu: None }).is_some() {
            return Err(UplinkError::SamePort(port));
        }
        Ok(())
    }

    fn way(&mut self, ends: Ends) -> Result<(usize, usize), UplinkError> {
        let mut devices = self.devices.iter_mut().enumerate();
        let found = devices.find_map(|(place, device)| Some((place, device.address(ends.src)?, device)));
        let (place, address, device) = found.ok_or(UplinkError::NotOurs(ends.src))?;
        let next = address.next_hop(ends.dst).ok_or(UplinkError::NoWay(ends.src, ends.dst))?;
        Ok((place, device.neighbours.watch(next, address.address())))
    }

    /// The ports that are tunnels.
    pub fn ports(&self) -> impl Iterator<Item = TunnelPort> {
        let mtu = u32::try_from(self.room.saturating_sub(frame::ETHERNET)).unwrap_or(u32::MAX);
        self.tunnels.iter().map(move |(number, tunnel)| {
            let device = self.devices.get(tunnel.device);
            let mac = port_mac(device.map_or(MacAddr::ZERO, |it| it.mac), *number);
            let reached = |it: &Device| it.is_up && it.neighbours.mac(tunnel.next_hop).is_some();
            TunnelPort { number: *number, mac, mtu, is_up: device.is_some_and(reached) }
        })
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
            self.room = self.least_room();
        }
    }

    fn least_room(&self) -> usize {
        let known =
            self.tunnels.values().filter_map(|tunnel| Some((tunnel, self.devices.get(tunnel.device)?)));
        let known = known.filter(|(_, device)| device.mtu > 0);
        known.map(|(tunnel, device)| segments::room(tunnel.mtu(device), tunnel.ends)).min().unwrap_or(0)
    }

    /// A frame came in by an uplink.
    pub fn handle_packet(&mut self, now: Time, uplink: usize, packet: Packet) -> Arrival {
        let Some(device) = self.devices.get_mut(uplink) else { return Arrival::Other(packet) };
        if device.is_for_neighbours(&packet.data) {
            let (taken, answer) = device.hear(&packet.data);
            self.sent.extend(answer.map(|frame| (uplink, Packet::complete(frame))));
            return if taken { Arrival::Taken } else { Arrival::Other(packet) };
        }
        if let Some((ends, inner)) = frame::inner(&packet) {
            return self.leave(uplink, ends, inner);
        }
        if self.learn_path_mtu(now, uplink, &packet.data) {
            return Arrival::Taken;
        }
        match self.devices.get(uplink).and_then(|device| echo::answer(device, &packet)) {
            Some(answer) => {
                self.sent.push((uplink, answer));
                Arrival::Taken
            }
            None => Arrival::Other(packet),
        }
    }

    fn leave(&self, uplink: usize, ends: Ends, inner: Vec<u8>) -> Arrival {
        let port = self.by_ends.get(&(ends.dst, ends.src));
        let tunnel = port.and_then(|port| Some((*port, self.tunnels.get(port)?)));
        match tunnel.filter(|(_, tunnel)| tunnel.device == uplink) {
            Some((port, _)) => Arrival::Inner(port, Packet::complete(inner)),
            None => Arrival::Taken,
        }
    }

    /// Sends a frame through a tunnel; `false` if nobody passes it on, or it is too long.
    ///
    /// GSO packets are cut first. In the SYN of a TCP connection, the greatest segment becomes what goes through whole, by whichever tunnel.
    pub fn send(&mut self, port: PortNo, packet: Packet) -> bool {
        let Some(tunnel) = self.tunnels.get(&port) else { return false };
        let Some(device) = self.devices.get(tunnel.device) else { return false };
        let Some(next) = device.neighbours.mac(tunnel.next_hop).filter(|_| device.is_up) else {
            return false;
        };
        let Some(parts) = segments::whole(packet, self.room) else {
            return false;
        };
        let around = frame::Around { ends: tunnel.ends, src: device.mac, dst: next };
        let longest = tunnel.mtu(device) as usize + frame::ETHERNET;
        let frames = parts.iter().map(|part| around.put(part).filter(|frame| frame.len() <= longest));
        let Some(frames) = frames.collect::<Option<Vec<_>>>() else { return false };
        self.sent.extend(frames.into_iter().map(|frame| (tunnel.device, Packet::complete(frame))));
        true
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
        questions.chain(self.tunnels.values().filter_map(|it| Some(it.path_mtu?.until))).min()
    }

    /// Asks where next hops are, and expires path MTUs.
    pub fn handle_timeout(&mut self, now: Time) {
        self.expire_path_mtus(now);
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
