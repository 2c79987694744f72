//! Checks of hosts: interfaces, addresses, MTU_BYTES and MPTCP settings.

use std::collections::BTreeSet;

use serde_saphyr::Location;

use super::super::file::{self, Topology};
use super::super::problem::Problems;
use super::super::{Endpoint, EndpointFlag, Host, Interface, Mptcp, PathManager, Protocol, Traffic};
use super::names::Unique;
use crate::scenario::spanned::Spanned;

/// The kernel's bound on both limits of the path manager.
const MAX_SUBFLOWS: u8 = 8;
const DEFAULT_MTU: u16 = 1_500;
/// Bytes of a receive buffer: a few frames at least; the kernel counts in 32 bits.
const RECEIVE_BUFFER_BYTES: std::ops::RangeInclusive<u64> = 16_000..=1_000_000_000;
/// MTUs: the minimum of IPv6, RFC 8200 §5, and the maximum of Open vSwitch.
const MTU_BYTES: std::ops::RangeInclusive<u16> = 1_280..=9_000;

/// Checks interfaces, addresses and MPTCP settings of every host.
pub(super) fn check(topology: &Topology, problems: &mut Problems) -> Vec<Host> {
    let mut addresses = Unique::new("addresses");
    let hosts = topology.hosts.iter().enumerate();
    hosts.map(|(index, host)| check_host(host, &topology.host_key(index), &mut addresses, problems)).collect()
}

fn check_host(host: &file::Host, key: &str, addresses: &mut Unique, problems: &mut Problems) -> Host {
    if host.interfaces.is_empty() {
        let what = format!("{:?} has no interface", host.name.value);
        problems.add(host.name.referenced, format!("{key}.interfaces"), what, "give it at least one");
    }
    for (index, interface) in host.interfaces.iter().enumerate() {
        for (place, cidr) in interface.addresses.iter().enumerate() {
            // The box of a site is written without its interfaces.
            let is_box = key.starts_with("topology.sites");
            let holder = if is_box { key.to_owned() } else { format!("{key}.interfaces[{index}]") };
            let key = format!("{holder}.addresses[{place}]");
            addresses.add(&cidr.value.address.to_string(), cidr.referenced, &key, problems);
        }
    }
    let interfaces = host.interfaces.iter().enumerate();
    let interfaces =
        interfaces.map(|(index, it)| interface(it, &format!("{key}.interfaces[{index}]"), problems));
    Host {
        name: host.name.value.clone(),
        router: host.router,
        interfaces: interfaces.collect(),
        mptcp: mptcp(host, &format!("{key}.mptcp"), problems),
        congestion_control: congestion_control(host, key, problems),
        receive_buffer: receive_buffer(host, key, problems),
    }
}

fn interface(interface: &file::Interface, key: &str, problems: &mut Problems) -> Interface {
    let addresses = interface.addresses.iter().map(|cidr| cidr.value).collect();
    if let Some(mtu) = interface.mtu.as_ref().filter(|mtu| !MTU_BYTES.contains(&mtu.value)) {
        let what = format!("{} is out of range", mtu.value);
        let remedy = format!("give {} to {}", MTU_BYTES.start(), MTU_BYTES.end());
        problems.add(mtu.referenced, format!("{key}.mtu"), what, remedy);
    }
    let mtu = interface.mtu.as_ref().map_or(DEFAULT_MTU, |mtu| mtu.value);
    Interface { name: interface.name.value.clone(), mtu, addresses }
}

fn mptcp(host: &file::Host, key: &str, problems: &mut Problems) -> Mptcp {
    let Some(given) = &host.mptcp else { return Mptcp::default() };
    let subflows = limit(given.subflows.as_ref(), &format!("{key}.subflows"), problems);
    let accept_addresses =
        limit(given.accept_addresses.as_ref(), &format!("{key}.accept_addresses"), problems);
    let path_manager = given.path_manager.as_ref().map(|it| it.value).unwrap_or_default();
    if let (PathManager::Agent, Some(first)) = (path_manager, given.endpoints.first()) {
        let what = "the agent opens subflows from every address, and takes no endpoints";
        problems.add(first.referenced, format!("{key}.endpoints"), what, "remove them");
    }
    let mut unique = Unique::new("the endpoints of a host");
    let mut endpoints = Vec::new();
    for (index, endpoint) in given.endpoints.iter().enumerate() {
        let key = format!("{key}.endpoints[{index}]");
        unique.add(&endpoint.value.address.to_string(), endpoint.referenced, &key, problems);
        check_endpoint(host, endpoint, &key, problems);
        let (address, flags) = (endpoint.value.address, endpoint.value.flags.clone());
        endpoints.push(Endpoint { address, flags });
    }
    Mptcp { used: true, path_manager, subflows, accept_addresses, endpoints }
}

/// Checks a limit of the path manager.
pub(super) fn limit(value: Option<&Spanned<u8>>, key: &str, problems: &mut Problems) -> u8 {
    let Some(value) = value else { return 0 };
    if value.value > MAX_SUBFLOWS {
        let what = format!("{} is beyond what the kernel allows", value.value);
        problems.add(value.referenced, key, what, format!("give 0 to {MAX_SUBFLOWS}"));
    }
    value.value
}

fn check_endpoint(host: &file::Host, endpoint: &Spanned<file::Endpoint>, key: &str, problems: &mut Problems) {
    let (at, flags, address) = (endpoint.referenced, &endpoint.value.flags, endpoint.value.address);
    let own = host.interfaces.iter().flat_map(|interface| &interface.addresses);
    if !own.into_iter().any(|cidr| cidr.value.address == address) {
        let what = format!("{address} is not an address of {:?}", host.name.value);
        problems.add(
            at,
            format!("{key}.address"),
            what,
            "give it to one of the interfaces of the host, or name one of theirs",
        );
    }
    check_flags(at, flags, &format!("{key}.flags"), problems);
}

/// Checks whether an endpoint may have this combination of flags.
pub(super) fn check_flags(at: Location, flags: &[EndpointFlag], key: &str, problems: &mut Problems) {
    if flags.is_empty() {
        problems.add(at, key, "no flag is given", "give subflow, signal or fullmesh");
    }
    // The kernel refuses the pair: net/mptcp/pm_kernel.c.
    if flags.contains(&EndpointFlag::Signal) && flags.contains(&EndpointFlag::Fullmesh) {
        problems.add(at, key, "signal and fullmesh exclude each other", "remove one of them");
    }
}

fn congestion_control(host: &file::Host, key: &str, problems: &mut Problems) -> Option<String> {
    let name = host.congestion_control.as_ref()?;
    check_congestion_control(name, &format!("{key}.congestion_control"), problems);
    Some(name.value.clone())
}

/// Checks that every host that sends TCP names its congestion control, since defaults differ from machine to machine.
pub(super) fn check_senders(topology: &Topology, traffic: &Traffic, problems: &mut Problems) {
    if !traffic.congestion_controls.is_empty() {
        return;
    }
    let background = traffic.background.iter().filter(|it| it.protocol == Protocol::Tcp);
    let directions = traffic.directions.iter().chain(background.map(|it| &it.direction));
    let senders: BTreeSet<_> = directions.map(|direction| direction.from).collect();
    let nameless =
        |index: &usize| topology.hosts.get(*index).filter(|host| host.congestion_control.is_none());
    for (index, host) in senders.iter().filter_map(|index| Some((index, nameless(index)?))) {
        let what = format!("{:?} sends, with whatever this machine's default is", host.name.value);
        let key = format!("topology.hosts[{index}].congestion_control");
        problems.add(host.name.referenced, key, what, "add it, such as congestion_control: cubic");
    }
}

fn receive_buffer(host: &file::Host, key: &str, problems: &mut Problems) -> Option<u64> {
    let buffer = host.receive_buffer.as_ref()?;
    if !RECEIVE_BUFFER_BYTES.contains(&buffer.value.0) {
        let what = format!("{} bytes are out of range", buffer.value.0);
        let remedy = format!("give {} to {} bytes", RECEIVE_BUFFER_BYTES.start(), RECEIVE_BUFFER_BYTES.end());
        problems.add(buffer.referenced, format!("{key}.receive_buffer"), what, remedy);
    }
    Some(buffer.value.0)
}

/// Checks the name of a congestion control.
pub(super) fn check_congestion_control(name: &Spanned<String>, key: &str, problems: &mut Problems) {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.value.is_empty() || !name.value.bytes().all(valid) {
        let what = format!("{:?} is not the name of a congestion control", name.value);
        problems.add(name.referenced, key, what, "name one such as reno, cubic, bbr or lia");
    }
}

/// The congestion controls of all hosts, each in turn.
pub(super) fn congestion_controls(traffic: &file::Traffic, problems: &mut Problems) -> Vec<String> {
    let Some(controls) = &traffic.congestion_control else { return Vec::new() };
    let key = "traffic.congestion_control";
    let mut seen = BTreeSet::new();
    for name in &controls.value.0 {
        let name =
            Spanned { value: name.clone(), referenced: controls.referenced, defined: controls.defined };
        check_congestion_control(&name, key, problems);
        if !seen.insert(name.value.clone()) {
            problems.add(
                name.referenced,
                key,
                format!("{} is named twice", name.value),
                "remove one of the two",
            );
        }
    }
    if controls.value.0.is_empty() {
        problems.add(controls.referenced, key, "the list is empty", "give one such as cubic");
    }
    controls.value.0.clone()
}
