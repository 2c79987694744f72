//! What steering costs in the tables of core switches: one connection of each host of a FatTree, with eight subflows.

use std::collections::BTreeMap;

use braid_packet::TcpFlags;
use braid_packet::mptcp::{Key, Keys, MpCapable, MpCapableFlags, MpJoin, Version};
use serde_json::Value;

use crate::fat_tree::{Placed, deploy};
use crate::network::Network;
use crate::packets::{ADMIT, Host, MP_CAPABLE, opening, packet_in};
use crate::process::Process;
use crate::report;

const SUBFLOWS: u16 = 8;
/// Switches are numbered from 1, those of the core first.
const CORE: std::ops::RangeInclusive<u64> = 1..=16;
const SYN_ACK: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0);

pub(crate) fn run() {
    let controller = Process::start("controller");
    let (mut network, hosts) = deploy(&controller);
    println!(
        "FatTree, k = 8: {} connections, each from another host to another one, {SUBFLOWS} subflows",
        hosts.len()
    );
    // To the host half the network away, so that every connection crosses the core.
    let peers = hosts.iter().cycle().skip(hosts.len() / 2);
    for (number, (from, to)) in (1..).zip(hosts.iter().zip(peers)) {
        open(&mut network, (*from, *to), Key(number));
    }
    let streams = report::list(&controller, "transfers");
    let crossing = crossing(&streams);
    let rules = |dpid: u64| network.switches[dpid as usize - 1].fabric.len();
    let mut table: Vec<_> =
        CORE.map(|dpid| (rules(dpid), crossing.get(&dpid).copied().unwrap_or(0))).collect();
    table.sort_unstable();
    let sum = table.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    println!(
        "  rules of paths in the {} core switches: {}, in one {} at most",
        table.len(),
        sum.0,
        table[table.len() - 1].0
    );
    println!(
        "  directions of subflows that cross them: {}; rules for each: {:.3}",
        sum.1,
        sum.0 as f64 / sum.1 as f64
    );
}

/// The handshake of a connection, and then a subflow after the other.
fn open(network: &mut Network, ((from_at, from), (to_at, to)): (Placed, Placed), key: Key) {
    let syn = |port, options: &[u8]| (from_at, sent(from, to, (port, 5_201), TcpFlags::SYN, options));
    network.tell([syn(1_024, &MP_CAPABLE)]);
    network.tell([(to_at, sent(to, from, (5_201, 1_024), SYN_ACK, &answer(key)))]);
    for port in 1_025..1_024 + SUBFLOWS {
        network.tell([syn(port, &join(key))]);
    }
}

fn sent(from: Host, to: Host, ports: (u16, u16), flags: TcpFlags, options: &[u8]) -> Vec<u8> {
    packet_in(from.port, ADMIT, &opening(from, to, ports, flags, options))
}

fn answer(key: Key) -> Vec<u8> {
    let mut option = Vec::new();
    MpCapable { version: Version::V1, flags: MpCapableFlags(1), keys: Keys::Sender(key) }.encode(&mut option);
    option
}

fn join(key: Key) -> Vec<u8> {
    let mut option = Vec::new();
    let token = key.token(Version::V1);
    MpJoin::Syn { backup: false, address_id: 1, token, nonce: 7 }.encode(&mut option);
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
