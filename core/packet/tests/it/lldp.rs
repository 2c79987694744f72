//! Discovery frames: round trip, authentication, and LLDP of other equipment.

use braid_packet::lldp::{LldpError, LldpProbe, Lldpdu, NEAREST_BRIDGE, ProbeKey, Tlv, Tlvs};
use braid_packet::{ETHERTYPE_LLDP, Frame, Payload};
use braid_types::{DatapathId, MacAddr, PortNo, Time};

use crate::common::{bytes, capture, tshark};

const SRC: MacAddr = MacAddr::from_u64(0x0200_0000_0001);

fn probe() -> LldpProbe {
    LldpProbe {
        dpid: DatapathId(0x0000_0200_0000_0001),
        port: PortNo(48),
        sent_at: Time::from_nanos(1_234_567_890_123),
    }
}

fn key() -> ProbeKey {
    ProbeKey::new([7; 32])
}

fn lldpdu(frame: &[u8]) -> &[u8] {
    match Frame::parse(frame).unwrap().payload {
        Payload::Lldp(lldpdu) => lldpdu,
        other => panic!("{other:?}"),
    }
}

/// Three TLVs that every LLDPDU starts with, then these, then the end.
fn foreign(tlvs: &[Tlv<'_>]) -> Vec<u8> {
    let mut pdu = bytes("0204 07414243 0402 0733 0602 0078");
    tlvs.iter().for_each(|tlv| tlv.encode(&mut pdu));
    pdu.extend([0, 0]);
    pdu
}

fn organisation_value(lldpdu: &[u8]) -> Vec<u8> {
    let mut tlvs = Tlvs::new(lldpdu).flatten();
    tlvs.find(|tlv| tlv.kind == 127).unwrap().value.to_vec()
}

#[test]
fn a_probe_says_where_and_when_it_was_sent() {
    let frame = probe().encode(&key(), SRC);
    let parsed = Frame::parse(&frame).unwrap();
    assert_eq!((parsed.src, parsed.dst, parsed.ethertype), (SRC, NEAREST_BRIDGE, ETHERTYPE_LLDP));
    assert_eq!(LldpProbe::decode(lldpdu(&frame), &key()), Ok(probe()));
}

#[test]
fn a_probe_replaces_what_the_buffer_held() {
    let mut buffer = vec![0xff; 500];
    probe().encode_into(&key(), SRC, &mut buffer);
    assert_eq!(buffer, probe().encode(&key(), SRC));
}

#[test]
fn tshark_reads_a_probe_without_complaint() {
    let columns = [
        "eth.dst",
        "lldp.chassis.id",
        "lldp.chassis.subtype",
        "lldp.port.id",
        "lldp.time_to_live",
        "lldp.tlv.system.name",
        "lldp.orgtlv.oui",
        "_ws.malformed",
        "_ws.expert.message",
    ];
    let rows = tshark(&[probe().encode(&key(), SRC)], &columns);
    let expected = [
        "01:80:c2:00:00:0e",
        &hex::encode("0000020000000001"),
        "7",
        "48",
        "120",
        "braid-0000020000000001",
        &0x42_5244.to_string(),
        "",
        "",
    ];
    assert_eq!(rows[0], expected);
}

#[test]
fn the_tag_is_hmac_sha256_over_what_precedes_it() {
    let value = organisation_value(lldpdu(&probe().encode(&key(), SRC)));
    assert_eq!(hex::encode(&value[..24]), "425244010000020000000001000000300000011f71fb04cb");
    assert_eq!(hex::encode(&value[24..]), "f919fb137d750223653c440d713507a6");
}

#[test]
fn any_changed_byte_of_the_tlv_is_refused() {
    let pdu = lldpdu(&probe().encode(&key(), SRC)).to_vec();
    let value = organisation_value(&pdu);
    let start = pdu.windows(value.len()).position(|window| window == value).unwrap();
    for offset in start..start + value.len() {
        let mut forged = pdu.clone();
        forged[offset] ^= 1;
        let expected = if offset < start + 4 { LldpError::NotOurs } else { LldpError::BadTag };
        assert_eq!(LldpProbe::decode(&forged, &key()), Err(expected), "byte {offset}");
    }
}

#[test]
fn a_probe_of_another_key_is_refused() {
    let frame = probe().encode(&ProbeKey::new([8; 32]), SRC);
    assert_eq!(LldpProbe::decode(lldpdu(&frame), &key()), Err(LldpError::BadTag));
}

#[test]
fn lldp_of_other_equipment_is_not_taken_for_a_forgery() {
    let frames = capture("lldp-openvswitch");
    assert!(!frames.is_empty());
    for frame in &frames {
        let pdu = lldpdu(frame);
        assert_eq!(LldpProbe::decode(pdu, &key()), Err(LldpError::NotOurs));
        let theirs = Lldpdu::parse(pdu).unwrap();
        assert_eq!(hex::encode(theirs.chassis_id), "04020000000102");
        assert_eq!((theirs.port_id, theirs.ttl, theirs.system_name), (b"\x05eth1".as_slice(), 120, None));
    }
}

#[test]
fn standard_tlvs_name_the_sender_to_other_equipment() {
    let frame = probe().encode(&key(), SRC);
    let pdu = Lldpdu::parse(lldpdu(&frame)).unwrap();
    assert_eq!(pdu.chassis_id, b"\x070000020000000001");
    assert_eq!((pdu.port_id, pdu.ttl), (b"\x0748".as_slice(), 120));
    assert_eq!(pdu.system_name, Some("braid-0000020000000001"));
}

#[test]
fn a_tlv_of_ours_that_is_not_whole_is_malformed_or_forged() {
    let value = organisation_value(lldpdu(&probe().encode(&key(), SRC)));
    for len in 4..value.len() {
        let pdu = foreign(&[Tlv { kind: 127, value: &value[..len] }]);
        let error = LldpProbe::decode(&pdu, &key()).unwrap_err();
        assert!(matches!(error, LldpError::Malformed(_) | LldpError::BadTag), "{len}: {error}");
    }
}

#[test]
fn two_tlvs_of_ours_are_malformed() {
    let value = organisation_value(lldpdu(&probe().encode(&key(), SRC)));
    let tlv = Tlv { kind: 127, value: &value };
    assert_eq!(LldpProbe::decode(&foreign(&[tlv]), &key()), Ok(probe()));
    assert!(matches!(LldpProbe::decode(&foreign(&[tlv, tlv]), &key()), Err(LldpError::Malformed(_))));
}

#[test]
fn frames_without_the_mandatory_tlvs_are_malformed() {
    let frame = probe().encode(&key(), SRC);
    let pdu = lldpdu(&frame);
    assert!(matches!(LldpProbe::decode(&[], &key()), Err(LldpError::Malformed(_))));
    assert!(matches!(LldpProbe::decode(&pdu[19..], &key()), Err(LldpError::Malformed(_))), "no chassis id");
    let short_ttl = bytes("0204 07414243 0402 0733 0601 78 0000");
    assert!(matches!(Lldpdu::parse(&short_ttl), Err(LldpError::Malformed(_))));
}

#[test]
fn a_probe_that_is_cut_anywhere_is_refused() {
    let frame = probe().encode(&key(), SRC);
    let pdu = lldpdu(&frame);
    let end = pdu.len() - 2;
    for len in 0..end {
        assert!(LldpProbe::decode(&pdu[..len], &key()).is_err(), "{len} bytes");
    }
    assert_eq!(LldpProbe::decode(&pdu[..end], &key()), Ok(probe()), "only the end is missing");
}

#[test]
fn the_key_is_not_printed() {
    assert_eq!(format!("{:?}", key()), "ProbeKey(..)");
}
