use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use braid_types::{MacAddr, SwitchPort, Time};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{Change, TopologyError};

/// One interface of a machine; a machine with several interfaces is several hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The interface's address, which names the host.
    pub mac: MacAddr,
    /// Where it is attached.
    pub at: SwitchPort,
    /// Its IP addresses, the one seen last at the end. An address belongs to one host.
    pub addresses: Vec<IpAddr>,
    /// When it was last heard.
    pub last_seen: Time,
}

/// How many hosts are remembered, so that a flood of invented addresses cannot fill the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLimits {
    /// In the whole network.
    pub hosts: usize,
    /// At one port.
    pub hosts_per_port: usize,
    /// IP addresses of one host.
    pub addresses_per_host: usize,
}

impl Default for HostLimits {
    fn default() -> Self {
        Self { hosts: 65_536, hosts_per_port: 1_024, addresses_per_host: 16 }
    }
}

/// Invariant: `by_address` and `by_port` hold exactly what the hosts themselves say.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostTable {
    limits: HostLimits,
    hosts: BTreeMap<MacAddr, Host>,
    by_address: FxHashMap<IpAddr, MacAddr>,
    by_port: BTreeSet<(SwitchPort, MacAddr)>,
}

impl HostTable {
    pub(crate) fn new(limits: HostLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Host> {
        self.hosts.values()
    }

    pub(crate) fn get(&self, mac: MacAddr) -> Option<&Host> {
        self.hosts.get(&mac)
    }

    pub(crate) fn with_address(&self, address: IpAddr) -> Option<&Host> {
        self.by_address.get(&address).and_then(|mac| self.hosts.get(mac))
    }

    pub(crate) fn at(&self, at: SwitchPort) -> impl Iterator<Item = &Host> {
        let range = (at, MacAddr::ZERO)..=(at, MacAddr::BROADCAST);
        self.by_port.range(range).filter_map(|(_, mac)| self.hosts.get(mac))
    }

    /// Notes the time if the host is there and `address` is the one that it used last.
    pub(crate) fn hear(&mut self, mac: MacAddr, at: SwitchPort, address: IpAddr, now: Time) -> bool {
        let host = self.hosts.get_mut(&mac);
        let Some(host) = host.filter(|host| host.at == at && host.addresses.last() == Some(&address)) else {
            return false;
        };
        host.last_seen = host.last_seen.max(now);
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
        let host = self.hosts.remove(&mac)?;
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

    pub(crate) fn remove_unseen_since(&mut self, time: Time) -> Vec<Change> {
        let stale = self.hosts.values().filter(|host| host.last_seen < time);
        let macs: Vec<_> = stale.map(|host| host.mac).collect();
        macs.into_iter().filter_map(|mac| self.remove(mac)).collect()
    }

    fn attach(
        &mut self,
        mac: MacAddr,
        at: SwitchPort,
        now: Time,
        changes: &mut Vec<Change>,
    ) -> Result<(), TopologyError> {
        let before = self.hosts.get(&mac).map(|host| host.at);
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
        let new = Host { mac, at, addresses: Vec::new(), last_seen: now };
        let host = self.hosts.entry(mac).or_insert(new);
        host.at = at;
        host.last_seen = host.last_seen.max(now);
        Ok(())
    }

    fn check_room(&self, mac: MacAddr, at: SwitchPort, new: bool) -> Result<(), TopologyError> {
        let HostLimits { hosts, hosts_per_port, .. } = self.limits;
        if new && self.hosts.len() >= hosts {
            return Err(TopologyError::TooManyHosts { mac, limit: hosts });
        }
        if self.at(at).count() >= hosts_per_port {
            return Err(TopologyError::TooManyHostsAtPort { mac, at, limit: hosts_per_port });
        }
        Ok(())
    }

    fn assign(&mut self, address: IpAddr, mac: MacAddr, changes: &mut Vec<Change>) {
        match self.by_address.insert(address, mac) {
            None => changes.push(Change::AddressAdded { address, mac }),
            Some(from) if from != mac => {
                self.forget_address(address, from);
                changes.push(Change::AddressMoved { address, from, to: mac });
            }
            Some(_) => self.forget_address(address, mac),
        }
        let Some(host) = self.hosts.get_mut(&mac) else { return };
        host.addresses.push(address);
        if host.addresses.len() > self.limits.addresses_per_host {
            let oldest = host.addresses.remove(0);
            self.by_address.remove(&oldest);
            changes.push(Change::AddressRemoved { address: oldest, mac });
        }
    }

    fn forget_address(&mut self, address: IpAddr, mac: MacAddr) {
        if let Some(host) = self.hosts.get_mut(&mac) {
            host.addresses.retain(|known| *known != address);
        }
    }
}

/// Probes for a free address carry the unspecified one (RFC 5227 §2.1.1, RFC 4862 §5.4.2): nobody's.
fn names_one_host(address: &IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !(broadcast || address.is_unspecified() || address.is_multicast() || address.is_loopback())
}
