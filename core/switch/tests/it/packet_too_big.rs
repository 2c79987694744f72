//! Packets too big for a port: they are dropped, and their senders get ICMP.

use std::net::Ipv4Addr;
use std::time::Duration;

use braid_edge_protocol::Ends;
use braid_edge_protocol::extension::Extension;
use braid_openflow::{Action, Bucket, GroupId, GroupType, OxmField};
use braid_packet::{Frame, TcpFlags, TooBig, VlanTag, build};
use braid_spray::{Policy, Settings};
use braid_switch::{Offload, Packet, PortDescription};
use braid_types::{MacAddr, PortNo};

use crate::bench::{Bench, output, tuple};

/// A frame with so many bytes behind Ethernet's header, which nobody may cut.
fn frame(v6: bool, length: usize) -> Vec<u8> {
    let (tuple, headers) = match v6 {
        true => (tuple("fd00::1", "fd00::2"), 60),
        false => (tuple("10.0.0.1", "10.0.0.2"), 40),
    };
    let mut frame =
        build::tcp(tuple).flags(TcpFlags::ACK).numbers(1, 1).payload(&vec![7; length - headers]).frame();
    if !v6 {
        frame[20] |= 0x40;
    }
    frame
}

fn bench(mtu: u32, is_tunnel: bool) -> Bench {
    let mut bench = Bench::new();
    let mac = MacAddr::from_u64(0x0200_0000_0002);
    let description = PortDescription {
        name: "port2".into(),
        mac,
        up: true,
        kbps: 100_000,
        mtu,
        segment_mtu: 0,
        is_tunnel,
    };
    bench.switch.set_port(bench.now, PortNo(2), description);
    assert_eq!(bench.heard(), Vec::<serde_json::Value>::new(), "OpenFlow says nothing of lengths");
    bench
}

/// What the only frame that leaves says, and by which port.
fn told(leaves: Vec<(u32, Vec<u8>)>) -> Option<(u32, u32)> {
    let [(port, frame)] = leaves.as_slice() else { return None };
    Some((*port, TooBig::parse(frame)?.mtu))
}

#[test]
fn the_sender_is_told_by_the_port_by_which_it_came() {
    for v6 in [false, true] {
        let mut bench = bench(1_400, false);
        bench.all_do(&[output(2)]);
        assert_eq!(bench.ports(1, &frame(v6, 1_400)), [2]);
        assert_eq!(told(bench.passes(1, &frame(v6, 1_401))), Some((1, 1_400)));
        let counters = |port| bench.switch.port_counters(PortNo(port)).unwrap();
        assert_eq!((counters(2).tx_packets, counters(2).tx_dropped, counters(1).tx_packets), (1, 1, 1));
    }
}

#[test]
fn tags_take_from_what_goes_through_a_tunnel_and_not_from_a_link() {
    for (is_tunnel, most) in [(false, 1_400), (true, 1_396)] {
        let mut bench = bench(1_400, is_tunnel);
        bench.all_do(&[output(2)]);
        let tagged = |length| {
            let mut frame = frame(false, length);
            VlanTag { id: 42, pcp: 0, dei: false }.push(&mut frame);
            frame
        };
        assert_eq!(bench.ports(1, &tagged(most)), [2]);
        assert_eq!(told(bench.passes(1, &tagged(most + 1))), Some((1, most as u32)));
    }
}

#[test]
fn of_super_frames_what_they_will_be_cut_into_counts() {
    let mut bench = bench(1_400, false);
    bench.all_do(&[output(2)]);
    let whole = |gso_size| {
        let offload = Offload {
            needs_checksum: true,
            gso_type: 1,
            header_len: 54,
            gso_size,
            csum_start: 34,
            csum_offset: 16,
            ..Offload::default()
        };
        Packet { data: frame(false, 9_000), offload }
    };
    bench.switch.handle_packet(bench.now, PortNo(1), whole(1_360));
    assert_eq!(bench.leaves().len(), 1);
    bench.switch.handle_packet(bench.now, PortNo(1), whole(1_361));
    assert_eq!(told(bench.leaves()), Some((1, 1_400)));
}

#[test]
fn hosts_see_their_own_addresses_whatever_label_a_packet_was_given() {
    let mut bench = bench(1_400, false);
    let label = Action::SetField(OxmField::EthDst(MacAddr::from_u64(0x0600_0000_0077).into()));
    bench.all_do(&[label, output(2)]);
    let sent = frame(false, 1_500);
    let leaves = bench.passes(1, &sent);
    let (sent, answer) = (Frame::parse(&sent).unwrap(), Frame::parse(&leaves[0].1).unwrap());
    assert_eq!((answer.src, answer.dst), (sent.dst, sent.src));
}

#[test]
fn nobody_is_told_of_a_packet_that_it_has_not_sent_like_that() {
    let mut changed = bench(1_400, false);
    let other = OxmField::Ipv4Src("192.0.2.1".parse::<Ipv4Addr>().unwrap().into());
    changed.all_do(&[Action::SetField(other), output(2)]);
    assert_eq!(changed.passes(1, &frame(false, 1_500)), []);
    let mut flooded = bench(1_400, false);
    flooded.all_do(&[Action::output(PortNo::FLOOD)]);
    assert_eq!(flooded.ports(1, &frame(false, 1_500)), [3, 4], "it may have arrived elsewhere");
    let mut path = bench(1_400, false);
    path.group(1, GroupType::Indirect, &[Bucket::new(&[output(2)])]);
    path.all_do(&[Action::Group(GroupId(1))]);
    path.extend(&Extension::SetResequence { group: GroupId(1), settings: Some(Settings::default()) });
    assert_eq!(path.passes(1, &frame(false, 1_500)), [], "another edge has sprayed it");
    let mut tunnel = bench(1_400, true);
    tunnel.all_do(&[Action::output(PortNo::IN_PORT)]);
    assert_eq!(tunnel.passes(2, &frame(false, 1_500)), [], "the other edge has");
}

#[test]
fn what_is_encapsulated_may_be_so_much_shorter() {
    let mut bench = bench(1_400, false);
    let outputs = [output(2)];
    let buckets = [Bucket { weight: 1, watch_port: PortNo::ANY, ..Bucket::new(&outputs) }];
    bench.group(1, GroupType::Select, &buckets);
    bench.all_do(&[Action::Group(GroupId(1))]);
    bench.extend(&Extension::SetSpray { group: GroupId(1), policy: Policy::Weighted { burst: 0 } });
    let ends = Ends { src: "192.0.2.1".parse().unwrap(), dst: "192.0.2.2".parse().unwrap() };
    bench.extend(&Extension::SetTunnel { group: GroupId(1), ends: Some(vec![ends]) });
    // As UDP; its checksum is nobody's business here.
    let datagram = |length| {
        let mut frame = frame(false, length);
        frame[23] = 17;
        frame
    };
    assert_eq!(bench.ports(1, &datagram(1_368)), [2]);
    let leaves = bench.passes(1, &datagram(1_369));
    let said = TooBig::parse(&leaves[0].1).unwrap();
    assert_eq!((leaves[0].0, said.mtu, said.proto.0), (1, 1_368, 17));
    assert_eq!(said.dst.to_string(), "10.0.0.2");
}

#[test]
fn as_many_are_told_in_a_second_as_do_no_harm() {
    let mut bench = bench(1_400, false);
    bench.all_do(&[output(2)]);
    let long = frame(false, 1_500);
    let count = |bench: &mut Bench| (0..300).filter(|_| !bench.passes(1, &long).is_empty()).count();
    assert_eq!(count(&mut bench), 100);
    bench.now = bench.now + Duration::from_secs(1);
    assert_eq!(count(&mut bench), 100);
}
