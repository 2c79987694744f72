//! Hosts by interface, address and port, with bounds on how many are remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use braid_types::{Index, MacAddr, SwitchPort, Time, following};
use serde::{Deserialize, Serialize};

use crate::{Change, TopologyError};

/// One interface of a machine; a machine with several interfaces is several hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The interface's address, which names the host.
    pub mac: MacAddr,
    /// Its port.
    pub at: SwitchPort,
    /// Its IP addresses, the most recently seen one last. An address belongs to one host.
    pub addresses: Vec<IpAddr>,
    /// The time of its last packet.
    pub last_seen: Time,
}

impl Host {
    /// Makes an address the most recently seen one.
    fn use_address(&mut self, address: IpAddr) {
        let place = self.addresses.iter().rposition(|known| *known == address);
        let later = place.and_then(|place| self.addresses.get_mut(place..));
        later.into_iter().for_each(|later| later.rotate_left(1));
    }
}

/// Limits of the host table, so that a flood of invented addresses cannot exhaust memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLimits {
    /// Hosts in the whole network.
    pub hosts: usize,
    /// Hosts at one port.
    pub hosts_per_port: usize,
    /// IP addresses of one host.
    pub addresses_per_host: usize,
}

impl Default for HostLimits {
    fn default() -> Self {
        Self { hosts: 131_072, hosts_per_port: 1_024, addresses_per_host: 16 }
    }
}

/// The host table: a hash lookup by IP address for each packet, and an ordered map by interface address.
///
/// Invariants: `by_mac`, `by_address` and `by_port` agree with the hosts, and `free` has the empty places.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostTable {
    limits: HostLimits,
    places: Vec<Option<Host>>,
    free: Vec<Place>,
    by_mac: BTreeMap<MacAddr, Place>,
    by_address: Index<IpAddr, Place>,
    by_port: BTreeSet<(SwitchPort, MacAddr)>,
}

/// An index of `places`.
type Place = u32;

impl HostTable {
    pub(crate) fn new(limits: HostLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.by_mac.len()
    }

    /// By interface address.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Host> {
        self.after(None)
    }

    /// Hosts with higher interface addresses, in order.
    pub(crate) fn after(&self, mac: Option<MacAddr>) -> impl Iterator<Item = &Host> {
        self.by_mac.range(following(mac)).filter_map(|(_, place)| self.at_place(*place))
    }

    pub(crate) fn get(&self, mac: MacAddr) -> Option<&Host> {
        self.at_place(*self.by_mac.get(&mac)?)
    }

    pub(crate) fn with_address(&self, address: IpAddr) -> Option<&Host> {
        self.at_place(*self.by_address.get(&address)?)
    }

    /// All lookups by address come before the first host is read, so that they do not wait for each other.
    pub(crate) fn with_addresses(&self, addresses: &[IpAddr]) -> impl Iterator<Item = Option<&Host>> {
        let places: Vec<_> = addresses.iter().map(|address| self.by_address.get(address).copied()).collect();
        places.into_iter().map(|place| self.at_place(place?))
    }

    pub(crate) fn at(&self, at: SwitchPort) -> impl Iterator<Item = &Host> {
        let range = (at, MacAddr::ZERO)..=(at, MacAddr::BROADCAST);
        self.by_port.range(range).filter_map(|(_, mac)| self.get(*mac))
    }

    /// Notes that the host was seen with `address`, if the address is its own already.
    pub(crate) fn hear(&mut self, mac: MacAddr, at: SwitchPort, address: IpAddr, now: Time) -> bool {
        let host =
            self.by_address.get(&address).and_then(|place| self.places.get_mut(*place as usize)?.as_mut());
        let Some(host) = host.filter(|host| (host.mac, host.at) == (mac, at)) else { return false };
        host.last_seen = host.last_seen.max(now);
        host.use_address(address);
        true
    }

    pub(crate) fn learn(
        &mut self,
        mac: MacAddr,
        at: SwitchPort,
        address: Option<IpAddr>,
        now: Time,
    ) -> Result<Vec<Change>, TopologyError> {
        let mut changes = Vec::new();
        self.attach(mac, at, now, &mut changes)?;
        if let Some(address) = address.filter(names_one_host) {
            self.assign(address, mac, &mut changes);
        }
        Ok(changes)
    }

    pub(crate) fn remove(&mut self, mac: MacAddr) -> Option<Change> {
        let place = self.by_mac.remove(&mac)?;
        let host = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        self.by_port.remove(&(host.at, mac));
        for address in &host.addresses {
            self.by_address.remove(address);
        }
        Some(Change::HostRemoved { host })
    }

    pub(crate) fn remove_at(&mut self, at: SwitchPort) -> Vec<Change> {
        let macs: Vec<_> = self.at(at).map(|host| host.mac).collect();
        macs.into_iter().filter_map(|mac| self.remove(mac)).collect()
    }

    fn attach(
        &mut self,
        mac: MacAddr,
        at: SwitchPort,
        now: Time,
        changes: &mut Vec<Change>,
    ) -> Result<(), TopologyError> {
        let before = self.get(mac).map(|host| host.at);
        if before != Some(at) {
            self.check_room(mac, at, before.is_none())?;
            self.by_port.insert((at, mac));
        }
        match before {
            None => changes.push(Change::HostAdded { mac, at }),
            Some(from) if from != at => {
                self.by_port.remove(&(from, mac));
                changes.push(Change::HostMoved { mac, from, to: at });
            }
            Some(_) => {}
        }
        match self.get_mut(mac) {
            Some(host) => {
                host.at = at;
                host.last_seen = host.last_seen.max(now);
            }
            None => self.insert(Host { mac, at, addresses: Vec::new(), last_seen: now }),
        }
        Ok(())
    }

    fn at_place(&self, place: Place) -> Option<&Host> {
        self.places.get(place as usize)?.as_ref()
    }

    fn get_mut(&mut self, mac: MacAddr) -> Option<&mut Host> {
        self.places.get_mut(*self.by_mac.get(&mac)? as usize)?.as_mut()
    }

    fn insert(&mut self, host: Host) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            // The limit of hosts is far lower.
            (self.places.len() - 1) as Place
        });
        self.by_mac.insert(host.mac, place);
        self.places[place as usize] = Some(host);
    }

    fn check_room(&self, mac: MacAddr, at: SwitchPort, new: bool) -> Result<(), TopologyError> {
        let HostLimits { hosts, hosts_per_port, .. } = self.limits;
        if new && self.by_mac.len() >= hosts {
            return Err(TopologyError::TooManyHosts { mac, limit: hosts });
        }
        if self.at(at).count() >= hosts_per_port {
            return Err(TopologyError::TooManyHostsAtPort { mac, at, limit: hosts_per_port });
        }
        Ok(())
    }

    fn assign(&mut self, address: IpAddr, mac: MacAddr, changes: &mut Vec<Change>) {
        let Some(place) = self.by_mac.get(&mac).copied() else { return };
        let before = self.by_address.insert(address, place);
        match before.and_then(|before| self.forget_address(address, before)) {
            None => changes.push(Change::AddressAdded { address, mac }),
            Some(from) if from != mac => changes.push(Change::AddressMoved { address, from, to: mac }),
            Some(_) => {}
        }
        let limit = self.limits.addresses_per_host;
        let Some(host) = self.get_mut(mac) else { return };
        host.addresses.push(address);
        if host.addresses.len() > limit {
            let oldest = host.addresses.remove(0);
            self.by_address.remove(&oldest);
            changes.push(Change::AddressRemoved { address: oldest, mac });
        }
    }

    /// Removes an address from the host at `place`. Returns the host.
    fn forget_address(&mut self, address: IpAddr, place: Place) -> Option<MacAddr> {
        let host = self.places.get_mut(place as usize)?.as_mut()?;
        host.addresses.retain(|known| *known != address);
        Some(host.mac)
    }
}

/// Whether the address can be a host's: probes carry the unspecified address (RFC 5227 §2.1.1, RFC 4862 §5.4.2).
fn names_one_host(address: &IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !(broadcast || address.is_unspecified() || address.is_multicast() || address.is_loopback())
}
