//! Prefetching of the memory that packets will need.
//!
//! A packet needs its hosts and a route, which lie anywhere in memory. Waiting for that memory is most of a
//! packet's cost under load. Lookups of different packets are independent, and memory serves them in parallel
//! if they follow each other closely. So they run before the first packet is handled, one kind after the
//! other: a loop that did all for one packet would be too long for a processor to see the next one's.

use std::hint::black_box;
use std::net::IpAddr;

use braid_openflow::{PacketIn, frames};
use braid_packet::ip_addresses;
use braid_topology::{Host, Topology};
use smallvec::SmallVec;

use crate::routing::{RouteKey, Routing};

/// Packets whose lookups run together. More would not fit into what a processor has under way.
const BATCH: usize = 32;

/// Reads what the packets in a switch's messages will need. Changes nothing.
pub(super) fn prefetch(topology: &Topology, routing: &Routing, messages: &[u8]) {
    let messages = frames(messages).map_while(Result::ok);
    let mut packets = messages.filter_map(|message| ip_addresses(PacketIn::frame_of(message.bytes)?)).fuse();
    loop {
        let batch: SmallVec<[[IpAddr; 2]; BATCH]> = packets.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return;
        }
        black_box(read(topology, routing, &batch));
    }
}

/// How many of some packets can be answered from known hosts and routes.
fn read(topology: &Topology, routing: &Routing, packets: &[[IpAddr; 2]]) -> usize {
    let hosts: SmallVec<[Option<&Host>; 2 * BATCH]> =
        topology.hosts_with_addresses(packets.as_flattened()).collect();
    let ends = || packets.iter().zip(hosts.as_chunks().0);
    let known =
        ends().filter(|([src, _], [from, _])| from.is_some_and(|host| host.addresses.last() == Some(src)));
    let keys = ends().filter_map(|([_, dst], [_, to])| Some(RouteKey { dst: *dst, dpid: (*to)?.at.dpid }));
    known.count() + routing.count_installed(&keys.collect::<SmallVec<[_; BATCH]>>())
}
