//! Frames of Ethernet, VLAN, IP and TCP, written by hand and captured, compared with tshark.

use braid_packet::{EtherType, Frame, IpNumber, PacketError, Payload, TcpFlags, Transport, VlanTag, build};
use braid_types::MacAddr;

use crate::common::{bytes, capture, tshark, tuple};

const ETHERNET: &str = "020000000002 020000000001";
/// From 10.0.0.1 to 10.0.0.2, 40 bytes long.
const IPV4_TCP: &str = "4500 0028 0000 4000 4006 0000 0a000001 0a000002";
/// Port 40000 to 5201, SYN.
const TCP_SYN: &str = "9c40 1451 00000001 00000000 5002 ffff 0000 0000";
/// fd00::1 to fd00::2.
const IPV6_ADDRESSES: &str = "fd000000000000000000000000000001 fd000000000000000000000000000002";

fn ipv6(len: u16, next: u8, rest: &str) -> Vec<u8> {
    bytes(&format!("{ETHERNET} 86dd 60000000 {len:04x} {next:02x} 40 {IPV6_ADDRESSES} {rest}"))
}

#[track_caller]
fn assert_syn(frame: &Frame<'_>) {
    let tcp = frame.tcp().expect("a TCP segment");
    assert_eq!((tcp.src_port, tcp.dst_port, tcp.seq, tcp.flags), (40000, 5201, 1, TcpFlags::SYN));
}

#[test]
fn a_segment_reads_down_to_its_options() {
    let options = [2, 4, 5, 0xb4, 1, 3, 3, 7];
    let there = tuple("10.0.0.1", "10.0.0.2");
    let frame = build::tcp(there)
        .flags(TcpFlags::SYN_ACK)
        .numbers(0x0102_0304, 0x0506_0708)
        .options(&options)
        .payload(b"hello")
        .frame();
    let frame = Frame::parse(&frame).unwrap();
    let tcp = frame.tcp().unwrap();
    assert_eq!(frame.five_tuple(), Some(there));
    assert_eq!((tcp.seq, tcp.ack), (0x0102_0304, 0x0506_0708));
    assert!(tcp.flags.is_syn_ack() && tcp.flags.syn() && tcp.flags.ack() && !tcp.flags.is_syn());
    assert!(!tcp.flags.fin() && !tcp.flags.rst());
    assert_eq!((tcp.options, tcp.payload_len), (options.as_slice(), 5));
    let kinds: Vec<u8> = tcp.options().map(|option| option.unwrap().kind).collect();
    assert_eq!(kinds, [2, 3]);
}

#[test]
fn built_segments_have_checksums_that_tshark_finds_good() {
    let tag = VlanTag { id: 100, pcp: 5, dei: true };
    let syn = |there| build::tcp(there).flags(TcpFlags(0xc2)).options(&[30, 4, 1, 1]).payload(b"odd");
    let frames = [
        syn(tuple("10.0.0.1", "10.0.0.2")).frame(),
        syn(tuple("fd00::1", "fd00::2")).frame(),
        syn(tuple("10.0.0.1", "10.0.0.2")).vlan(tag).frame(),
    ];
    let columns =
        ["ip.checksum.status", "tcp.checksum.status", "tcp.flags", "tcp.len", "vlan.id", "_ws.malformed"];
    let rows = tshark(&frames, &columns);
    assert_eq!(rows[0], ["1", "1", "0x00c2", "3", "", ""]);
    assert_eq!(rows[1], ["", "1", "0x00c2", "3", "", ""]);
    assert_eq!(rows[2], ["1", "1", "0x00c2", "3", "100", ""]);
}

#[test]
fn vlan_tags_are_read_and_stepped_over() {
    let tagged = |tags: &str| bytes(&format!("{ETHERNET} {tags} 0800 {IPV4_TCP} {TCP_SYN}"));
    let outer = VlanTag { id: 100, pcp: 5, dei: true };
    let inner = VlanTag { id: 4095, pcp: 0, dei: false };
    let (one, two) = (tagged("8100 b064"), tagged("88a8 b064 8100 0fff"));
    let one = Frame::parse(&one).unwrap();
    assert_eq!((one.vlan, one.inner_vlan, one.ethertype), (Some(outer), None, EtherType::IPV4));
    assert_syn(&one);
    let two = Frame::parse(&two).unwrap();
    assert_eq!((two.vlan, two.inner_vlan), (Some(outer), Some(inner)));
    assert_syn(&two);
}

#[test]
fn a_pushed_vlan_tag_is_the_outermost() {
    let mut frame = build::tcp(tuple("10.0.0.1", "10.0.0.2")).frame();
    let (inner, outer) = (VlanTag { id: 7, pcp: 0, dei: true }, VlanTag { id: 4094, pcp: 7, dei: false });
    inner.push(&mut frame);
    outer.push(&mut frame);
    let parsed = Frame::parse(&frame).unwrap();
    assert_eq!((parsed.vlan, parsed.inner_vlan), (Some(outer), Some(inner)));
    assert!(parsed.tcp().is_some());
    assert_eq!(tshark(&[frame], &["vlan.id", "vlan.priority", "vlan.dei"])[0], ["4094,7", "7,0", "0,1"]);
}

#[test]
fn a_third_vlan_tag_is_left_unread() {
    let frame = bytes(&format!("{ETHERNET} 8100 0001 8100 0002 8100 0003 0800 {IPV4_TCP} {TCP_SYN}"));
    let frame = Frame::parse(&frame).unwrap();
    assert_eq!(frame.ethertype, EtherType::VLAN_TAGGED_FRAME);
    assert!(matches!(frame.payload, Payload::Other(_)));
}

#[test]
fn ipv6_extension_headers_are_stepped_over() {
    // Hop-by-hop with six bytes of padding, destination options alike, a routing header.
    let headers = "3c 00 0104 00000000  2b 00 0104 00000000  06 00 0000 00000000";
    let frame = ipv6(44, 0, &format!("{headers} {TCP_SYN}"));
    let frame = Frame::parse(&frame).unwrap();
    assert_eq!(frame.ip().unwrap().proto, IpNumber::TCP);
    assert_eq!(frame.five_tuple(), Some(tuple("fd00::1", "fd00::2")));
    assert_syn(&frame);
}

#[test]
fn a_broken_extension_header_leaves_the_network_layer() {
    // A routing header that reaches beyond the packet; hop-by-hop options that do not come first.
    for (first, rest, stopped_at) in [
        (43, "06 ff 0000 00000000", IpNumber::IPV6_ROUTE_HEADER),
        (60, "00 00 0104 00000000", IpNumber::IPV6_HEADER_HOP_BY_HOP),
    ] {
        let frame = ipv6(28, first, &format!("{rest} {TCP_SYN}"));
        let frame = Frame::parse(&frame).unwrap();
        let ip = frame.ip().unwrap();
        assert_eq!((ip.proto, &ip.transport), (stopped_at, &Transport::Other));
    }
}

#[test]
fn ipv4_options_are_stepped_over() {
    let header = "4600 002c 0000 4000 4006 0000 0a000001 0a000002 94040000";
    assert_syn(&Frame::parse(&bytes(&format!("{ETHERNET} 0800 {header} {TCP_SYN}"))).unwrap());
}

#[test]
fn fragments_are_not_looked_into() {
    let first_v4 = "4500 0028 0001 2000 4006 0000 0a000001 0a000002";
    let later_v4 = "4500 0028 0001 0002 4006 0000 0a000001 0a000002";
    for header in [first_v4, later_v4] {
        let frame = bytes(&format!("{ETHERNET} 0800 {header} {TCP_SYN}"));
        let frame = Frame::parse(&frame).unwrap();
        let ip = frame.ip().unwrap();
        assert!(ip.fragment && ip.transport == Transport::Other && ip.proto == IpNumber::TCP);
    }
    let v6 = ipv6(28, 44, &format!("06 00 0001 00000007 {TCP_SYN}"));
    let v6 = Frame::parse(&v6).unwrap();
    assert!(v6.ip().unwrap().fragment && v6.five_tuple().is_none());
}

#[test]
fn an_ipv6_fragment_that_is_the_whole_packet_is_looked_into() {
    // RFC 6946: offset zero and no more fragments.
    assert_syn(&Frame::parse(&ipv6(28, 44, &format!("06 00 0000 00000007 {TCP_SYN}"))).unwrap());
}

#[test]
fn a_cut_transport_header_leaves_the_network_layer() {
    let whole = build::tcp(tuple("10.0.0.1", "10.0.0.2")).options(&[1; 12]).frame();
    for len in 34..whole.len() {
        let frame = Frame::parse(&whole[..len]).unwrap();
        let ip = frame.ip().unwrap();
        assert_eq!((ip.src.to_string().as_str(), ip.proto), ("10.0.0.1", IpNumber::TCP));
        assert_eq!(ip.transport, Transport::Other);
    }
}

#[test]
fn a_data_offset_below_five_leaves_the_network_layer() {
    let tcp = TCP_SYN.replace("5002", "4002");
    let frame = bytes(&format!("{ETHERNET} 0800 {IPV4_TCP} {tcp}"));
    assert_eq!(Frame::parse(&frame).unwrap().ip().unwrap().transport, Transport::Other);
}

#[test]
fn payload_length_counts_what_was_cut_and_not_what_was_padded() {
    for (src, dst) in [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")] {
        let mut frame = build::tcp(tuple(src, dst)).payload(&[7; 100]).frame();
        assert_eq!(Frame::parse(&frame[..90]).unwrap().tcp().unwrap().payload_len, 100);
        frame.extend([0; 6]);
        assert_eq!(Frame::parse(&frame).unwrap().tcp().unwrap().payload_len, 100);
    }
}

#[test]
fn udp_reads_its_ports_and_payload() {
    let header = "4500 0020 0000 4000 4011 0000 0a000001 0a000002";
    let frame = bytes(&format!("{ETHERNET} 0800 {header} 0044 0043 000c 0000 01020304 0000"));
    let frame = Frame::parse(&frame).unwrap();
    let Transport::Udp(udp) = &frame.ip().unwrap().transport else { panic!("{frame:?}") };
    assert_eq!((udp.src_port, udp.dst_port, udp.payload), (68, 67, [1, 2, 3, 4].as_slice()));
}

#[test]
fn unknown_ethertypes_are_kept() {
    let frame = bytes(&format!("{ETHERNET} 8847 aabbcc"));
    let frame = Frame::parse(&frame).unwrap();
    assert_eq!((frame.ethertype.0, &frame.payload), (0x8847, &Payload::Other(&[0xaa, 0xbb, 0xcc])));
    assert_eq!(frame.src, MacAddr::from_u64(0x0200_0000_0001));
    assert_eq!(frame.dst, MacAddr::from_u64(0x0200_0000_0002));
}

#[test]
fn errors_say_which_header_is_wrong_and_how() {
    let truncated = |what, need, have| PacketError::Truncated { what, need, have };
    let parse = |hex: &str| Frame::parse(&bytes(hex)).map(|frame| frame.ethertype).unwrap_err();
    assert_eq!(parse("020000000002"), truncated("Ethernet header", 14, 6));
    assert_eq!(parse(&format!("{ETHERNET} 8100 00")), truncated("VLAN tag", 4, 1));
    assert_eq!(parse(&format!("{ETHERNET} 0800 45000028")), truncated("IPv4 header", 20, 4));
    assert_eq!(parse(&format!("{ETHERNET} 86dd 60000000")), truncated("IPv6 header", 40, 4));
    assert_eq!(parse(&format!("{ETHERNET} 0806 0001")), truncated("ARP packet", 28, 2));
    let six = IPV4_TCP.replacen('4', "6", 1);
    let version = PacketError::Version { what: "IPv4 header", version: 6 };
    assert_eq!(parse(&format!("{ETHERNET} 0800 {six}")), version);
    let short = IPV4_TCP.replacen("45", "44", 1);
    assert_eq!(
        parse(&format!("{ETHERNET} 0800 {short}")),
        PacketError::HeaderLength { what: "IPv4 header", words: 4 }
    );
}

#[test]
fn flags_print_by_name() {
    assert_eq!(format!("{:?} {}", TcpFlags::SYN_ACK, TcpFlags(0x29)), "[ACK,SYN] URG,PSH,FIN");
}

#[test]
fn captured_segments_read_as_tshark_reads_them() {
    let columns =
        ["ip.src", "ipv6.src", "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.flags"];
    for name in ["mptcp-v4-fullmesh", "mptcp-v6-fullmesh"] {
        let frames = capture(name);
        for (frame, row) in frames.iter().zip(tshark(&frames, &columns)) {
            let frame = Frame::parse(frame).unwrap();
            let (ip, tcp) = (frame.ip().unwrap(), frame.tcp().unwrap());
            assert_eq!(ip.src.to_string(), format!("{}{}", row[0], row[1]));
            assert_eq!([tcp.src_port, tcp.dst_port].map(|port| port.to_string()), row[2..4]);
            assert_eq!([tcp.seq, tcp.ack].map(|number| number.to_string()), row[4..6]);
            assert_eq!(format!("0x{:04x}", tcp.flags.0), row[6]);
        }
    }
}
