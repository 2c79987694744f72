//! Checks of uplinks at routers and of the tunnels over them.

use std::net::IpAddr;

use super::super::file;
use super::super::problem::Problems;
use super::super::{Cidr, End, Interface, Topology, Tunnel, UplinkAddress};
use super::names::Unique;
use crate::scenario::spanned::Spanned;

/// Checks uplinks of edges at routers, and the tunnels over them, one for each.
pub(super) fn check(file: &file::Topology, topology: &mut Topology, problems: &mut Problems) {
    // Invalid links are missing, which shifts the indices of later ones.
    if file.links.len() != topology.links.len() {
        return;
    }
    let mut addresses = Unique::new("addresses");
    let hosts = file.hosts.iter().flat_map(|host| &host.interfaces).flat_map(|it| &it.addresses);
    hosts.for_each(|cidr| _ = addresses.insert(&cidr.value.address.to_string(), cidr.referenced));
    for (index, link) in file.links.iter().enumerate() {
        let key = format!("topology.links[{index}].uplink");
        let Some(router) = router_of(topology, index, &link.value.uplink, &key, problems) else { continue };
        let checked = link.value.uplink.iter().filter_map(|own| {
            addresses.add(&own.value.address.to_string(), own.referenced, &key, problems);
            address(own, &router, &key, problems)
        });
        topology.links[index].uplink = checked.collect();
    }
    for (index, tunnel) in file.tunnels.iter().enumerate() {
        let checked = self::tunnel(&tunnel.value, &format!("topology.tunnels[{index}]"), topology, problems);
        topology.tunnels.extend(checked);
    }
    every_uplink_has_a_tunnel(file, topology, problems);
}

/// The router's interface at the other end of an uplink.
fn router_of(
    topology: &Topology,
    link: usize,
    uplink: &[Spanned<Cidr>],
    key: &str,
    problems: &mut Problems,
) -> Option<Interface> {
    let first = uplink.first()?;
    let ([End::Switch(switch), End::Host { host, interface }]
    | [End::Host { host, interface }, End::Switch(switch)]) = topology.links[link].ends
    else {
        let what = "an uplink leads from an edge to a router";
        problems.add(first.referenced, key, what, "name an edge and the interface of a router");
        return None;
    };
    if !topology.switches.get(switch).is_some_and(|switch| switch.edge) {
        let what = "only Braid's own switches have uplinks";
        problems.add(first.referenced, key, what, "put the switch among topology.edges");
    }
    let host = topology.hosts.get(host)?;
    if !host.router {
        let what = format!("{:?} passes nothing on", host.name);
        problems.add(first.referenced, key, what, "make it a router: router: true");
    }
    host.interfaces.get(interface).cloned()
}

fn address(
    own: &Spanned<Cidr>,
    router: &Interface,
    key: &str,
    problems: &mut Problems,
) -> Option<UplinkAddress> {
    let is_near = |cidr: &&Cidr| own.value.contains(cidr.address) && cidr.address != own.value.address;
    let gateway = router.addresses.iter().find(is_near);
    if gateway.is_none() {
        let what = format!("the router has no address in the subnet of {}", own.value);
        problems.add(own.referenced, key, what, "give its interface one");
    }
    Some(UplinkAddress { own: own.value, gateway: gateway?.address })
}

fn tunnel(tunnel: &file::Tunnel, key: &str, topology: &Topology, problems: &mut Problems) -> Option<Tunnel> {
    let at = tunnel.between.referenced;
    let mut add = |what: String, remedy: &str| problems.add(at, format!("{key}.between"), what, remedy);
    let [a, b] = tunnel.between.value[..] else {
        add(format!("a tunnel has two ends, not {}", tunnel.between.value.len()), "write between: [A, B]");
        return None;
    };
    let [Some(from), Some(to)] = [a, b].map(|address| uplink_with(topology, address)) else {
        add(format!("{a} and {b} are not both addresses of uplinks"), "name two of topology.links[].uplink");
        return None;
    };
    let edge = |link: usize| topology.links[link].ends.into_iter().find(|end| matches!(end, End::Switch(_)));
    if edge(from) == edge(to) || a.is_ipv4() != b.is_ipv4() {
        add(format!("{a} and {b} cannot be joined"), "name addresses of one family, at two edges");
    }
    let taken = |link: usize| topology.tunnels.iter().any(|other| other.links.contains(&link));
    if taken(from) || taken(to) {
        add("an uplink has one tunnel".to_owned(), "add another link to the router, or remove one");
    }
    Some(Tunnel { links: [from, to], addresses: [a, b] })
}

fn uplink_with(topology: &Topology, address: IpAddr) -> Option<usize> {
    topology.links.iter().position(|link| link.uplink.iter().any(|it| it.own.address == address))
}

fn every_uplink_has_a_tunnel(file: &file::Topology, topology: &Topology, problems: &mut Problems) {
    for (index, link) in file.links.iter().enumerate() {
        let used = topology.tunnels.iter().any(|tunnel| tunnel.links.contains(&index));
        if let Some(first) = link.value.uplink.first().filter(|_| !used) {
            let key = format!("topology.links[{index}].uplink");
            let remedy = "add topology.tunnels: with between: [ADDRESS, ADDRESS], or remove it";
            problems.add(first.referenced, key, "no tunnel goes over it", remedy);
        }
    }
}
