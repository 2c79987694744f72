//! Expansion of a scenario's `sites` key: boxes become hosts with an interface for each line.

use std::net::{IpAddr, Ipv4Addr};

use serde_saphyr::Location;

use super::address::Cidr;
use super::file::{Host, Interface, Link, Site, Topology};
use super::spanned::Spanned;

/// The interface of a box in the local network.
const LAN: &str = "lan";
/// Lines have addresses of TEST-NET-3 (RFC 5737), four each.
const FIRST_LINE: u32 = u32::from_be_bytes([203, 0, 113, 0]);
const ADDRESSES_PER_LINE: u32 = 4;
const LINE_PREFIX: u8 = 30;
/// The addresses of all lines.
pub(super) const LINES_SUBNET: Cidr =
    Cidr { address: IpAddr::V4(Ipv4Addr::from_bits(FIRST_LINE)), prefix: 24 };
/// A site has no more uplinks.
pub(super) const MAX_LINES: usize = 8;

/// Appends the boxes to the hosts, and names the interfaces of both at the ends of links.
pub(super) fn expand(topology: &mut Topology) {
    topology.ordinary_hosts = topology.hosts.len();
    let sites = std::mem::take(&mut topology.sites);
    let names: Vec<_> = sites.iter().map(|site| site.name.value.clone()).collect();
    let mut boxes: Vec<_> = sites.into_iter().map(host).collect();
    let mut lines = 0;
    for link in &mut topology.links {
        let place = |end: Option<&Spanned<String>>| {
            names.iter().position(|name| Some(name) == end.map(|it| &it.value))
        };
        let ends = [link.value.between.first(), link.value.between.get(1)].map(place);
        let name = match ends {
            [Some(a), Some(b)] if a != b => {
                lines += 1;
                let interfaces = [a, b].into_iter().zip(1..);
                interfaces
                    .for_each(|(site, end)| boxes[site].interfaces.push(line(lines, end, link.referenced)));
                line_name(lines)
            }
            _ => LAN.to_owned(),
        };
        name_ends(&mut link.value, &names, &name);
    }
    topology.hosts.append(&mut boxes);
}

/// Whether an interface of a box is the end of a line.
pub(super) fn is_line(interface: &str) -> bool {
    interface != LAN
}

fn name_ends(link: &mut Link, sites: &[String], interface: &str) {
    for end in link.between.iter_mut().filter(|end| sites.contains(&end.value)) {
        end.value = format!("{}.{interface}", end.value);
    }
}

fn host(site: Site) -> Host {
    let at = site.name.referenced;
    let lan = Interface { name: spanned(LAN.to_owned(), at), mtu: None, addresses: site.addresses };
    Host {
        name: site.name,
        router: true,
        interfaces: vec![lan],
        congestion_control: None,
        receive_buffer: None,
        mptcp: None,
    }
}

fn line_name(number: u32) -> String {
    format!("line{number}")
}

fn line(number: u32, end: u32, at: Location) -> Interface {
    let address =
        FIRST_LINE.saturating_add(ADDRESSES_PER_LINE.saturating_mul(number - 1)).saturating_add(end);
    let cidr = Cidr { address: Ipv4Addr::from_bits(address).into(), prefix: LINE_PREFIX };
    Interface { name: spanned(line_name(number), at), mtu: None, addresses: vec![spanned(cidr, at)] }
}

fn spanned<T>(value: T, at: Location) -> Spanned<T> {
    Spanned { value, referenced: at, defined: at }
}
