//! Two edges with a tunnel between them, given any frames.

use std::net::IpAddr;

use braid_packet::arp::Arp;
use braid_edge_protocol::Ends;
use braid_switch::{Arrival, Offload, Packet, TunnelSettings, UplinkAddress, UplinkSettings, Uplinks};
use braid_types::{MacAddr, PortNo, Time};

const PORT: PortNo = PortNo(2);
const ADDRESSES: [[u8; 4]; 2] = [[192, 0, 2, 1], [192, 0, 2, 2]];

/// Reads frames from `bytes`, each with its offloads; every other one comes by an uplink, the others leave by the tunnel. The first byte
/// says whether the edges rewrite.
///
/// # Panics
///
/// If a frame that leaves by a tunnel without rewriting does not come out of it, or one that was no GSO packet arrives changed or repeated.
pub fn run(bytes: &[u8]) {
    let Some((first, mut rest)) = bytes.split_first() else { return };
    let rewrites = first & 1 == 1;
    let [mut near, mut far] = edges(rewrites);
    exchange(&mut near, &mut far);
    while let Some((comes, packet)) = next(&mut rest) {
        if comes {
            let mut addressed = packet.clone();
            near.address(0, &mut addressed);
            near.handle_packet(Time::ZERO, 0, packet);
            near.poll_packets().for_each(drop);
            let mtu = near.ports(Time::ZERO).map(|port| port.mtu).min();
            assert!(mtu >= Some(1_280), "nobody makes it shorter than hosts may expect");
            continue;
        }
        let (length, alone) = (packet.data.len(), packet.offload.gso_type == 0);
        let sent = near.send(Time::ZERO, PORT, packet);
        let came_out = exchange(&mut near, &mut far);
        // An edge that rewrites cuts segments, and believes what comes from the other end's address.
        let is_plain = alone && !rewrites;
        assert!(!is_plain || came_out.iter().all(|inner| inner.data.len() == length), "whole");
        assert!(!is_plain || came_out.len() == usize::from(sent), "once");
    }
}

/// Passes frames between the edges until none is left; what comes out of the far one.
fn exchange(near: &mut Uplinks, far: &mut Uplinks) -> Vec<Packet> {
    let mut out = Vec::new();
    loop {
        let there: Vec<_> = near.poll_packets().collect();
        let back: Vec<_> = far.poll_packets().collect();
        if there.is_empty() && back.is_empty() {
            return out;
        }
        for (_, frame) in there {
            if let Arrival::Inner(PORT, inner) = far.handle_packet(Time::ZERO, 0, frame) {
                out.push(inner);
            }
        }
        back.into_iter().for_each(|(_, frame)| drop(near.handle_packet(Time::ZERO, 0, frame)));
    }
}

fn edges(rewrites: bool) -> [Uplinks; 2] {
    [[0, 1], [1, 0]].map(|[own, other]| {
        let [src, dst] = [own, other].map(|side: usize| IpAddr::from(ADDRESSES[side]));
        let address = UplinkAddress::new(src, 24, None).expect("a prefix that fits");
        let settings = UplinkSettings { addresses: vec![address] };
        let tunnel = TunnelSettings { port: PORT, ends: Ends { src, dst }, rewrites };
        let mut edge = Uplinks::new(&[settings], &[tunnel]).expect("settings that go together");
        edge.set_device(0, MacAddr::from_u64(0x0200_0000_0001 + own as u64), 1_500, true);
        let asks = Arp::request(
            MacAddr::from_u64(0x0200_0000_0001 + other as u64),
            ADDRESSES[other].into(),
            ADDRESSES[own].into(),
        );
        edge.handle_packet(Time::ZERO, 0, Packet::complete(asks.frame()));
        edge.poll_packets().for_each(drop);
        edge.handle_timeout(Time::ZERO);
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
