//! Forwarding through the tables: priorities, metadata, packet-ins and packet-outs, ports that are down.

use braid_openflow::{Action, EthType, Instruction, List, MaxLen, OxmField, TableId};
use braid_packet::{TcpFlags, build};
use braid_types::{MacAddr, PortNo};

use crate::bench::{Bench, output, tcp, tcp_v4, tuple};

#[test]
fn what_no_flow_matches_is_dropped() {
    assert!(Bench::new().passes(1, &tcp_v4(0)).is_empty());
}

#[test]
fn a_packet_leaves_by_the_port_of_the_flow_with_the_highest_priority() {
    let mut bench = Bench::new();
    bench.all_do(&[output(2)]);
    let only = [
        OxmField::EthType(EthType::IPV4),
        OxmField::IpProto(6),
        OxmField::Ipv4Dst("10.0.0.2".parse::<std::net::Ipv4Addr>().unwrap().into()),
        OxmField::TcpDst(5_201.into()),
    ];
    bench.flow(0, 9, &only, &[Instruction::ApplyActions(List::from(&[output(3)]))]);
    bench.flow(0, 5, &only[..1], &[Instruction::ApplyActions(List::from(&[output(4)]))]);
    assert_eq!(bench.ports(1, &tcp_v4(0)), [3]);
    assert_eq!(bench.ports(1, &tcp("10.0.0.1", "10.0.0.3", 0)), [4]);
    assert_eq!(bench.ports(1, &tcp("fd00::1", "fd00::2", 0)), [2]);
}

#[test]
fn ipv6_and_flags_match() {
    let mut bench = Bench::new();
    let fields = [
        OxmField::EthType(EthType::IPV6),
        OxmField::IpProto(6),
        OxmField::Ipv6Src("fd00::1".parse::<std::net::Ipv6Addr>().unwrap().into()),
        OxmField::TcpFlags(braid_openflow::Masked::new(
            braid_openflow::TcpFlags::SYN,
            braid_openflow::TcpFlags::SYN | braid_openflow::TcpFlags::ACK,
        )),
    ];
    bench.flow(0, 9, &fields, &[Instruction::ApplyActions(List::from(&[output(3)]))]);
    let syn = build::tcp(tuple("fd00::1", "fd00::2")).flags(TcpFlags::SYN).frame();
    assert_eq!(bench.ports(1, &syn), [3]);
    let answer = build::tcp(tuple("fd00::1", "fd00::2")).flags(TcpFlags::SYN_ACK).frame();
    assert_eq!(bench.ports(1, &answer), [0; 0]);
}

#[test]
fn tables_follow_each_other_and_metadata_goes_with_the_packet() {
    use braid_openflow::{Masked, Metadata};
    let mut bench = Bench::new();
    let write = Instruction::WriteMetadata { metadata: Metadata(0x12), metadata_mask: Metadata(0xff) };
    bench.flow(0, 1, &[], &[write, Instruction::GotoTable(TableId(5))]);
    let marked = [OxmField::Metadata(Masked::new(Metadata(0x10), Metadata(0xf0)))];
    bench.flow(5, 1, &marked, &[Instruction::WriteActions(List::from(&[output(4)]))]);
    assert_eq!(bench.ports(1, &tcp_v4(0)), [4]);
}

#[test]
fn a_table_sees_what_an_earlier_one_has_written() {
    let mut bench = Bench::new();
    let label = MacAddr::from_u64(0x02b7_0000_0007);
    let set = [Action::SetField(OxmField::EthDst(label.into()))];
    bench.flow(0, 1, &[], &[Instruction::ApplyActions(List::from(&set)), Instruction::GotoTable(TableId(4))]);
    let labelled = [OxmField::EthDst(label.into())];
    bench.flow(4, 1, &labelled, &[Instruction::ApplyActions(List::from(&[output(3)]))]);
    let out = bench.passes(1, &tcp_v4(0));
    assert_eq!((out[0].0, &out[0].1[..6]), (3, &label.octets()[..]));
}

#[test]
fn a_packet_does_not_go_back_unless_told_so() {
    let mut bench = Bench::new();
    bench.all_do(&[output(1), Action::output(PortNo::IN_PORT)]);
    assert_eq!(bench.ports(1, &tcp_v4(0)), [1]);
    bench.all_do(&[Action::output(PortNo::FLOOD)]);
    assert_eq!(bench.ports(2, &tcp_v4(0)), [1, 3, 4]);
}

#[test]
fn each_output_has_the_packet_as_it_was_then() {
    let mut bench = Bench::new();
    let changed = MacAddr::from_u64(0x02b7_0000_0007);
    bench.all_do(&[output(2), Action::SetField(OxmField::EthDst(changed.into())), output(3), output(4)]);
    let frame = tcp_v4(0);
    let out = bench.passes(1, &frame);
    assert_eq!(out.iter().map(|(port, _)| *port).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!(out[0].1, frame);
    assert_eq!((&out[1].1[..6], &out[2].1), (&changed.octets()[..], &out[1].1));
}

#[test]
fn a_port_that_is_down_or_closed_sends_nothing() {
    let mut bench = Bench::new();
    bench.all_do(&[output(2)]);
    bench.port(2, false);
    bench.heard();
    assert!(bench.passes(1, &tcp_v4(0)).is_empty());
    let counters = bench.switch.port_counters(PortNo(2)).unwrap();
    assert_eq!((counters.tx_packets, counters.tx_dropped), (0, 1));
}

#[test]
fn the_controller_gets_packets_and_sends_them_back_through_the_tables() {
    let mut bench = Bench::new();
    bench.all_do(&[Action::Output { port: PortNo::CONTROLLER, max_len: MaxLen(60) }]);
    let frame = tcp_v4(0);
    assert!(bench.passes(3, &frame).is_empty());
    let heard = bench.heard();
    assert_eq!((&heard[0]["type"], &heard[0]["total_len"]), (&"packet_in".into(), &frame.len().into()));
    let from_controller = [OxmField::InPort(PortNo::CONTROLLER)];
    bench.flow(0, 9, &from_controller, &[Instruction::ApplyActions(List::from(&[output(2)]))]);
    let table = [Action::output(PortNo::TABLE)];
    let out = braid_openflow::PacketOut::new(&frame, &table);
    bench.tell(&braid_openflow::Message::PacketOut(out));
    assert_eq!(bench.leaves(), [(2, frame)]);
}

#[test]
fn tables_that_send_packets_to_themselves_end() {
    let mut bench = Bench::new();
    bench.all_do(&[Action::output(PortNo::TABLE), output(2)]);
    assert!(bench.ports(1, &tcp_v4(0)).len() < 10);
}
