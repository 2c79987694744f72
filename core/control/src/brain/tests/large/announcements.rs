//! Hosts that announce themselves in a large network.

use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::time::Duration;

use braid_packet::arp::Arp;
use braid_topology::generate::{Links, fat_tree};
use braid_types::{MacAddr, SwitchPort};

use super::Large;
use crate::event::Event;
use crate::settings::Settings;

/// Lets the host at a port announce itself, and returns the commands that this costs.
fn announce(network: &mut Large, number: u32, at: SwitchPort) -> u64 {
    let (mac, ip) =
        (MacAddr::from_u64(0x00aa_0000_0000 + u64::from(number)), Ipv4Addr::from(0x0a00_0000 + number));
    let data = Cow::Owned(Arp::request(mac, ip, ip).frame());
    let before = network.commands;
    network.tell(&Event::PacketIn { dpid: at.dpid, in_port: at.port, table: 0, data });
    network.commands - before
}

#[test]
fn announcements_cost_each_host_the_same_however_many_there_are() {
    let blueprint = fat_tree(8, Links::default()).expect("a size that there is");
    let mut network = Large::of(&blueprint, Settings::default());
    network.join_all();
    assert!(network.map_within(Duration::from_secs(20)));
    network.advance(Duration::from_secs(10));
    let ports = network.host_ports(&blueprint);
    assert_eq!(ports.len(), 128);
    let costs: Vec<_> = (1..).zip(ports).map(|(number, at)| announce(&mut network, number, at)).collect();
    assert_eq!(network.brain.sizes().hosts, 128);
    let most = costs.into_iter().max().unwrap_or_default();
    assert!(most <= 8, "{most} commands for an announcement");
}
