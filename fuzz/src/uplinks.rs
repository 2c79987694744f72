//! Two edges with a tunnel between them, given any frames.

use std::net::IpAddr;

use braid_packet::arp::Arp;
use braid_edge_protocol::Ends;
use braid_switch::{Arrival, Offload, Packet, TunnelSettings, UplinkAddress, UplinkSettings, Uplinks};
use braid_types::{MacAddr, PortNo, Time};

const PORT: PortNo = PortNo(2);
const ADDRESSES: [[u8; 4]; 2] = [[192, 0, 2, 1], [192, 0, 2, 2]];

/// Reads frames from `bytes`, each with its offloads; every other one comes by an uplink, the others leave by the tunnel.
///
/// # Panics
///
/// If a frame that leaves by the tunnel does not come out of it, or one that was no GSO packet arrives changed or
/// repeated.
pub fn run(bytes: &[u8]) {
    let [mut near, mut far] = edges();
    let mut rest = bytes;
    while let Some((comes, packet)) = next(&mut rest) {
        if comes {
            let mut addressed = packet.clone();
            near.address(0, &mut addressed);
            near.handle_packet(Time::ZERO, 0, packet);
            near.poll_packets().for_each(drop);
            let mtu = near.ports().map(|port| port.mtu).min();
            assert!(mtu >= Some(1_280), "nobody makes it shorter than hosts may expect");
            continue;
        }
        let (length, alone) = (packet.data.len(), packet.offload.gso_type == 0);
        let sent = near.send(Time::ZERO, PORT, packet);
        let mut count = 0;
        for (_, frame) in near.poll_packets() {
            let Arrival::Inner(PORT, inner) = far.handle_packet(Time::ZERO, 0, frame) else {
                panic!("it comes out")
            };
            assert!(!alone || inner.data.len() == length, "whole");
            count += 1;
        }
        assert!(!alone || count == usize::from(sent), "once");
    }
}

fn edges() -> [Uplinks; 2] {
    [[0, 1], [1, 0]].map(|[own, other]| {
        let [src, dst] = [own, other].map(|side: usize| IpAddr::from(ADDRESSES[side]));
        let address = UplinkAddress::new(src, 24, None).expect("a prefix that fits");
        let settings = UplinkSettings { addresses: vec![address] };
        let tunnel = TunnelSettings { port: PORT, ends: Ends { src, dst }, rewrites: false };
        let mut edge = Uplinks::new(&[settings], &[tunnel]).expect("settings that go together");
        edge.set_device(0, MacAddr::from_u64(0x0200_0000_0001 + own as u64), 1_500, true);
        let asks = Arp::request(
            MacAddr::from_u64(0x0200_0000_0001 + other as u64),
            ADDRESSES[other].into(),
            ADDRESSES[own].into(),
        );
        edge.handle_packet(Time::ZERO, 0, Packet::complete(asks.frame()));
        edge.poll_packets().for_each(drop);
        edge
    })
}

fn next(rest: &mut &[u8]) -> Option<(bool, Packet)> {
    let ([kind, high, low], after) = rest.split_first_chunk()?;
    let (offload, after) = after.split_first_chunk()?;
    let length = usize::from(u16::from_be_bytes([*high, *low]) % 2_048);
    let (data, after) = after.split_at(length.min(after.len()));
    *rest = after;
    // Most are plain, so that more than their offloads is tried.
    let offload = if kind & 2 == 0 { Offload::default() } else { Offload::from_bytes(*offload) };
    Some((kind & 1 == 0, Packet { data: data.to_vec(), offload }))
}
