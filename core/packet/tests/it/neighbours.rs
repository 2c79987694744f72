//! ARP and neighbour discovery, compared with frames of the kernel and with tshark.

use std::net::Ipv4Addr;

use braid_packet::arp::{Arp, ArpOp};
use braid_packet::nd::{Endpoint, NdMessage, NeighborAdvertisement, NeighborSolicitation};
use braid_packet::{Frame, Payload, Transport};
use braid_types::MacAddr;

use crate::common::{capture, tshark};

const CLIENT: MacAddr = MacAddr::from_u64(0x0200_0000_0001);
const SERVER: MacAddr = MacAddr::from_u64(0x0200_0000_0002);
const CLIENT_V4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER_V4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

fn at(mac: MacAddr, ip: &str) -> Endpoint {
    Endpoint { mac, ip: ip.parse().unwrap() }
}

fn nd_of(frame: &[u8]) -> Option<NdMessage> {
    let frame = Frame::parse(frame).unwrap();
    match frame.ip()?.transport {
        Transport::Icmpv6(message) => Some(message),
        _ => None,
    }
}

fn arp_of(frame: &[u8]) -> Option<Arp> {
    match Frame::parse(frame).unwrap().payload {
        Payload::Arp(arp) => Some(arp),
        _ => None,
    }
}

/// A frame with one byte changed.
fn with(mut frame: Vec<u8>, offset: usize, byte: u8) -> Vec<u8> {
    frame[offset] = byte;
    frame
}

#[test]
fn arp_is_written_as_the_kernel_writes_it() {
    let captured: Vec<_> =
        capture("neighbours").into_iter().filter(|frame| arp_of(frame).is_some()).collect();
    let request = Arp::request(CLIENT, CLIENT_V4, SERVER_V4);
    let ours = [request.frame(), request.reply(SERVER).frame()];
    assert_eq!(captured.len(), ours.len());
    for (theirs, ours) in captured.iter().zip(&ours) {
        let (packet, padding) = ours.split_at(theirs.len());
        assert_eq!(hex::encode(packet), hex::encode(theirs));
        assert!(ours.len() == 60 && padding.iter().all(|byte| *byte == 0));
    }
}

#[test]
fn nd_is_written_as_the_kernel_writes_it() {
    let captured: Vec<_> =
        capture("neighbours").into_iter().filter_map(|frame| Some((nd_of(&frame)?, frame))).collect();
    let asker = at(CLIENT, "fd00::77");
    let target = "fd00::2".parse().unwrap();
    let question = NeighborSolicitation { target, source_mac: Some(CLIENT) };
    let answer = question.answer(asker, SERVER, false);
    let expected = [NdMessage::Solicitation(question), nd_of(&answer).unwrap()];
    assert_eq!(captured.iter().map(|(message, _)| *message).skip(1).collect::<Vec<_>>(), expected);
    assert_eq!(hex::encode(&captured[1].1), hex::encode(question.frame(asker)));
    assert_eq!(hex::encode(&captured[2].1), hex::encode(answer));
}

#[test]
fn duplicate_address_detection_is_read_from_the_unspecified_address() {
    let frames = capture("neighbours");
    let Some(NdMessage::Solicitation(probe)) = nd_of(&frames[0]) else { panic!("not a solicitation") };
    assert_eq!(probe, NeighborSolicitation { target: "fd00::77".parse().unwrap(), source_mac: None });
    let src = Frame::parse(&frames[0]).unwrap().ip().unwrap().src;
    assert!(src.is_unspecified());
}

#[test]
fn arp_asks_and_tells_as_tshark_reads_it() {
    let request = Arp::request(CLIENT, CLIENT_V4, SERVER_V4);
    let probe = Arp::probe(CLIENT, SERVER_V4);
    let announcement = Arp::request(CLIENT, CLIENT_V4, CLIENT_V4);
    let frames = [request, probe, announcement, request.reply(SERVER)].map(|arp| arp.frame());
    let columns = ["eth.dst", "arp.opcode", "arp.isprobe", "arp.isgratuitous", "_ws.malformed"];
    let rows = tshark(&frames, &columns);
    assert_eq!(rows[0][..2], ["ff:ff:ff:ff:ff:ff", "1"]);
    assert_eq!(rows[1][2], "1", "a probe");
    assert_eq!(rows[2][3], "1", "an announcement");
    assert_eq!(rows[3][..2], ["02:00:00:00:00:01", "2"]);
    assert!(rows.iter().all(|row| row[4].is_empty()), "{rows:?}");
    assert!(probe.is_probe() && announcement.is_announcement());
    assert!(!request.is_probe() && !request.is_announcement());
}

#[test]
fn arp_asks_a_known_host_alone() {
    let frame = Arp::request(CLIENT, CLIENT_V4, SERVER_V4).frame_to(SERVER);
    assert_eq!(Frame::parse(&frame).unwrap().dst, SERVER);
}

#[test]
fn arp_of_other_networks_or_operations_is_left_alone() {
    let frame = Arp::request(CLIENT, CLIENT_V4, SERVER_V4).frame();
    // Hardware type, protocol type, lengths of the addresses, operation.
    for (offset, byte) in [(15, 6), (16, 0x86), (18, 8), (19, 16), (21, 3), (21, 0)] {
        let frame = with(frame.clone(), offset, byte);
        assert!(matches!(Frame::parse(&frame).unwrap().payload, Payload::Other(_)), "byte {offset}");
    }
}

#[test]
fn nd_checksums_are_good_and_groups_have_their_ethernet_addresses() {
    let target = "fd00::1:abcd:ef01".parse().unwrap();
    let from = at(CLIENT, "fe80::1");
    let question = NeighborSolicitation { target, source_mac: Some(CLIENT) };
    let duplicate = NeighborSolicitation { target, source_mac: None };
    let frames = [
        question.frame(from),
        question.frame_to(from, at(SERVER, "fd00::1:abcd:ef01")),
        duplicate.frame(at(CLIENT, "::")),
        question.answer(from, SERVER, true),
        duplicate.answer(at(CLIENT, "::"), SERVER, false),
    ];
    let columns = [
        "eth.dst",
        "ipv6.dst",
        "icmpv6.type",
        "icmpv6.checksum.status",
        "icmpv6.nd.na.flag.s",
        "_ws.malformed",
    ];
    let rows = tshark(&frames, &columns);
    assert_eq!(rows[0], ["33:33:ff:cd:ef:01", "ff02::1:ffcd:ef01", "135", "1", "", ""]);
    assert_eq!(rows[1], ["02:00:00:00:00:02", "fd00::1:abcd:ef01", "135", "1", "", ""]);
    assert_eq!(rows[2], ["33:33:ff:cd:ef:01", "ff02::1:ffcd:ef01", "135", "1", "", ""]);
    assert_eq!(rows[3], ["02:00:00:00:00:01", "fe80::1", "136", "1", "1", ""]);
    assert_eq!(rows[4], ["33:33:00:00:00:01", "ff02::1", "136", "1", "0", ""]);
}

#[test]
fn every_flag_of_an_advertisement_is_carried() {
    for bits in 0..8 {
        let flag = |bit| bits & bit != 0;
        let advertisement = NeighborAdvertisement {
            target: "fd00::2".parse().unwrap(),
            target_mac: flag(1).then_some(SERVER),
            router: flag(1),
            solicited: flag(2),
            overrides: flag(4),
        };
        let frame = advertisement.frame(at(SERVER, "fd00::2"), at(CLIENT, "fd00::1"));
        assert_eq!(nd_of(&frame), Some(NdMessage::Advertisement(advertisement)));
    }
}

#[test]
fn nd_that_a_host_must_discard_is_not_reported() {
    const HOP_LIMIT: usize = 21;
    const CODE: usize = 55;
    const CHECKSUM: usize = 57;
    const OPTION_UNITS: usize = 79;
    let question = NeighborSolicitation { target: "fd00::2".parse().unwrap(), source_mac: Some(CLIENT) };
    let frame = question.frame(at(CLIENT, "fd00::1"));
    let changed = |changes: &[(usize, i8)]| {
        let mut frame = frame.clone();
        for (offset, delta) in changes {
            frame[*offset] = frame[*offset].checked_add_signed(*delta).unwrap();
        }
        nd_of(&frame)
    };
    assert!(changed(&[]).is_some());
    assert_eq!(changed(&[(HOP_LIMIT, -1)]), None, "a router has passed it on");
    assert_eq!(changed(&[(CHECKSUM, 1)]), None, "a wrong checksum");
    assert_eq!(changed(&[(CODE, 1), (CHECKSUM, -1)]), None, "an unknown code");
    assert_eq!(changed(&[(OPTION_UNITS, -1), (CHECKSUM, 1)]), None, "an option without length");
    assert_eq!(nd_of(&frame[..frame.len() - 1]), None, "cut off");
}

#[test]
fn nd_that_contradicts_its_addresses_is_not_reported() {
    let target = "fd00::2".parse().unwrap();
    let named = NeighborSolicitation { target, source_mac: Some(CLIENT) };
    assert_eq!(nd_of(&named.frame(at(CLIENT, "::"))), None, "a probe that names its sender");
    let probe = NeighborSolicitation { target, source_mac: None };
    let sent_alone = probe.frame_to(at(CLIENT, "::"), at(SERVER, "fd00::2"));
    assert_eq!(nd_of(&sent_alone), None, "a probe that is not sent to the group");
    let of_group = NeighborSolicitation { target: "ff02::1".parse().unwrap(), source_mac: Some(CLIENT) };
    assert_eq!(nd_of(&of_group.frame(at(CLIENT, "fd00::1"))), None, "a question about a group");
    let answer =
        NeighborAdvertisement { target, target_mac: None, router: false, solicited: true, overrides: true };
    let to_all = answer.frame(at(SERVER, "fd00::2"), Endpoint::group("ff02::1".parse().unwrap()));
    assert_eq!(nd_of(&to_all), None, "an answer to a group");
}

#[test]
fn the_sender_of_a_frame_is_known_at_every_layer() {
    let request = Arp::request(CLIENT, CLIENT_V4, SERVER_V4);
    assert_eq!(request.op, ArpOp::Request);
    assert_eq!(Frame::parse(&request.frame()).unwrap().sender_ip(), Some(CLIENT_V4.into()));
    let senders: Vec<_> =
        capture("neighbours").iter().filter_map(|frame| Frame::parse(frame).unwrap().sender_ip()).collect();
    assert_eq!(senders.len(), capture("neighbours").len());
}
