//! The number of rules in core switches: one connection of each host of a FatTree, with eight subflows.

use std::collections::BTreeMap;

use braid_packet::TcpFlags;
use braid_packet::mptcp::{Key, MpJoin, Version};
use serde_json::Value;

use braid_load::Placed;

use crate::fat_tree::{deploy, fastrand};
use crate::process::Process;
use crate::report;
use braid_load::Network;
use braid_load::packets::{ADMIT, Host, MP_CAPABLE, SYN_ACK, capable_answer, opening, packet_in};

const SUBFLOWS: u16 = 8;
/// Switches are numbered from 1, those of the core first.
const CORE: std::ops::RangeInclusive<u64> = 1..=16;

pub(crate) fn run() {
    println!("FatTree, k = 8: a connection of each host, {SUBFLOWS} subflows");
    // So that every connection crosses the core.
    measure("to the host half the network away", |hosts| {
        let peers = hosts.iter().cycle().skip(hosts.len() / 2);
        hosts.iter().copied().zip(peers.copied()).collect()
    });
    measure("to any host at another switch", |hosts| {
        let mut random = fastrand(1);
        let mut order = hosts.to_vec();
        while pairs(&order).any(|(from, to)| from.0 == to.0) {
            (1..order.len()).rev().for_each(|last| order.swap(last, random() % (last + 1)));
        }
        pairs(&order).collect()
    });
}

/// Each host with the one that comes next.
fn pairs(order: &[Placed]) -> impl Iterator<Item = (Placed, Placed)> {
    order.iter().copied().zip(order.iter().copied().cycle().skip(1))
}

fn measure(what: &str, pairs: impl Fn(&[Placed]) -> Vec<(Placed, Placed)>) {
    let controller = Process::start("controller");
    let (mut network, hosts) = deploy(&controller);
    for (number, pair) in (1..).zip(pairs(&hosts)) {
        open(&mut network, pair, Key(number));
    }
    let crossing = crossing(&report::list(&controller, "transfers"));
    let rules = CORE.map(|dpid| network.switches[dpid as usize - 1].fabric.len());
    let streams: usize = CORE.filter_map(|dpid| crossing.get(&dpid)).sum();
    let (sum, most) = (rules.clone().sum::<usize>(), rules.max().unwrap_or_default());
    println!(
        "  {what:35} {sum} rules in {} core switches, {most} at most; {streams} directions of subflows cross them; {:.3} rules each",
        CORE.count(),
        sum as f64 / streams as f64,
    );
}

/// The handshake of a connection, and then a subflow after the other.
fn open(network: &mut Network, ((from_at, from), (to_at, to)): (Placed, Placed), key: Key) {
    let syn = |port, options: &[u8]| (from_at, sent(from, to, (port, 5_201), TcpFlags::SYN, options));
    network.tell([syn(1_024, &MP_CAPABLE)]).expect("a controller that answers");
    network
        .tell([(to_at, sent(to, from, (5_201, 1_024), SYN_ACK, &capable_answer(key)))])
        .expect("a controller that answers");
    for port in 1_025..1_024 + SUBFLOWS {
        network.tell([syn(port, &join(key))]).expect("a controller that answers");
        network
            .tell([(to_at, sent(to, from, (5_201, port), SYN_ACK, &join_answer()))])
            .expect("a controller that answers");
    }
}

fn sent(from: Host, to: Host, ports: (u16, u16), flags: TcpFlags, options: &[u8]) -> Vec<u8> {
    packet_in(from.port, ADMIT, &opening(from, to, ports, flags, options))
}

fn join(key: Key) -> Vec<u8> {
    let mut option = Vec::new();
    let token = key.token(Version::V1);
    MpJoin::Syn { backup: false, address_id: 1, token, nonce: 7 }.encode(&mut option);
    option
}

fn join_answer() -> Vec<u8> {
    let mut option = Vec::new();
    MpJoin::SynAck { backup: false, address_id: 1, hmac: 7, nonce: 7 }.encode(&mut option);
    option
}

/// How many directions of streams cross each switch.
fn crossing(transfers: &[Value]) -> BTreeMap<u64, usize> {
    let streams = transfers.iter().filter_map(|it| it["streams"].as_array()).flatten();
    let switches = streams.filter_map(|it| it["path"].as_array()).flatten();
    let mut crossing = BTreeMap::new();
    for dpid in switches.filter_map(|it| u64::from_str_radix(it.as_str()?, 16).ok()) {
        *crossing.entry(dpid).or_default() += 2;
    }
    crossing
}
