//! "Packet too big" messages: who is answered, with which quote, and which messages are ignored.

use std::net::IpAddr;

use braid_packet::{Frame, IpNumber, TooBig, VlanTag, build};
use braid_types::{FiveTuple, MacAddr};

use crate::common::tshark;

const SENDER: MacAddr = MacAddr::from_u64(0x0200_0000_0001);
const RECEIVER: MacAddr = MacAddr::from_u64(0x0200_0000_0002);
/// Where IPv4 says that a packet may not be cut, in an untagged frame.
const FLAGS: usize = 14 + 6;

fn segment(v6: bool, payload: &[u8]) -> Vec<u8> {
    let [src, dst]: [IpAddr; 2] =
        if v6 { ["fd00::1", "fd00::2"] } else { ["10.0.0.1", "10.0.0.2"] }.map(|it| it.parse().unwrap());
    let tuple = FiveTuple { src, dst, src_port: 40_000, dst_port: 5_201 };
    let mut frame = build::tcp(tuple).macs(SENDER, RECEIVER).payload(payload).frame();
    if !v6 {
        frame[FLAGS] |= 0x40;
    }
    frame
}

/// The same frame as UDP would have it, or any other protocol; the checksums are nobody's business here.
fn of(mut frame: Vec<u8>, v6: bool, proto: u8, kind: u8) -> Vec<u8> {
    frame[if v6 { 20 } else { 23 }] = proto;
    frame[if v6 { 54 } else { 34 }] = kind;
    frame
}

#[test]
fn the_sender_of_a_packet_is_told_as_if_by_its_receiver() {
    for (v6, longest) in [(false, 576), (true, 1_280)] {
        for payload in [100, 1_440] {
            let frame = segment(v6, &vec![7; payload]);
            let answer = TooBig::answer(&frame, 1_400).unwrap();
            let parsed = Frame::parse(&answer).unwrap();
            assert_eq!((parsed.src, parsed.dst), (RECEIVER, SENDER));
            let (sent, told) = (Frame::parse(&frame).unwrap(), parsed.ip().unwrap());
            let sent = sent.ip().unwrap();
            assert_eq!((told.src, told.dst), (sent.dst, sent.src));
            assert!(answer.len() <= 14 + longest);
            let length = frame.len() as u32 - 14;
            let (proto, ports) = (IpNumber::TCP, Some((40_000, 5_201)));
            let said = TooBig { src: sent.src, dst: sent.dst, proto, ports, length, mtu: 1_400 };
            assert_eq!(TooBig::parse(&answer), Some(said));
        }
    }
}

#[test]
fn another_implementation_reads_what_is_said_and_finds_the_checksums_right() {
    let fields = ["icmp.type", "icmp.code", "icmp.mtu", "icmp.checksum.status", "tcp.dstport"];
    let answer = TooBig::answer(&segment(false, &[7; 1_440]), 1_362).unwrap();
    assert_eq!(tshark(&[answer], &fields), [["3", "4", "1362", "1", "5201"]]);
    let fields = ["icmpv6.type", "icmpv6.mtu", "icmpv6.checksum.status", "tcp.dstport"];
    let answer = TooBig::answer(&segment(true, &[7; 1_440]), 1_362).unwrap();
    assert_eq!(tshark(&[answer], &fields), [["2", "1362", "1", "5201"]]);
}

#[test]
fn routers_may_say_how_much_they_quote() {
    // RFC 4884 §4.1: in 32-bit words, with the checksum over it.
    let mut told = TooBig::answer(&segment(false, &[7; 1_440]), 1_400).unwrap();
    let (length, sum) = (128, 14 + 20 + 2);
    told[14 + 20 + 5] = length;
    let before = u32::from(!u16::from_be_bytes([told[sum], told[sum + 1]])) + u32::from(length);
    let after = !((before & 0xffff) + (before >> 16)) as u16;
    told[sum..sum + 2].copy_from_slice(&after.to_be_bytes());
    assert_eq!(TooBig::parse(&told).map(|said| said.mtu), Some(1_400));
}

#[test]
fn answers_are_tagged_as_what_they_answer() {
    let tag = VlanTag { id: 42, pcp: 3, dei: false };
    let mut frame = segment(false, &[7; 1_440]);
    tag.push(&mut frame);
    let answer = TooBig::answer(&frame, 1_400).unwrap();
    assert_eq!(Frame::parse(&answer).unwrap().vlan, Some(tag));
    assert_eq!(TooBig::parse(&answer).map(|said| said.mtu), Some(1_400));
    tag.push(&mut frame);
    assert_eq!(TooBig::answer(&frame, 1_400), None, "two tags");
}

#[test]
fn who_must_not_be_told_is_not() {
    let long = |v6| segment(v6, &[7; 1_440]);
    let changed = |v6, at: usize, bytes: &[u8]| {
        let mut frame = long(v6);
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        frame
    };
    for (what, frame) in [
        ("may be cut", changed(false, FLAGS, &[0])),
        ("is a later fragment", changed(false, FLAGS, &[0x40, 1])),
        ("is for all", changed(false, 0, &[0xff; 6])),
        ("is for a group", changed(false, 30, &[224, 0, 0, 1])),
        ("is from nobody", changed(false, 26, &[0; 4])),
        ("is for a group of IPv6", changed(true, 38, &[0xff, 2])),
        ("is an error", of(long(false), false, 1, 3)),
        ("is an error of IPv6", of(long(true), true, 58, 2)),
        ("has no header", long(false)[..30].to_vec()),
    ] {
        assert_eq!(TooBig::answer(&frame, 1_400), None, "it {what}");
    }
    assert!(TooBig::answer(&of(long(false), false, 1, 8), 1_400).is_some(), "a question is told");
    assert_eq!(TooBig::answer(&long(true), 1_279), None, "every link takes as much");
    assert_eq!(TooBig::answer(&long(false), 67), None);
}

#[test]
fn what_is_corrupted_cut_off_or_for_somebody_else_says_nothing() {
    for v6 in [false, true] {
        let told = TooBig::answer(&segment(v6, &[7; 1_440]), 1_400).unwrap();
        for at in 14..told.len() {
            let mut other = told.clone();
            other[at] ^= 0x10;
            let same = TooBig::parse(&told).unwrap();
            // Some fields of the outer header, and the last bytes of an answer that was padded, say nothing here.
            let said = TooBig::parse(&other);
            assert!(said.is_none() || said == Some(same), "byte {at}");
        }
        (0..told.len()).for_each(|length| assert_eq!(TooBig::parse(&told[..length]), None));
    }
    assert_eq!(TooBig::parse(&segment(false, &[7; 100])), None);
}
