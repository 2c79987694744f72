//! Packets too big for a port: they are fragmented, if their senders allow it.

use std::ops::Range;

use braid_packet::VlanTag;
use braid_switch::{Offload, Packet, PortDescription};
use braid_types::PortNo;
use proptest::prelude::*;

use crate::bench::{Bench, output};
use crate::tunnels::{datagram, far, folded, frames, near};

const FLAGS: Range<usize> = 20..22;
const MORE: u16 = 0x2000;

/// A datagram that may be cut, with `options` in its IP header.
fn packet(payload: &[u8], options: &[u8]) -> Vec<u8> {
    let mut frame = datagram(40_000, 7, payload);
    frame.splice(34..34, options.iter().copied());
    frame[14] += (options.len() / 4) as u8;
    let total = (frame.len() - 14) as u16;
    frame[16..18].copy_from_slice(&total.to_be_bytes());
    placed(frame, 0)
}

/// The same at this place of a longer one.
fn placed(mut frame: Vec<u8>, place: u16) -> Vec<u8> {
    frame[FLAGS].copy_from_slice(&place.to_be_bytes());
    let length = usize::from(frame[14] & 0xf) * 4;
    frame[24..26].fill(0);
    let sum = !folded(&frame[14..14 + length]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame
}

fn bench(mtu: u32) -> Bench {
    let mut bench = Bench::new();
    bench.limit(2, mtu);
    bench.all_do(&[output(2)]);
    bench
}

fn place(frame: &[u8]) -> u16 {
    u16::from_be_bytes(frame[FLAGS].try_into().unwrap())
}

/// The packet whose fragments these are, in order and none longer than `mtu`.
fn whole(fragments: &[Vec<u8>], mtu: usize) -> Vec<u8> {
    let headers = 14 + usize::from(fragments[0][14] & 0xf) * 4;
    let mut whole = fragments[0][..headers].to_vec();
    let first = place(&fragments[0]) & !MORE;
    for fragment in fragments {
        let headers = 14 + usize::from(fragment[14] & 0xf) * 4;
        assert!(fragment.len() <= 14 + mtu, "{} bytes", fragment.len());
        // Who it is from and for, which packet of theirs, how far it may go.
        for same in [0..15, 18..20, 22..24, 26..34] {
            assert_eq!(fragment[same.clone()], fragments[0][same]);
        }
        assert_eq!(folded(&fragment[14..headers]), 0xffff, "the header's checksum");
        assert_eq!(usize::from(u16::from_be_bytes([fragment[16], fragment[17]])), fragment.len() - 14);
        assert_eq!(usize::from((place(fragment) & !MORE) - first) * 8, whole.len() - headers);
        whole.extend(&fragment[headers..]);
    }
    let (last, others) = fragments.split_last().unwrap();
    assert!(others.iter().all(|it| place(it) & MORE != 0), "more come after these");
    let total = (whole.len() - 14) as u16;
    whole[16..18].copy_from_slice(&total.to_be_bytes());
    placed(whole, first | place(last) & MORE)
}

proptest! {
    #[test]
    fn fragments_fit_and_are_the_packet_together(length in 1..9_000_usize, mtu in 68..2_000_usize, start in 0..900_u16, more: bool) {
        let payload: Vec<_> = (0..length).map(|at| at as u8).collect();
        let sent = placed(packet(&payload, &[]), start | if more { MORE } else { 0 });
        let fragments = frames(bench(mtu as u32).passes(1, &sent));
        prop_assert_eq!(fragments.len() == 1, sent.len() <= 14 + mtu);
        prop_assert_eq!(whole(&fragments, mtu), sent);
    }
}

#[test]
fn tags_stay_and_what_is_counted_is_what_left() {
    let mut bench = bench(1_000);
    let mut sent = packet(&[7; 2_500], &[]);
    VlanTag { id: 42, pcp: 0, dei: false }.push(&mut sent);
    let fragments = frames(bench.passes(1, &sent));
    assert_eq!(fragments.len(), 3);
    assert!(fragments.iter().all(|it| it[12..18] == sent[12..18] && it.len() <= 1_018));
    let counters = bench.switch.port_counters(PortNo(2)).unwrap();
    let bytes: usize = fragments.iter().map(Vec::len).sum();
    assert_eq!((counters.tx_packets, counters.tx_bytes, counters.tx_dropped), (3, bytes as u64, 0));
}

#[test]
fn later_fragments_have_only_the_options_that_are_for_all() {
    // Record route, router alert, and one that is cut off.
    let options = [7, 3, 4, 148, 4, 0, 0, 1, 68, 4, 5, 0, 7, 40, 4, 0];
    let fragments = frames(bench(600).passes(1, &packet(&[7; 1_200], &options)));
    assert_eq!(whole(&fragments, 600), packet(&[7; 1_200], &options));
    assert_eq!(fragments[1][34..50], [1, 1, 1, 148, 4, 0, 0, 1, 1, 1, 1, 1, 7, 40, 4, 0]);
}

#[test]
fn of_super_frames_each_part_is_cut() {
    let mut bench = bench(600);
    let mut data = packet(&[7; 2_000], &[]);
    data[40..42].fill(0);
    let offload = Offload {
        needs_checksum: true,
        gso_type: 5,
        header_len: 42,
        gso_size: 1_000,
        csum_start: 34,
        csum_offset: 6,
        ..Offload::default()
    };
    bench.switch.handle_packet(bench.now, PortNo(1), Packet { data, offload });
    let fragments = frames(bench.leaves());
    assert_eq!(fragments.len(), 4);
    for (id, parts) in fragments.chunks(2).enumerate() {
        let sent = placed(datagram(40_000, 7 + id as u16, &[7; 1_000]), 0);
        assert_eq!(whole(parts, 600), sent, "part {id}");
    }
}

#[test]
fn what_is_to_be_encapsulated_is_cut_before() {
    for v6 in [false, true] {
        let (mut near, mut far) = (near(v6), far());
        // The shortest path counts: what is sprayed goes by all.
        near.limit(2, 1_000);
        near.limit(3, 1_400);
        let sent = packet(&[7; 3_000], &[]);
        let passed = near.passes(1, &sent);
        assert!(passed.iter().all(|(_, frame)| frame.len() <= 1_014));
        let room = 1_000 - if v6 { 52 } else { 32 };
        let out: Vec<_> = passed.iter().flat_map(|(port, frame)| frames(far.passes(*port, frame))).collect();
        assert_eq!((out.len(), whole(&out, room)), (4, sent));
    }
}

#[test]
fn a_packet_is_whole_for_the_next_port_and_tags_count_where_they_take_room() {
    let mut bench = bench(1_000);
    bench.all_do(&[output(2), output(3)]);
    let mut sent = packet(&[7; 1_500], &[]);
    let leaves = bench.passes(1, &sent);
    assert_eq!(leaves.iter().map(|(port, _)| *port).collect::<Vec<_>>(), [2, 2, 3]);
    assert_eq!(leaves[2].1, sent);
    let description = PortDescription { up: true, mtu: 1_000, is_tunnel: true, ..PortDescription::default() };
    bench.switch.set_port(bench.now, PortNo(2), description);
    VlanTag { id: 42, pcp: 0, dei: false }.push(&mut sent);
    let leaves = bench.passes(1, &sent);
    assert_eq!(leaves.len(), 3);
    assert!(leaves[..2].iter().all(|(_, frame)| frame.len() <= 1_014), "with Ethernet's header and the tag");
}

#[test]
fn what_is_corrupted_or_would_be_crumbs_is_not_cut() {
    let mut corrupted = packet(&[7; 1_500], &[]);
    corrupted[19] ^= 1;
    assert_eq!(bench(1_000).passes(1, &corrupted), []);
    assert_eq!(bench(67).passes(1, &packet(&[7; 1_500], &[])), []);
}

#[test]
fn fragments_of_a_flow_keep_their_place_among_its_datagrams() {
    for is_cut_by_host in [false, true] {
        let (mut near, mut far) = (near(false), far());
        [2, 3].into_iter().for_each(|port| near.limit(port, if is_cut_by_host { 0 } else { 1_000 }));
        let small = |id: u16| if is_cut_by_host { Vec::new() } else { vec![datagram(40_000, id, b"small")] };
        let large = |id: u16| match is_cut_by_host {
            false => vec![packet(&[id as u8; 2_500], &[])],
            true => [MORE, 60].map(|place| placed(datagram(40_000, id, &[id as u8; 472]), place)).into(),
        };
        let sent: Vec<_> = (0..10).flat_map(|id| [large(id), small(id)].concat()).collect();
        let passed: Vec<_> = sent.iter().flat_map(|frame| near.passes(1, frame)).collect();
        let of = |path| passed.iter().filter(move |(port, _)| *port == path);
        let mut arrives = |(port, frame): &(u32, Vec<u8>)| frames(far.passes(*port, frame));
        let out: Vec<_> = of(2).chain(of(3)).flat_map(&mut arrives).collect();
        let mut straight = crate::tunnels::far();
        let wanted: Vec<_> =
            passed.iter().flat_map(|(port, frame)| frames(straight.passes(*port, frame))).collect();
        assert!(out == wanted && of(2).count() > 5 && of(3).count() > 5, "cut by the host: {is_cut_by_host}");
    }
}
