//! A whole site: the tunnels to all peers, and which packet goes to which.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use braid_types::{IpPrefix, Time};

use crate::bond::{Bond, BondCounters, PathShare, UplinkSettings};
use crate::endpoint::{Endpoint, Event, PathRef, PathStatus, Peer, Refused, Renumbering, Transmit};
use crate::keys::{PrivateKey, PublicKey};
use crate::noise::Suite;
use crate::traffic::{Fragments, PathChoice, Sizes, Traffic};

/// What the local network gives and takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lan {
    /// IP packets; each peer has its networks.
    Routed,
    /// Ethernet frames, to the only peer.
    Bridged,
}

/// A site's settings.
#[derive(Clone, Debug)]
pub struct SiteSettings {
    /// This site's key.
    pub key: PrivateKey,
    /// The others.
    pub peers: Vec<Peer>,
    /// By peer, the networks behind it, if the local network is routed.
    pub networks: Vec<Vec<IpPrefix>>,
    /// By uplink, what is known of it.
    pub uplinks: Vec<UplinkSettings>,
    /// Which paths the packets take that this site sends.
    pub traffic: Traffic,
    /// What the local network is.
    pub lan: Lan,
    /// The ciphers that are quickest here.
    pub suite: Suite,
}

/// Packets that went nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SiteCounters {
    /// Of the local network, to none of the peers' networks.
    pub unroutable: u64,
    /// From a peer, with a sender that is not in its networks.
    pub spoofed: u64,
}

/// The state of a peer.
#[derive(Clone, Debug)]
pub struct PeerStatus {
    /// Its key.
    pub key: PublicKey,
    /// Its paths, by their numbers.
    pub paths: Vec<PathStatus>,
    /// What the paths that are up carry.
    pub shares: Vec<PathShare>,
    /// Packets since the start.
    pub counters: BondCounters,
}

/// One site's end of everything. Performs no I/O.
///
/// After any `handle_*`, drain [`Self::poll_transmit`], [`Self::poll_packet`] and [`Self::poll_event`]; then ask
/// [`Self::poll_timeout`].
pub struct Site {
    endpoint: Endpoint,
    bonds: Vec<Bond>,
    settings: SiteSettings,
    fragments: Fragments,
    sizes: Sizes,
    events: VecDeque<Event>,
    packets: VecDeque<Vec<u8>>,
    counters: SiteCounters,
}

impl Site {
    /// A site with these settings; `seed` must be random and secret.
    pub fn new(now: Time, settings: SiteSettings, seed: [u8; 32]) -> Self {
        let mut endpoint = Endpoint::new(now, settings.key.clone(), &settings.peers, seed);
        endpoint.prefer(settings.suite);
        let bonds = settings.peers.iter().map(|_| Bond::new(now, endpoint.random_number())).collect();
        let sizes = Sizes::new(endpoint.random_number());
        let (fragments, events, packets, counters) = Default::default();
        Self { endpoint, bonds, settings, fragments, sizes, events, packets, counters }
    }

    /// Goes on with these peers and their networks, in this order, and with other rules of traffic.
    ///
    /// A peer with the key and the dials of one before keeps its sessions, packets and counters, unless `anew` has its key; all
    /// others begin anew. Sessions of peers that are gone are forgotten. What is known of uplinks stays.
    pub fn reconfigure(
        &mut self,
        now: Time,
        peers: Vec<Peer>,
        networks: Vec<Vec<IpPrefix>>,
        traffic: Traffic,
        anew: &[PublicKey],
    ) {
        let renumbering = Renumbering::new(&self.settings.peers, &peers, anew);
        self.endpoint.renumber(now, &renumbering);
        let (bonds, endpoint) = (std::mem::take(&mut self.bonds), &mut self.endpoint);
        // Another seed each time, so that the other ends know the numbers of what begins anew apart.
        self.bonds = renumbering.apply(bonds, |_| Bond::new(now, endpoint.random_number()));
        self.events.retain_mut(|event| renumbering.follow(event));
        (self.settings.peers, self.settings.networks, self.settings.traffic) = (peers, networks, traffic);
    }

    /// Handles a datagram that arrived at an uplink.
    pub fn handle_datagram(&mut self, now: Time, uplink: u8, from: SocketAddr, bytes: &[u8]) {
        self.endpoint.handle_datagram(now, uplink, from, bytes);
        self.handle_events(now);
        self.send_contents(now);
    }

    /// Handles a packet of the local network.
    pub fn handle_packet(&mut self, now: Time, packet: &[u8]) {
        let (peer, mut class) = match self.settings.lan {
            Lan::Routed => (self.peer_of(packet), self.settings.traffic.of_ip(packet)),
            Lan::Bridged => (Some(0), self.settings.traffic.of_frame(packet)),
        };
        self.fragments.complete(&mut class);
        if self.sizes.note(now, &class) && class.paths == PathChoice::All {
            class.paths = self.settings.traffic.urgent;
        }
        let Some((peer, bond)) = peer.and_then(|peer| Some((peer, self.bonds.get_mut(usize::from(peer))?)))
        else {
            self.counters.unroutable = self.counters.unroutable.saturating_add(1);
            return;
        };
        let endpoint = &self.endpoint;
        bond.send(now, packet, &class, |path| endpoint.max_content(PathRef { peer, path }));
        self.send_contents(now);
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.endpoint.handle_timeout(now);
        self.handle_events(now);
        self.bonds.iter_mut().for_each(|bond| bond.handle_timeout(now));
        self.take_packets();
        self.send_contents(now);
    }

    /// When to call [`Self::handle_timeout`].
    pub fn poll_timeout(&self, now: Time) -> Option<Time> {
        let bonds = self.bonds.iter().filter_map(|bond| bond.poll_timeout(now));
        bonds.chain(self.endpoint.poll_timeout(now)).min()
    }

    /// The next datagram to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.endpoint.poll_transmit()
    }

    /// The next packet for the local network.
    pub fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.packets.pop_front()
    }

    /// Takes the memory of a datagram or packet that is done with, for the next ones.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.endpoint.recycle(buffer);
    }

    /// The next event, none of which is [`Event::Content`].
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// An uplink has come back or has another address.
    pub fn uplink_changed(&mut self, now: Time, uplink: u8) {
        self.endpoint.uplink_changed(now, uplink);
    }

    /// The address that a path dials is another one; the path tries it at once if it is down.
    pub fn set_address(&mut self, now: Time, at: PathRef, address: SocketAddr) {
        self.endpoint.set_address(now, at, address);
    }

    /// An uplink is gone: other paths take its packets at once.
    pub fn uplink_lost(&mut self, now: Time, uplink: u8) {
        self.endpoint.uplink_lost(uplink);
        self.handle_events(now);
    }

    /// The longest packet of the local network that no path has to split; `None` while none is up.
    pub fn mtu(&self) -> Option<usize> {
        let peers = (0..).zip(&self.bonds);
        let paths =
            peers.flat_map(|(peer, bond)| bond.shares().map(move |it| PathRef { peer, path: it.path }));
        paths.filter_map(|at| self.endpoint.max_content(at)).min().map(Bond::room)
    }

    /// The state of each peer.
    pub fn peers(&self) -> impl Iterator<Item = PeerStatus> {
        (0..).zip(self.settings.peers.iter().zip(&self.bonds)).map(|(number, (peer, bond))| PeerStatus {
            key: peer.key,
            paths: self.endpoint.paths(number).collect(),
            shares: bond.shares().collect(),
            counters: bond.counters(),
        })
    }

    /// What was refused, and what went nowhere.
    pub const fn counters(&self) -> (Refused, SiteCounters) {
        (self.endpoint.refused(), self.counters)
    }

    fn handle_events(&mut self, now: Time) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Content(at, content) => {
                    if let Some(bond) = self.bonds.get_mut(usize::from(at.peer)) {
                        bond.handle_content(now, at.path, content);
                    }
                    continue;
                }
                Event::Up(at) => self.set_path(now, at, true),
                Event::Down(at) => self.set_path(now, at, false),
                Event::Roamed(at, _) => {
                    let bond = self.bonds.get_mut(usize::from(at.peer));
                    bond.into_iter().for_each(|bond| bond.note_moved(at.path));
                }
                Event::KeyConflict(..) => {}
            }
            self.events.push_back(event);
        }
        self.take_packets();
    }

    fn set_path(&mut self, now: Time, at: PathRef, up: bool) {
        let status = self.endpoint.paths(at.peer).nth(usize::from(at.path));
        let uplink = status.and_then(|it| self.settings.uplinks.get(usize::from(it.uplink)).copied());
        let bond = self.bonds.get_mut(usize::from(at.peer));
        bond.into_iter().for_each(|bond| bond.set_path(now, at.path, up, uplink.unwrap_or_default()));
    }

    fn send_contents(&mut self, now: Time) {
        for (peer, bond) in (0..).zip(&mut self.bonds) {
            while let Some((path, content)) = bond.poll_content() {
                self.endpoint.send(now, PathRef { peer, path }, &content);
            }
        }
    }

    fn take_packets(&mut self) {
        let all = &self.settings.networks;
        for (bond, networks) in self.bonds.iter_mut().zip(all) {
            while let Some(packet) = bond.poll_packet() {
                let may_send = || sender(&packet).is_some_and(|sender| is_own(networks, all, sender));
                if self.settings.lan == Lan::Bridged || may_send() {
                    self.packets.push_back(packet);
                } else {
                    self.counters.spoofed = self.counters.spoofed.saturating_add(1);
                }
            }
        }
    }

    /// The peer with the longest network around a packet's receiver.
    fn peer_of(&self, packet: &[u8]) -> Option<u16> {
        let to = receiver(packet)?;
        let networks =
            (0..).zip(&self.settings.networks).flat_map(|(peer, all)| all.iter().map(move |it| (it, peer)));
        let around = networks.filter(|(network, _)| network.contains(to));
        around.max_by_key(|(network, _)| network.length()).map(|(_, peer)| peer)
    }
}

/// Whether an address is that of the peer with these networks, and no other peer has a longer one around it.
fn is_own(networks: &[IpPrefix], all: &[Vec<IpPrefix>], address: IpAddr) -> bool {
    let longest = |networks: &[IpPrefix]| {
        networks.iter().filter(|network| network.contains(address)).map(|network| network.length()).max()
    };
    let own = longest(networks);
    own.is_some() && all.iter().all(|others| longest(others) <= own)
}

fn sender(packet: &[u8]) -> Option<IpAddr> {
    address(packet, 12, 8)
}

fn receiver(packet: &[u8]) -> Option<IpAddr> {
    address(packet, 16, 24)
}

fn address(packet: &[u8], v4: usize, v6: usize) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => packet.get(v4..)?.first_chunk::<4>().copied().map(IpAddr::from),
        6 => packet.get(v6..)?.first_chunk::<16>().copied().map(IpAddr::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_the_peer_with_the_longest_network_around_it() {
        let all = ["10.0.0.0/8 fd00::/8", "10.2.0.0/16 fd00:2::/32", "10.0.0.0/8"];
        let all = all.map(|networks| networks.split(' ').map(|it| it.parse().unwrap()).collect::<Vec<_>>());
        let owners = |address: &str| -> Vec<bool> {
            all.iter().map(|networks| is_own(networks, &all, address.parse().unwrap())).collect()
        };
        assert_eq!(owners("10.2.0.1"), [false, true, false]);
        assert_eq!(owners("10.3.0.1"), [true, false, true]);
        assert_eq!(owners("fd00:2::1"), [false, true, false]);
        assert_eq!(owners("192.0.2.1"), [false; 3]);
    }
}
