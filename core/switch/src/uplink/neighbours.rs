//! Next hops of uplinks: their MAC addresses, and when to ask for them again.

use std::net::IpAddr;
use std::time::Duration;

use braid_packet::arp::Arp;
use braid_packet::nd::{Endpoint, NeighborSolicitation};
use braid_types::{MacAddr, Time};

/// How often somebody is asked for who has not answered yet.
const IMPATIENT: Duration = Duration::from_secs(1);
/// And who has: a router that is replaced is found again.
const PATIENT: Duration = Duration::from_secs(30);

/// Where those are who pass packets on. As many as were asked for, no more.
#[derive(Debug, Default)]
pub(super) struct Neighbours(Vec<Neighbour>);

#[derive(Debug)]
struct Neighbour {
    address: IpAddr,
    /// The own address that asks.
    asker: IpAddr,
    mac: Option<MacAddr>,
    next: Time,
}

impl Neighbours {
    /// Is to know where `address` is, and asks from `asker`; the place of it.
    pub(super) fn watch(&mut self, address: IpAddr, asker: IpAddr) -> usize {
        let known = self.0.iter().position(|it| it.address == address);
        known.unwrap_or_else(|| {
            self.0.push(Neighbour { address, asker, mac: None, next: Time::ZERO });
            self.0.len() - 1
        })
    }

    pub(super) fn mac(&self, place: usize) -> Option<MacAddr> {
        self.0.get(place)?.mac
    }

    pub(super) fn mac_of(&self, address: IpAddr) -> Option<MacAddr> {
        self.0.iter().find(|it| it.address == address)?.mac
    }

    /// Somebody says where it is. Of strangers nothing is kept.
    pub(super) fn learn(&mut self, address: IpAddr, mac: MacAddr) {
        let known = self.0.iter_mut().find(|it| it.address == address);
        // A group is nobody.
        if let Some(known) = known.filter(|_| mac.octets()[0] & 1 == 0 && mac != MacAddr::ZERO) {
            known.mac = Some(mac);
        }
    }

    /// When to ask next.
    pub(super) fn next(&self) -> Option<Time> {
        self.0.iter().map(|it| it.next).min()
    }

    /// The questions that are due.
    pub(super) fn questions(&mut self, now: Time, mac: MacAddr) -> Vec<Vec<u8>> {
        let due = self.0.iter_mut().filter(|it| it.next <= now);
        due.filter_map(|it| {
            it.next = now + if it.mac.is_some() { PATIENT } else { IMPATIENT };
            question(mac, it.asker, it.address)
        })
        .collect()
    }
}

fn question(mac: MacAddr, asker: IpAddr, address: IpAddr) -> Option<Vec<u8>> {
    match (asker, address) {
        (IpAddr::V4(asker), IpAddr::V4(address)) => Some(Arp::request(mac, asker, address).frame()),
        (IpAddr::V6(ip), IpAddr::V6(target)) => {
            let solicitation = NeighborSolicitation { target, source_mac: Some(mac) };
            Some(solicitation.frame(Endpoint { mac, ip }))
        }
        _ => None,
    }
}
