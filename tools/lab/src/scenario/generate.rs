//! Expansion of a scenario's `generate` key to hosts, switches and links.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use braid_topology::Blueprint;
use braid_topology::generate::{Links, Spec};
use serde_saphyr::Location;

use super::address::Cidr;
use super::file::{Generate, Host, Interface, Link, Switch, Topology};
use super::problem::Problems;
use super::spanned::Spanned;

/// Addresses in a subnet; all first interfaces share one subnet, all second ones another.
const MAX_HOSTS: usize = 65_534;
const MAX_INTERFACES: usize = 200;

/// Expands `generate` to hosts, switches and links.
pub(super) fn expand(topology: &mut Topology, problems: &mut Problems) {
    let Some(generate) = topology.generate.take() else { return };
    let key = "topology.generate";
    if !(topology.hosts.is_empty() && topology.switches.is_empty() && topology.links.is_empty()) {
        let what = "the network is given twice";
        problems.add(generate.referenced, key, what, "remove generate:, or hosts:, switches: and links:");
        return;
    }
    let network = &generate.value.network;
    let blueprint = network.value.parse::<Spec>().map_err(|error| error.to_string());
    let blueprint = blueprint
        .and_then(|spec| spec.generate(Links::default()).map_err(|error| error.to_string()))
        .and_then(small_enough);
    match blueprint {
        Ok(blueprint) => *topology = written(&blueprint, &generate),
        Err(what) => {
            let remedy = format!("write one of {}", Spec::FORMS.join(", "));
            problems.add(network.referenced, format!("{key}.network"), what, remedy);
        }
    }
    if generate.value.link.rate.is_none() {
        let what = "the links have no rate";
        problems.add(generate.referenced, format!("{key}.link"), what, "give one such as { rate: 10Mbit }");
    }
}

fn small_enough(blueprint: Blueprint) -> Result<Blueprint, String> {
    let interfaces = blueprint.hosts().iter().map(|host| host.interfaces.len()).max().unwrap_or(0);
    if blueprint.hosts().len() > MAX_HOSTS || interfaces > MAX_INTERFACES {
        return Err(format!("it has more than {MAX_HOSTS} hosts, which have no addresses"));
    }
    Ok(blueprint)
}

fn written(blueprint: &Blueprint, generate: &Spanned<Generate>) -> Topology {
    let (at, generate) = (generate.referenced, &generate.value);
    let name = |switch: usize| spanned(blueprint.switches()[switch].name.clone(), at);
    let mut links = Vec::new();
    for host in blueprint.hosts() {
        for (place, interface) in host.interfaces.iter().enumerate() {
            let end = spanned(format!("{}.{}", host.name, device(place)), at);
            links.push(link(generate, [end, name(interface.end.switch)], at));
        }
    }
    let between = blueprint.links().iter().map(|link| link.ends.map(|end| name(end.switch)));
    links.extend(between.map(|ends| link(generate, ends, at)));
    let hosts = blueprint.hosts().iter().enumerate();
    let hosts = hosts.map(|(index, host)| self::host(index, &host.name, host.interfaces.len(), generate, at));
    let switches =
        blueprint.switches().iter().map(|it| Switch(spanned(format!("{}@{}", it.name, it.dpid), at)));
    let places = blueprint.switches().iter().filter_map(|it| {
        let place = it.position.map(|at| [at.latitude(), at.longitude()])?;
        Some((it.name.clone(), spanned(place, at)))
    });
    let groups = blueprint.switches().iter().filter_map(|it| Some((it.name.clone(), it.group.clone()?)));
    let (locations, groups) = (places.collect(), groups.collect());
    let (hosts, switches) = (hosts.collect(), switches.collect());
    Topology { hosts, switches, links, locations, groups, ..Topology::default() }
}

fn host(index: usize, name: &str, interfaces: usize, generate: &Generate, at: Location) -> Host {
    let interface = |place: usize| Interface {
        name: spanned(device(place), at),
        mtu: generate.mtu.clone(),
        addresses: vec![spanned(address(place, index, generate.ipv6), at)],
    };
    Host {
        name: spanned(name.to_owned(), at),
        router: false,
        interfaces: (0..interfaces).map(interface).collect(),
        congestion_control: generate.congestion_control.clone(),
        receive_buffer: generate.receive_buffer.clone(),
        mptcp: generate.mptcp.clone(),
    }
}

fn link(generate: &Generate, between: [Spanned<String>; 2], at: Location) -> Spanned<Link> {
    spanned(Link::like(between.to_vec(), &generate.link, at), at)
}

pub(super) fn device(place: usize) -> String {
    format!("eth{place}")
}

/// The address of a host: 10.INTERFACE.0.0/16 or fd00:0:0:INTERFACE::/64, and in it the number of the host from 1.
pub(super) fn address(place: usize, host: usize, ipv6: bool) -> Cidr {
    let (place, host) = (place as u32, host as u32 + 1);
    if ipv6 {
        let bits = 0xfd00_u128 << 112 | u128::from(place) << 64 | u128::from(host);
        return Cidr { address: IpAddr::V6(Ipv6Addr::from_bits(bits)), prefix: 64 };
    }
    Cidr { address: IpAddr::V4(Ipv4Addr::from_bits(10 << 24 | place << 16 | host)), prefix: 16 }
}

pub(super) fn spanned<T>(value: T, at: Location) -> Spanned<T> {
    Spanned { value, referenced: at, defined: at }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;

    fn generated(network: &str, more: &str) -> Result<Scenario, String> {
        let text = format!(
            "{{scenario: t, topology: {{generate: {{network: \"{network}\", link: {{rate: 10Mbit, delay: 1ms}}{more}}}}}}}"
        );
        Scenario::parse(&text, "t.yaml").map_err(|error| error.to_string())
    }

    #[test]
    fn a_fat_tree_is_written_out() {
        let more = ", congestion_control: reno, receive_buffer: 64kB, mtu: 9000, mptcp: {path_manager: agent, subflows: 3}";
        let topology = generated("fattree:4", more).unwrap().topology;
        assert_eq!((topology.hosts.len(), topology.switches.len(), topology.links.len()), (16, 20, 48));
        assert_eq!(topology.switches[4].group.as_deref(), Some("pod1"));
        let host = &topology.hosts[15];
        let interface = &host.interfaces[0];
        assert_eq!((host.name.as_str(), interface.name.as_str(), interface.mtu), ("h16", "eth0", 9_000));
        assert_eq!(interface.addresses[0].to_string(), "10.0.0.16/16");
        assert_eq!(host.receive_buffer, Some(64_000));
        assert_eq!((host.mptcp.subflows, host.congestion_control.as_deref()), (3, Some("reno")));
        assert!(topology.links.iter().all(|link| link.emulated && link.rates()[0].0 == 10_000_000));
        assert_eq!(topology.capacity(0, 15).0, 10_000_000);
    }

    #[test]
    fn hosts_with_several_interfaces_have_a_subnet_for_each_and_ipv6_if_it_is_asked_for() {
        let topology = generated("dh-jellyfish:10,6,8,1", ", ipv6: true").unwrap().topology;
        let addresses = topology.hosts[2].interfaces.iter().map(|it| it.addresses[0].to_string());
        assert_eq!(addresses.collect::<Vec<_>>(), ["fd00::3/64", "fd00:0:0:1::3/64"]);
    }

    #[test]
    fn what_is_no_network_is_told_with_its_place() {
        let error = generated("fattree:3", "").unwrap_err();
        assert!(error.contains("topology.generate.network") && error.contains("even number"), "{error}");
        assert!(generated("moebius:3", "").unwrap_err().contains("jellyfish:SWITCHES"));
        assert!(generated("line:3", ", colour: red").unwrap_err().contains("colour"));
    }
}
