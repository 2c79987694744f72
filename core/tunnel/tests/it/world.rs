//! Sites and a network between them, in virtual time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use braid_tunnel::{
    Dial, Event, Lan, Peer, PrivateKey, Site, SiteSettings, Suite, Traffic, Transmit, UplinkSettings,
};
use braid_types::{SplitMix64, Time};

pub(crate) const STEP: Duration = Duration::from_millis(1);

/// One direction of one path's faults.
#[derive(Clone, Copy)]
pub(crate) struct Faults {
    pub(crate) delay: Duration,
    /// Up to so much more, which reorders.
    pub(crate) jitter: Duration,
    /// Of 1,000 datagrams.
    pub(crate) lost: u64,
    pub(crate) repeated: u64,
    /// Longer datagrams are lost.
    pub(crate) mtu: usize,
    /// The time that 1,000 bytes take of the path; none without a limit.
    pub(crate) sending: Duration,
}

impl Default for Faults {
    fn default() -> Self {
        let delay = Duration::from_millis(5);
        Self { delay, jitter: Duration::ZERO, lost: 0, repeated: 0, mtu: 1_500, sending: Duration::ZERO }
    }
}

struct Flying {
    site: usize,
    uplink: u8,
    from: SocketAddr,
    bytes: Vec<u8>,
}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) sites: Vec<Site>,
    /// By site and uplink, its address, as seen by others.
    pub(crate) addresses: Vec<Vec<SocketAddr>>,
    /// By uplink of whichever end has the lower number.
    pub(crate) faults: [Faults; 2],
    pub(crate) delivered: Vec<Vec<Vec<u8>>>,
    pub(crate) events: Vec<Vec<Event>>,
    /// All that was sent, for those who listen.
    pub(crate) seen: Vec<(usize, Transmit)>,
    pub(crate) keeps: bool,
    flying: BTreeMap<(Time, u64), Flying>,
    /// By site and uplink, when all datagrams are sent.
    free: Vec<[Time; 2]>,
    random: SplitMix64,
    count: u64,
}

pub(crate) fn key(byte: u8) -> PrivateKey {
    PrivateKey::new([byte; 32])
}

pub(crate) fn address(site: usize, uplink: usize) -> SocketAddr {
    format!("198.51.{site}.{uplink}:51820").parse().unwrap()
}

/// A site whose peers are these keys; it dials those that have addresses, each uplink the one of the same number.
pub(crate) fn site(own: u8, peers: &[(u8, Option<usize>)], uplinks: usize) -> Site {
    site_of(own, settings(own, peers, uplinks))
}

/// A site that dials this peer by two uplinks, at addresses that are not known yet.
pub(crate) fn site_without_addresses(own: u8, peer: u8) -> Site {
    let mut settings = settings(own, &[(peer, Some(1))], 2);
    settings.peers.iter_mut().flat_map(|it| &mut it.dials).for_each(|dial| dial.address = None);
    site_of(own, settings)
}

fn site_of(own: u8, settings: SiteSettings) -> Site {
    Site::new(Time::ZERO, settings, [own.wrapping_add(100); 32])
}

fn settings(own: u8, peers: &[(u8, Option<usize>)], uplinks: usize) -> SiteSettings {
    let dials =
        |to: usize| (0..uplinks).map(move |it| Dial { uplink: it as u8, address: Some(address(to, it)) });
    let peer = |(number, to): &(u8, Option<usize>)| Peer {
        key: key(*number).public(),
        dials: to.iter().flat_map(|to| dials(*to)).collect(),
    };
    SiteSettings {
        key: key(own),
        peers: peers.iter().map(peer).collect(),
        networks: peers
            .iter()
            .map(|(number, _)| vec![format!("10.{number}.0.0/16").parse().unwrap()])
            .collect(),
        uplinks: vec![UplinkSettings::default(); uplinks],
        traffic: Traffic::default(),
        lan: Lan::Routed,
        suite: Suite::default(),
    }
}

/// Two sites with two uplinks each, of which the first dials.
pub(crate) fn pair() -> World {
    World::new(vec![site(1, &[(2, Some(1))], 2), site(2, &[(1, None)], 2)])
}

/// Such a pair, whose first site has these rules of traffic, and uplinks that cost so much.
pub(crate) fn pair_with(traffic: Traffic, costs: [u8; 2]) -> World {
    let uplinks = costs.map(|cost| UplinkSettings { cost, ..UplinkSettings::default() }).to_vec();
    let first = SiteSettings { traffic, uplinks, ..settings(1, &[(2, Some(1))], 2) };
    World::new(vec![site_of(1, first), site(2, &[(1, None)], 2)])
}

/// Such a pair, whose sites prefer these ciphers.
pub(crate) fn pair_preferring([first, second]: [Suite; 2]) -> World {
    let first = SiteSettings { suite: first, ..settings(1, &[(2, Some(1))], 2) };
    let second = SiteSettings { suite: second, ..settings(2, &[(1, None)], 2) };
    World::new(vec![site_of(1, first), site_of(2, second)])
}

/// A UDP packet from site `from` to site `to` with a number in it.
pub(crate) fn packet(from: u8, to: u8, port: u16, number: u32, length: usize) -> Vec<u8> {
    let total = (length as u16).to_be_bytes();
    let mut packet =
        [[0x45, 0], total, [0, 0], [0x40, 0], [64, 17], [0, 0], [10, from], [0, 1], [10, to], [0, 1]]
            .concat();
    packet.extend(port.to_be_bytes());
    packet.extend([0, 9, 0, 0, 0, 0]);
    packet.extend(number.to_be_bytes());
    packet.resize(length, 0);
    packet
}

pub(crate) fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[28..32].try_into().unwrap())
}

impl World {
    pub(crate) fn new(sites: Vec<Site>) -> Self {
        let addresses = (0..sites.len()).map(|site| (0..2).map(|it| address(site, it)).collect()).collect();
        let free = vec![[Time::ZERO; 2]; sites.len()];
        let (delivered, events) = (vec![Vec::new(); sites.len()], vec![Vec::new(); sites.len()]);
        Self {
            now: Time::ZERO,
            sites,
            addresses,
            faults: [Faults::default(); 2],
            delivered,
            events,
            seen: Vec::new(),
            keeps: false,
            flying: BTreeMap::new(),
            free,
            random: SplitMix64::new(7),
            count: 0,
        }
    }

    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.step();
        }
    }

    pub(crate) fn step(&mut self) {
        self.now = self.now + STEP;
        while let Some(first) = self.flying.first_entry().filter(|it| it.key().0 <= self.now) {
            let Flying { site, uplink, from, bytes } = first.remove();
            self.sites[site].handle_datagram(self.now, uplink, from, &bytes);
            self.collect(site);
        }
        for site in 0..self.sites.len() {
            if self.sites[site].poll_timeout(self.now).is_some_and(|due| due <= self.now) {
                self.sites[site].handle_timeout(self.now);
            }
            self.collect(site);
        }
    }

    /// Time passes in which no site does anything; the network goes on.
    pub(crate) fn stand_still(&mut self, time: Duration) {
        self.now = self.now + time;
    }

    /// A site has other peers from now on, of which `anew` begins anew.
    pub(crate) fn reconfigure(&mut self, site: usize, peers: &[(u8, Option<usize>)], anew: Option<u8>) {
        let SiteSettings { peers, networks, traffic, .. } = settings(0, peers, 2);
        let anew = anew.map(|number| key(number).public());
        self.sites[site].reconfigure(self.now, peers, networks, traffic, anew.as_slice());
    }

    pub(crate) fn send(&mut self, site: usize, packet: &[u8]) {
        self.sites[site].handle_packet(self.now, packet);
        self.collect(site);
    }

    /// A datagram from anywhere.
    pub(crate) fn inject(&mut self, site: usize, uplink: u8, from: SocketAddr, bytes: &[u8]) {
        self.sites[site].handle_datagram(self.now, uplink, from, bytes);
        self.collect(site);
    }

    pub(crate) fn numbers(&self, site: usize) -> Vec<u32> {
        self.delivered[site].iter().map(|packet| number(packet)).collect()
    }

    pub(crate) fn paths_up(&self, site: usize) -> usize {
        self.sites[site].peers().flat_map(|peer| peer.paths).filter(|path| path.is_up).count()
    }

    fn collect(&mut self, site: usize) {
        while let Some(packet) = self.sites[site].poll_packet() {
            self.delivered[site].push(packet);
        }
        while let Some(event) = self.sites[site].poll_event() {
            self.events[site].push(event);
        }
        while let Some(transmit) = self.sites[site].poll_transmit() {
            self.transmit(site, transmit);
        }
    }

    fn transmit(&mut self, site: usize, transmit: Transmit) {
        if self.keeps {
            self.seen.push((site, transmit.clone()));
        }
        let Transmit { uplink, to, bytes } = transmit;
        let places = self.addresses.iter().enumerate();
        let mut places =
            places.flat_map(|(site, all)| all.iter().enumerate().map(move |(it, at)| (site, it, *at)));
        let Some((other, far, _)) = places.find(|it| it.2 == to) else { return };
        let faults = self.faults[if site < other { usize::from(uplink) } else { far }];
        let from = self.addresses[site][usize::from(uplink)];
        if self.chance(faults.lost) || bytes.len() + 28 > faults.mtu {
            return;
        }
        let sending = faults.sending * (bytes.len() as u32 + 28) / 1_000;
        let sent = self.now.max(self.free[site][usize::from(uplink)]) + sending;
        self.free[site][usize::from(uplink)] = sent;
        let copies = 1 + u64::from(self.chance(faults.repeated));
        for _ in 0..copies {
            let jitter = faults.jitter.as_nanos() as u64;
            let extra = Duration::from_nanos(self.random.next_u64() % jitter.max(1));
            self.count += 1;
            let at = (sent + faults.delay + extra, self.count);
            self.flying.insert(at, Flying { site: other, uplink: far as u8, from, bytes: bytes.clone() });
        }
    }

    fn chance(&mut self, of_thousand: u64) -> bool {
        self.random.next_u64() % 1_000 < of_thousand
    }
}
