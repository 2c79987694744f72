//! Facts of the controller that led before, until the network itself has had time to say them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use braid_topology::Link;
use braid_types::{SwitchPort, Time};

use super::{Fact, HostFact, LinkFact};

/// Facts are forgotten after this time: switches that have not joined by then are likely to have changed.
const MEMORY: Duration = Duration::from_secs(60);

/// What the controller that led before knew of hosts and links. Transfers remember their own facts.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    hosts: BTreeMap<IpAddr, HostFact>,
    by_port: BTreeMap<(SwitchPort, IpAddr), HostFact>,
    links: BTreeMap<Link, LinkFact>,
    /// When they were accepted; `None` if there are none.
    since: Option<Time>,
}

impl Memory {
    /// Remembers facts in the place of earlier ones.
    pub(crate) fn accept(&mut self, now: Time, facts: &[Fact]) {
        *self = Self { since: Some(now), ..Self::default() };
        for fact in facts {
            match fact {
                Fact::Host(host) => {
                    self.hosts.insert(host.ip, *host);
                    self.by_port.insert((host.at, host.ip), *host);
                }
                Fact::Link(link) => _ = self.links.insert(link.link, *link),
                Fact::Transfer(_) | Fact::Connections(_) => {}
            }
        }
    }

    /// Whether this host was known.
    pub(crate) fn has_host(&self, ip: IpAddr) -> bool {
        self.hosts.contains_key(&ip)
    }

    /// The hosts that were at this port.
    pub(crate) fn hosts_at(&self, at: SwitchPort) -> impl Iterator<Item = HostFact> {
        let (v4, v6) = ([0; 4].into(), [0xff; 16].into());
        self.by_port.range((at, v4)..=(at, v6)).map(|(_, host)| *host)
    }

    /// What was measured of a link, which is found again now.
    pub(crate) fn take_link(&mut self, link: &Link) -> Option<LinkFact> {
        self.links.remove(link)
    }

    /// Forgets what is old; says whether it has. Called once a tick.
    pub(crate) fn expire(&mut self, now: Time) -> bool {
        let is_old = self.since.is_some_and(|since| now.since(since) >= MEMORY);
        if is_old {
            *self = Self::default();
        }
        is_old
    }
}
