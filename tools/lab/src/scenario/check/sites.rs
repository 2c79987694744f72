//! Checks of sites: two boxes with a host behind each, lines between them, and nothing else.

use std::collections::BTreeSet;

use super::super::file::{self, File};
use super::super::problem::Problems;
use super::super::sites::{LINES_SUBNET, MAX_LINES};
use super::super::{Cidr, End, Sites, Topology};
use crate::scenario::spanned::Spanned;

/// Checks the two sites and the hosts behind them.
pub(super) fn check(file: &File, topology: &Topology, problems: &mut Problems) -> Option<Sites> {
    let boxes = file.topology.boxes();
    let (first, last) = (boxes.first()?, boxes.last()?);
    check_company(file, problems);
    if boxes.len() != 2 {
        let what = format!("a lab has two sites, not {}", boxes.len());
        problems.add(last.name.referenced, "topology.sites", what, "give two, joined by lines");
        return None;
    }
    check_addresses(file, problems);
    // Invalid links are missing, so that more would seem to be.
    if file.topology.links.len() != topology.links.len() {
        return None;
    }
    let lines: Vec<_> =
        topology.links.iter().enumerate().filter(|(_, link)| link.line).map(|(index, _)| index).collect();
    if lines.is_empty() || lines.len() > MAX_LINES {
        let what = format!("{} lines join {:?} and {:?}", lines.len(), first.name.value, last.name.value);
        let remedy = format!("give 1 to {MAX_LINES} links between the two");
        problems.add(first.name.referenced, "topology.links", what, remedy);
    }
    let boxes = [0, 1].map(|site| file.topology.ordinary_hosts + site);
    let hosts = boxes.map(|site| host_behind(site, topology));
    for (site, host) in boxes.into_iter().zip(hosts) {
        host.into_iter().for_each(|host| check_host(file, [site, host], problems));
    }
    let [Some(a), Some(b)] = hosts else { return None };
    Some(Sites { boxes, hosts: [a, b], used: (0..lines.len()).collect(), lines, tunnel: true })
}

/// A lab of sites is nothing but sites.
fn check_company(file: &File, problems: &mut Problems) {
    let remedy = "remove it, or topology.sites";
    if let Some(switch) = file.topology.switches.first() {
        let what = "a lab of sites has no switches";
        problems.add(switch.0.referenced, file.topology.switch_key(0), what, remedy);
    }
    let what = "a lab of sites has no controller";
    if let Some(number) = &file.controllers {
        problems.add(number.referenced, "controllers", what, remedy);
    }
    if file.tls {
        problems.add(file.scenario.referenced, "tls", what, remedy);
    }
}

fn check_addresses(file: &File, problems: &mut Problems) {
    let counts: Vec<_> = file.topology.boxes().iter().map(|it| lan(it).len()).collect();
    for (site, node) in file.topology.boxes().iter().enumerate() {
        let key = format!("topology.sites[{site}].addresses");
        if lan(node).is_empty() || counts.iter().any(|count| *count != lan(node).len()) {
            let what = "both sites have one address for each subnet, at least one";
            problems.add(node.name.referenced, &key, what, "give both as many addresses");
        }
        for cidr in lan(node) {
            if cidr.value.address.is_ipv6() {
                problems.add(cidr.referenced, &key, "it is not one of IPv4", "give one such as 10.1.0.1/24");
            }
            if LINES_SUBNET.contains(cidr.value.address) {
                let what = format!("{LINES_SUBNET} has the addresses of lines");
                problems.add(cidr.referenced, &key, what, "choose another subnet");
            }
        }
    }
}

/// The addresses of a box in its local network.
fn lan(node: &file::Host) -> &[Spanned<Cidr>] {
    node.interfaces.first().map(|it| it.addresses.as_slice()).unwrap_or_default()
}

/// The host at the other end of the link to the local network.
fn host_behind(site: usize, topology: &Topology) -> Option<usize> {
    topology.links.iter().find_map(|link| match link.ends {
        [End::Host { host, interface: 0 }, End::Host { host: other, .. }]
        | [End::Host { host: other, .. }, End::Host { host, interface: 0 }]
            if host == site && !link.line =>
        {
            Some(other)
        }
        _ => None,
    })
}

/// Checks that a host has an address in each subnet of its site, in the same order.
fn check_host(file: &File, [site, host]: [usize; 2], problems: &mut Problems) {
    let (Some(node), Some(behind)) = (file.topology.hosts.get(site), file.topology.hosts.get(host)) else {
        return;
    };
    let key = format!("{}.interfaces", file.topology.host_key(host));
    let mut own = behind.interfaces.iter().flat_map(|it| &it.addresses);
    for subnet in lan(node) {
        if !own.next().is_some_and(|it| subnet.value.contains(it.value.address)) {
            let what = format!("{:?} has no address in the subnet of {}", behind.name.value, subnet.value);
            let remedy = "give it one for each address of its site, in the same order";
            problems.add(behind.name.referenced, &key, what, remedy);
        }
    }
    for mtu in behind.interfaces.iter().filter_map(|it| it.mtu.as_ref()) {
        problems.add(mtu.referenced, &key, "lines carry 1500 bytes", "remove mtu");
    }
}

/// Checks what a variant says of sites; the lines that it uses, as indices.
pub(super) fn lines(
    variant: &file::Variant,
    key: &str,
    (file, topology): (&File, &Topology),
    problems: &mut Problems,
) -> Option<Vec<usize>> {
    let Some(sites) = &topology.sites else {
        check_no_sites(variant, key, file, problems);
        return None;
    };
    check_no_controller(variant, key, problems);
    let count = sites.lines.len();
    let used = variant.lines.as_ref();
    if let Some(lines) = used {
        let known = |line: &usize| (1..=count).contains(line);
        let distinct: BTreeSet<_> = lines.value.iter().collect();
        if lines.value.is_empty() || !lines.value.iter().all(known) || distinct.len() != lines.value.len() {
            let what = "these are not different lines";
            problems.add(
                lines.referenced,
                format!("{key}.lines"),
                what,
                format!("give some of 1 to {count}"),
            );
        }
    }
    if let Some(tunnel) = variant.tunnel.as_ref().filter(|tunnel| !tunnel.value) {
        let lines = used.map_or(count, |lines| lines.value.len());
        let subnets = file.topology.boxes().first().map_or(0, |it| lan(it).len());
        if subnets < lines {
            let what = format!("without a tunnel, {subnets} subnets cannot use {lines} lines");
            let remedy = "give sites and hosts an address for each line, or the variant fewer lines";
            problems.add(tunnel.referenced, format!("{key}.tunnel"), what, remedy);
        }
    }
    used.map(|lines| lines.value.iter().filter_map(|line| line.checked_sub(1)).collect())
}

fn check_no_sites(variant: &file::Variant, key: &str, file: &File, problems: &mut Problems) {
    // Sites that are wrong have problems of their own.
    if !file.topology.boxes().is_empty() {
        return;
    }
    let given = [
        ("lines", variant.lines.as_ref().map(|it| it.referenced)),
        ("tunnel", variant.tunnel.as_ref().map(|it| it.referenced)),
    ];
    for (name, at) in given {
        let Some(at) = at else { continue };
        problems.add(at, format!("{key}.{name}"), "there are no sites", "remove it, or add topology.sites");
    }
}

fn check_no_controller(variant: &file::Variant, key: &str, problems: &mut Problems) {
    let given = [
        ("controller", variant.controller.as_ref().map(|it| it.referenced)),
        ("policy", variant.policy.as_ref().map(|it| it.referenced)),
        ("rules", variant.rules.as_ref().map(|it| it.referenced)),
        ("agents", variant.agents.as_ref().map(|it| it.referenced)),
    ];
    for (name, at) in given {
        let Some(at) = at else { continue };
        problems.add(at, format!("{key}.{name}"), "a lab of sites has no controller", "remove it");
    }
}
