//! The sites of a plan: what their boxes use and where packets for the other one go.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::HostPlan;
use crate::scenario::{Cidr, End, Link, Topology};

/// What an interface leaves to its driver, off: frames that a line carries are whole, with their checksums.
const WHOLE_FRAMES: &[&str] = &["tx", "off", "tso", "off", "gso", "off", "gro", "off"];
/// The same for what goes through Open vSwitch.
const CHECKSUMS: &[&str] = &["tx", "off"];

/// One of two sites with tunnels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SitePlan {
    pub name: String,
    pub namespace: String,
    pub uplinks: Vec<SiteUplink>,
    /// The subnets behind it.
    pub networks: Vec<String>,
}

/// An end of a line that is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SiteUplink {
    pub interface: String,
    pub address: IpAddr,
}

/// A route of a host or a box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RoutePlan {
    pub to: String,
    pub via: IpAddr,
    /// The address of packets without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
}

/// Both sites, if tunnels join them. The first dials.
pub(super) fn sites(topology: &Topology, hosts: &[HostPlan]) -> Vec<SitePlan> {
    let Some(sites) = topology.sites.as_ref().filter(|sites| sites.tunnel) else { return Vec::new() };
    let site = |index: usize| SitePlan {
        name: hosts[index].name.clone(),
        namespace: hosts[index].namespace.clone(),
        uplinks: used(topology).filter_map(|link| uplink(topology, index, link)).collect(),
        networks: lan(topology, index).filter_map(subnet).collect(),
    };
    sites.boxes.map(site).to_vec()
}

/// The routes of host number `index` to the other site. Where no tunnels lead there, those of boxes take each subnet over a line.
pub(super) fn routes(topology: &Topology, index: usize) -> Vec<RoutePlan> {
    let Some(sites) = &topology.sites else { return Vec::new() };
    let side = |all: [usize; 2]| all.iter().position(|it| *it == index);
    if let Some(side) = side(sites.hosts) {
        return of_host(topology, sites.boxes[side], sites.boxes[1 - side], index);
    }
    match side(sites.boxes) {
        Some(side) if !sites.tunnel => of_box(topology, sites.boxes[1 - side]),
        _ => Vec::new(),
    }
}

fn of_host(topology: &Topology, own: usize, other: usize, host: usize) -> Vec<RoutePlan> {
    let sources = topology.hosts[host].interfaces.iter().flat_map(|it| &it.addresses);
    let routes = lan(topology, other).zip(lan(topology, own)).zip(sources);
    let route = |((to, gateway), source): ((Cidr, Cidr), &Cidr)| {
        Some(RoutePlan { to: subnet(to)?, via: gateway.address, source: Some(source.address) })
    };
    routes.filter_map(route).collect()
}

/// Subnets beyond the last line take that too.
fn of_box(topology: &Topology, other: usize) -> Vec<RoutePlan> {
    let ends: Vec<_> = used(topology).filter_map(|link| uplink(topology, other, link)).collect();
    let route = |(place, to): (usize, Cidr)| {
        let via = ends.get(place).or(ends.last())?.address;
        Some(RoutePlan { to: subnet(to)?, via, source: None })
    };
    lan(topology, other).enumerate().filter_map(route).collect()
}

/// The lines that carry traffic.
fn used(topology: &Topology) -> impl Iterator<Item = &Link> {
    let sites = topology.sites.iter();
    sites.flat_map(|sites| sites.used.iter().filter_map(|line| topology.links.get(*sites.lines.get(*line)?)))
}

fn uplink(topology: &Topology, site: usize, link: &Link) -> Option<SiteUplink> {
    link.ends.iter().find_map(|end| match end {
        End::Host { host, interface } if *host == site => {
            let interface = topology.hosts.get(site)?.interfaces.get(*interface)?;
            let address = interface.addresses.first()?.address;
            Some(SiteUplink { interface: interface.name.clone(), address })
        }
        _ => None,
    })
}

fn subnet(cidr: Cidr) -> Option<String> {
    cidr.subnet().map(|subnet| subnet.to_string())
}

/// The addresses of a box in its local network.
fn lan(topology: &Topology, site: usize) -> impl Iterator<Item = Cidr> {
    let lan = topology.hosts.get(site).and_then(|it| it.interfaces.first());
    lan.into_iter().flat_map(|it| &it.addresses).copied()
}

/// What `ethtool -K` is told of an interface of a host, if anything: local networks of sites are as hosts have them.
pub(super) fn offloads(topology: &Topology, host: usize, interface: usize) -> &'static [&'static str] {
    let is_line = |link: &Link| link.line && link.ends.contains(&End::Host { host, interface });
    match &topology.sites {
        Some(_) if topology.links.iter().any(is_line) => WHOLE_FRAMES,
        Some(_) => &[],
        None => CHECKSUMS,
    }
}
