//! Properties of all parsers: no input panics, and every message round-trips.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use braid_packet::arp::{Arp, ArpOp};
use braid_packet::lldp::{LldpProbe, Lldpdu, ProbeKey, Tlvs};
use braid_packet::mptcp::{
    self, FirstData, Key, Keys, MpCapable, MpCapableFlags, MpJoin, MptcpOption, Subtype, Token, Version,
};
use braid_packet::nd::{Endpoint, NdMessage, NeighborAdvertisement, NeighborSolicitation};
use braid_packet::{Frame, Payload, TcpFlags, TcpOptions, Transport, VlanTag, build, ip_addresses};
use braid_types::{DatapathId, FiveTuple, MacAddr, PortNo, Time};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::common::{CAPTURES, capture};

/// The longest run of options that a TCP header has room for.
const OPTIONS_ROOM: usize = 40;

/// Goes through all that can be read of `bytes`.
fn read_everything(bytes: &[u8]) {
    let _ = ip_addresses(bytes);
    let Ok(frame) = Frame::parse(bytes) else { return };
    let _ = (frame.five_tuple(), frame.sender_ip());
    if let Some(ip) = frame.ip().filter(|_| frame.vlan.is_none()) {
        assert_eq!(ip_addresses(bytes), Some([ip.src, ip.dst]), "they are where they are looked for");
    }
    if let Some(tcp) = frame.tcp() {
        read_options(tcp.options);
    }
    if let Payload::Lldp(lldpdu) = frame.payload {
        read_lldp(lldpdu);
    }
}

fn read_options(options: &[u8]) {
    // Each option takes a byte at least, and what is read is part of the input.
    assert!(TcpOptions::new(options).count() <= options.len());
    let data: usize = TcpOptions::new(options).flatten().map(|option| option.data.len() + 2).sum();
    assert!(data <= options.len());
    assert!(mptcp::options(options).count() <= options.len());
    if let Ok(Some(handshake)) = mptcp::handshake(options) {
        handshake.summary();
    }
}

fn read_lldp(lldpdu: &[u8]) {
    let _ = Lldpdu::parse(lldpdu);
    let values: usize = Tlvs::new(lldpdu).flatten().map(|tlv| tlv.value.len() + 2).sum();
    assert!(values <= lldpdu.len());
    assert!(LldpProbe::decode(lldpdu, &ProbeKey::new([0; 32])).is_err(), "nobody guesses the key");
}

fn real_frames() -> Vec<Vec<u8>> {
    let probe = LldpProbe { dpid: DatapathId(1), port: PortNo(2), sent_at: Time::from_nanos(3) };
    let ours = probe.encode(&ProbeKey::new([7; 32]), MacAddr::ZERO);
    CAPTURES.into_iter().flat_map(capture).chain([ours]).collect()
}

fn mac() -> impl Strategy<Value = MacAddr> {
    any::<[u8; 6]>().prop_map(MacAddr::new)
}

fn tuple() -> impl Strategy<Value = FiveTuple> {
    let v4 = any::<(Ipv4Addr, Ipv4Addr)>().prop_map(|(src, dst)| (IpAddr::V4(src), IpAddr::V4(dst)));
    let v6 = any::<(Ipv6Addr, Ipv6Addr)>().prop_map(|(src, dst)| (IpAddr::V6(src), IpAddr::V6(dst)));
    let ports = any::<(u16, u16)>();
    (prop_oneof![v4, v6], ports).prop_map(|((src, dst), (src_port, dst_port))| FiveTuple {
        src,
        dst,
        src_port,
        dst_port,
    })
}

fn unicast() -> impl Strategy<Value = Ipv6Addr> {
    any::<Ipv6Addr>().prop_filter("a host's address", |ip| !ip.is_multicast() && !ip.is_unspecified())
}

fn endpoint() -> impl Strategy<Value = Endpoint> {
    (mac(), unicast()).prop_map(|(mac, ip)| Endpoint { mac, ip })
}

fn vlan() -> impl Strategy<Value = VlanTag> {
    (0_u16..4096, 0_u8..8, any::<bool>()).prop_map(|(id, pcp, dei)| VlanTag { id, pcp, dei })
}

/// The forms that exist.
fn capable() -> impl Strategy<Value = MpCapable> {
    let data = option::of((any::<u16>(), option::of(any::<u16>())));
    let parts = (any::<(u8, u64, u64)>(), data, 0..4_u8);
    parts.prop_map(|((flags, sender, receiver), data, form)| {
        let (sender, receiver) = (Key(sender), Key(receiver));
        let data = data.map(|(len, checksum)| FirstData { len, checksum });
        let (version, keys) = match form {
            0 => (Version::V1, Keys::None),
            1 => (Version::V0, Keys::Sender(sender)),
            2 => (Version::V0, Keys::Both { sender, receiver, data: None }),
            _ => (Version::V1, Keys::Both { sender, receiver, data }),
        };
        MpCapable { version, flags: MpCapableFlags(flags), keys }
    })
}

fn join() -> impl Strategy<Value = MpJoin> {
    let syn = any::<(bool, u8, u32, u32)>().prop_map(|(backup, address_id, token, nonce)| MpJoin::Syn {
        backup,
        address_id,
        token: Token(token),
        nonce,
    });
    let syn_ack = any::<(bool, u8, u64, u32)>()
        .prop_map(|(backup, address_id, hmac, nonce)| MpJoin::SynAck { backup, address_id, hmac, nonce });
    let ack = any::<[u8; 20]>().prop_map(|hmac| MpJoin::Ack { hmac });
    prop_oneof![syn, syn_ack, ack]
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
        read_everything(&bytes);
        read_lldp(&bytes);
        read_options(&bytes);
    }

    #[test]
    fn arbitrary_payloads_of_every_ethertype_never_panic(
        ethertype in select(vec![0x0800_u16, 0x86dd, 0x0806, 0x88cc, 0x8100, 0x88a8]),
        next in select(vec![0_u8, 6, 17, 43, 44, 51, 58, 60]),
        mut payload in vec(any::<u8>(), 0..160),
    ) {
        // Mostly past the checks of the IP header: version, length, next header.
        let (version, offset) = if ethertype == 0x0800 { (0x45, 9) } else { (0x60, 6) };
        payload.first_mut().into_iter().for_each(|byte| *byte = version);
        payload.get_mut(offset).into_iter().for_each(|byte| *byte = next);
        read_everything(&[&[0; 12], ethertype.to_be_bytes().as_slice(), &payload].concat());
    }

    #[test]
    fn cut_and_changed_real_frames_never_panic(
        frame in any::<Index>(),
        changes in vec(any::<(Index, u8)>(), 0..8),
        end in any::<Index>(),
    ) {
        let mut frame = frame.get(&real_frames()).clone();
        for (at, byte) in changes {
            let at = at.index(frame.len());
            frame[at] = byte;
        }
        let end = end.index(frame.len() + 1);
        read_everything(&frame[..end]);
        read_everything(&frame);
    }

    #[test]
    fn segments_round_trip(
        tuple in tuple(),
        numbers in any::<(u32, u32)>(),
        flags in any::<u8>(),
        tag in option::of(vlan()),
        words in 0..=OPTIONS_ROOM / 4,
        payload in vec(any::<u8>(), 0..1500),
    ) {
        let options = vec![1; words * 4];
        let built = build::tcp(tuple).numbers(numbers.0, numbers.1).flags(TcpFlags(flags));
        let built = tag.map_or(built.clone(), |tag| built.vlan(tag)).options(&options).payload(&payload).frame();
        let frame = Frame::parse(&built).unwrap();
        let tcp = frame.tcp().unwrap();
        prop_assert_eq!((frame.five_tuple(), frame.vlan), (Some(tuple), tag));
        prop_assert_eq!((tcp.seq, tcp.ack, tcp.flags), (numbers.0, numbers.1, TcpFlags(flags)));
        prop_assert_eq!((tcp.options, tcp.payload_len), (options.as_slice(), payload.len()));
    }

    #[test]
    fn mp_capable_round_trips(capable in capable()) {
        let mut wire = Vec::new();
        capable.encode(&mut wire);
        let read: Vec<_> = mptcp::options(&wire).collect();
        prop_assert_eq!(read, [Ok(MptcpOption::Capable(capable))]);
    }

    #[test]
    fn mp_join_round_trips(join in join()) {
        let mut wire = Vec::new();
        join.encode(&mut wire);
        let read: Vec<_> = mptcp::options(&wire).collect();
        prop_assert_eq!(read, [Ok(MptcpOption::Join(join))]);
    }

    #[test]
    fn other_options_round_trip(bits in 2_u8..16, rest in vec(any::<u8>(), 0..37)) {
        let bytes = [&[bits << 4], rest.as_slice()].concat();
        let option = MptcpOption::Raw { subtype: Subtype::from_bits(bits), bytes: &bytes };
        let mut wire = Vec::new();
        option.encode(&mut wire);
        prop_assert_eq!(mptcp::options(&wire).collect::<Vec<_>>(), [Ok(option)]);
    }

    #[test]
    fn probes_round_trip(
        dpid in any::<u64>(),
        port in any::<u32>(),
        nanos in any::<u64>(),
        secret in any::<[u8; 32]>(),
        src in mac(),
    ) {
        let key = ProbeKey::new(secret);
        let probe = LldpProbe { dpid: DatapathId(dpid), port: PortNo(port), sent_at: Time::from_nanos(nanos) };
        let bytes = probe.encode(&key, src);
        let frame = Frame::parse(&bytes).unwrap();
        let Payload::Lldp(lldpdu) = frame.payload else { panic!("{frame:?}") };
        prop_assert_eq!(LldpProbe::decode(lldpdu, &key), Ok(probe));
        prop_assert_eq!(frame.src, src);
    }

    #[test]
    fn arp_round_trips(
        reply in any::<bool>(),
        macs in (mac(), mac()),
        ips in any::<(Ipv4Addr, Ipv4Addr)>(),
    ) {
        let arp = Arp {
            op: if reply { ArpOp::Reply } else { ArpOp::Request },
            sender_mac: macs.0,
            sender_ip: ips.0,
            target_mac: macs.1,
            target_ip: ips.1,
        };
        let bytes = arp.frame();
        prop_assert_eq!(Frame::parse(&bytes).unwrap().payload, Payload::Arp(arp));
    }

    #[test]
    fn solicitations_round_trip(from in endpoint(), target in unicast(), source_mac in option::of(mac())) {
        let solicitation = NeighborSolicitation { target, source_mac };
        let bytes = solicitation.frame(from);
        let frame = Frame::parse(&bytes).unwrap();
        let expected = Transport::Icmpv6(NdMessage::Solicitation(solicitation));
        prop_assert_eq!(&frame.ip().unwrap().transport, &expected);
    }

    #[test]
    fn advertisements_round_trip(
        from in endpoint(),
        to in endpoint(),
        target in unicast(),
        target_mac in option::of(mac()),
        flags in any::<(bool, bool, bool)>(),
    ) {
        let (router, solicited, overrides) = flags;
        let advertisement = NeighborAdvertisement { target, target_mac, router, solicited, overrides };
        let bytes = advertisement.frame(from, to);
        let frame = Frame::parse(&bytes).unwrap();
        let expected = Transport::Icmpv6(NdMessage::Advertisement(advertisement));
        prop_assert_eq!(&frame.ip().unwrap().transport, &expected);
    }
}
