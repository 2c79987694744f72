//! Datagrams numbered in GRE at one edge, and resequenced at the other.

use braid_edge_protocol::Ends;
use braid_edge_protocol::extension::Extension;
use braid_openflow::{Action, Bucket, GroupId, GroupType};
use braid_spray::{Policy, Settings};
use braid_switch::{Offload, Packet};
use braid_types::PortNo;

use crate::bench::{Bench, output, tcp_v4};

const GROUP: GroupId = GroupId(1);

fn ends(v6: bool) -> Vec<Ends> {
    let end = |path: u8, side: u8| match v6 {
        false => format!("192.0.2.{}", path * 16 + side).parse().unwrap(),
        true => format!("2001:db8:{path}::{side}").parse().unwrap(),
    };
    [1, 2].map(|path| Ends { src: end(path, 1), dst: end(path, 2) }).into()
}

pub(crate) fn near(v6: bool) -> Bench {
    let mut bench = Bench::new();
    let outputs = [[output(2)], [output(3)]];
    let buckets =
        [0, 1].map(|path| Bucket { weight: 1, watch_port: PortNo::ANY, ..Bucket::new(&outputs[path]) });
    bench.group(1, GroupType::Select, &buckets);
    bench.all_do(&[Action::Group(GROUP)]);
    bench.extend(&Extension::SetSpray { group: GROUP, policy: Policy::Weighted { burst: 0 } });
    bench.extend(&Extension::SetTunnel { group: GROUP, ends: Some(ends(v6)) });
    bench
}

pub(crate) fn far() -> Bench {
    let mut bench = Bench::new();
    bench.group(1, GroupType::Indirect, &[Bucket::new(&[output(1)])]);
    bench.all_do(&[Action::Group(GROUP)]);
    bench.extend(&Extension::SetResequence { group: GROUP, settings: Some(Settings::default()) });
    bench.extend(&Extension::SetTunnel { group: GROUP, ends: Some(Ends::ANY.into()) });
    bench
}

pub(crate) fn folded(bytes: &[u8]) -> u16 {
    let mut sum: u32 =
        bytes.chunks(2).map(|it| u32::from(it[0]) << 8 | u32::from(*it.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// A datagram over IPv4 with its checksums, from a port of the sender's.
pub(crate) fn datagram(port: u16, id: u16, payload: &[u8]) -> Vec<u8> {
    let mut ip = [0x45, 0xb8, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ip[2..4].copy_from_slice(&(28 + payload.len() as u16).to_be_bytes());
    ip[4..6].copy_from_slice(&id.to_be_bytes());
    let sum = !folded(&ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let length = 8 + payload.len() as u16;
    let mut udp = [&port.to_be_bytes(), &[0x01, 0xbb], &length.to_be_bytes()[..], &[0, 0], payload].concat();
    let pseudo = [&ip[12..20], &[0, 17], &length.to_be_bytes()].concat();
    let sum = !folded(&[pseudo.as_slice(), &udp].concat());
    udp[6..8].copy_from_slice(&sum.to_be_bytes());
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0], &ip[..], &udp].concat()
}

pub(crate) fn frames(leaves: Vec<(u32, Vec<u8>)>) -> Vec<Vec<u8>> {
    leaves.into_iter().map(|(_, frame)| frame).collect()
}

#[test]
fn datagrams_come_out_as_they_went_in_and_in_order_though_one_path_is_slower() {
    for v6 in [false, true] {
        let (mut near, mut far) = (near(v6), far());
        let sent: Vec<_> = (0..20).map(|id| datagram(40_000, id, &[id as u8; 900])).collect();
        let passed: Vec<_> = sent.iter().flat_map(|frame| near.passes(1, frame)).collect();
        assert_eq!(passed.iter().filter(|(port, _)| *port == 2).count(), 10);
        let family = if v6 { [0x86, 0xdd] } else { [8, 0] };
        assert!(passed.iter().all(|(_, frame)| frame[12..14] == family), "it is encapsulated");
        let mut out = Vec::new();
        // What goes by port 3 arrives when all of port 2 has.
        for path in [2, 3] {
            for (port, frame) in passed.iter().filter(|(port, _)| *port == path) {
                out.extend(frames(far.passes(*port, frame)));
            }
        }
        assert_eq!(out, sent, "IPv6 {v6}");
    }
}

#[test]
fn what_is_encapsulated_is_gre_with_key_and_number_between_the_ends() {
    let mut near = near(false);
    let numbers: Vec<_> = [40_000, 40_000, 40_001]
        .into_iter()
        .flat_map(|port| near.passes(1, &datagram(port, 1, b"?")))
        .map(|(port, frame)| {
            let outer = &frame[14..34];
            assert_eq!(folded(outer), 0xffff, "the outer header's checksum");
            assert_eq!((outer[1], outer[9], outer[15]), (0xb8, 47, (port as u8 - 1) * 16 + 1));
            assert_eq!(frame[34..38], [0x30, 0, 8, 0]);
            let word = |at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().unwrap());
            (word(38), word(42))
        })
        .collect();
    assert_eq!(numbers[0], (numbers[1].0, numbers[1].1 - 1));
    assert!(numbers[2].0 != numbers[0].0 && numbers[2].1 == 0);
}

#[test]
fn what_follows_a_group_that_takes_packets_out_has_them_as_they_came() {
    let (mut near, mut far) = (near(false), Bench::new());
    far.group(1, GroupType::Indirect, &[Bucket::new(&[output(1)])]);
    far.all_do(&[Action::Group(GROUP), output(4)]);
    far.extend(&Extension::SetResequence { group: GROUP, settings: Some(Settings::default()) });
    far.extend(&Extension::SetTunnel { group: GROUP, ends: Some(ends(false)) });
    let sent = datagram(40_000, 1, b"data");
    let (_, gre) = near.passes(1, &sent).remove(0);
    assert_eq!(far.passes(2, &gre), [(1, sent), (4, gre)]);
}

#[test]
fn super_frames_of_datagrams_are_cut_first() {
    let (mut near, mut far) = (near(false), far());
    let parts: Vec<_> = (0..3).map(|id| datagram(40_000, id, &[7; 500])).collect();
    let mut whole = datagram(40_000, 0, &[7; 1_500]);
    whole[40..42].copy_from_slice(&[0, 0]);
    let offload = Offload {
        needs_checksum: true,
        gso_type: 5,
        header_len: 42,
        gso_size: 500,
        csum_start: 34,
        csum_offset: 6,
        ..Offload::default()
    };
    near.switch.handle_packet(near.now, PortNo(1), Packet { data: whole, offload });
    let passed = near.leaves();
    assert_eq!(passed.len(), 3);
    let out: Vec<_> = passed.iter().flat_map(|(port, frame)| frames(far.passes(*port, frame))).collect();
    assert_eq!(out, parts);
}

#[test]
fn tcp_and_what_is_not_ip_go_as_they_are_and_strange_gre_stays_closed() {
    let (mut near, mut far) = (near(false), far());
    let arp = [&[0xff; 6][..], &[2; 6], &[8, 6], &[0; 46]].concat();
    for frame in [tcp_v4(0), arp] {
        assert_eq!(frames(near.passes(1, &frame)), [frame]);
    }
    let gre = near.passes(1, &datagram(40_000, 1, b"data")).remove(0).1;
    for (place, value) in [(34, 0xb0), (35, 1), (36, 0x65), (20, 0x20)] {
        let mut strange = gre.clone();
        strange[place] = value;
        assert_eq!(frames(far.passes(2, &strange)), [strange]);
    }
    (0..gre.len()).for_each(|length| _ = far.passes(2, &gre[..length]));
}

#[test]
fn packets_are_taken_out_only_if_they_came_between_the_given_ends() {
    for v6 in [false, true] {
        let (mut near, mut far) = (near(v6), far());
        far.extend(&Extension::SetTunnel { group: GROUP, ends: Some(ends(v6)) });
        let sent = datagram(40_000, 1, b"data");
        let (_, gre) = near.passes(1, &sent).remove(0);
        assert_eq!(frames(far.passes(2, &gre)), [sent]);
        for place in if v6 { [37, 53] } else { [29, 33] } {
            let mut foreign = gre.clone();
            foreign[place] ^= 0x40;
            assert_eq!(frames(far.passes(2, &foreign)), [foreign]);
        }
    }
}

#[test]
fn who_may_send_what_is_taken_out_has_to_be_said() {
    let (mut near, mut far) = (near(false), Bench::new());
    far.group(1, GroupType::Indirect, &[Bucket::new(&[output(1)])]);
    far.all_do(&[Action::Group(GROUP)]);
    far.extend(&Extension::SetResequence { group: GROUP, settings: Some(Settings::default()) });
    assert_refused(&mut far, &Extension::SetTunnel { group: GROUP, ends: Some(Vec::new()) });
    let sent = datagram(40_000, 1, b"data");
    let (_, gre) = near.passes(1, &sent).remove(0);
    assert_eq!(frames(far.passes(2, &gre)), std::slice::from_ref(&gre), "it stays as it came");
    far.extend(&Extension::SetTunnel { group: GROUP, ends: Some(Ends::ANY[1..].into()) });
    assert_eq!(frames(far.passes(2, &gre)), std::slice::from_ref(&gre), "of the other family only");
    far.extend(&Extension::SetTunnel { group: GROUP, ends: Some(Ends::ANY.into()) });
    assert_eq!(frames(far.passes(2, &gre)), [sent]);
}

fn assert_refused(bench: &mut Bench, extension: &Extension) {
    let body = extension.body();
    let heard = bench.say(&braid_openflow::Message::Experimenter(extension.message(&body)));
    assert_eq!(heard.len(), 1, "an error");
}

#[test]
fn ends_have_to_go_with_the_group() {
    let mut bench = near(false);
    let any = Ends::ANY.to_vec();
    for (group, ends) in [(1, vec![ends(false)[0]]), (9, ends(false)), (1, Vec::new()), (1, any)] {
        assert_refused(&mut bench, &Extension::SetTunnel { group: GroupId(group), ends: Some(ends) });
    }
    bench.extend(&Extension::SetTunnel { group: GROUP, ends: None });
    let frame = datagram(40_000, 1, b"plain");
    assert_eq!(frames(bench.passes(1, &frame)), [frame]);
}
