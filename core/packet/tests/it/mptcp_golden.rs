//! MPTCP options byte by byte, in every form and with malformed lengths.

use braid_packet::mptcp::{
    self, FirstData, Handshake, Key, Keys, MpCapable, MpCapableFlags, MpJoin, MptcpError, MptcpOption,
    Subtype, Summary, Token, Version,
};
use braid_packet::{Frame, TcpFlags, TcpOptionError, build};

use crate::common::{bytes, tshark, tuple};

const A: Key = Key(0x0102_0304_0506_0708);
const B: Key = Key(0xfedc_ba98_7654_3210);
const A_HEX: &str = "01 02 03 04 05 06 07 08";
const B_HEX: &str = "fe dc ba 98 76 54 32 10";

fn capable(version: Version, flags: u8, keys: Keys) -> Handshake {
    Handshake::Capable(MpCapable { version, flags: MpCapableFlags(flags), keys })
}

fn both(data: Option<FirstData>) -> Keys {
    Keys::Both { sender: A, receiver: B, data }
}

#[track_caller]
fn assert_both_ways(hex: &str, expected: Handshake) {
    let wire = bytes(hex);
    assert_eq!(mptcp::handshake(&wire), Ok(Some(expected)));
    let mut written = Vec::new();
    match expected {
        Handshake::Capable(capable) => capable.encode(&mut written),
        Handshake::Join(join) => join.encode(&mut written),
    }
    assert_eq!(hex::encode(written), hex::encode(wire));
}

#[test]
fn mp_capable_of_version_1_has_five_forms() {
    let data = |checksum| Some(FirstData { len: 0x25, checksum });
    assert_both_ways("1e 04 01 81", capable(Version::V1, 0x81, Keys::None));
    assert_both_ways(&format!("1e 0c 01 01 {A_HEX}"), capable(Version::V1, 0x01, Keys::Sender(A)));
    assert_both_ways(&format!("1e 14 01 01 {A_HEX} {B_HEX}"), capable(Version::V1, 0x01, both(None)));
    assert_both_ways(
        &format!("1e 16 01 01 {A_HEX} {B_HEX} 00 25"),
        capable(Version::V1, 0x01, both(data(None))),
    );
    assert_both_ways(
        &format!("1e 18 01 81 {A_HEX} {B_HEX} 00 25 ab cd"),
        capable(Version::V1, 0x81, both(data(Some(0xabcd)))),
    );
}

#[test]
fn mp_capable_of_version_0_has_two_forms() {
    assert_both_ways(&format!("1e 0c 00 81 {A_HEX}"), capable(Version::V0, 0x81, Keys::Sender(A)));
    assert_both_ways(&format!("1e 14 00 81 {A_HEX} {B_HEX}"), capable(Version::V0, 0x81, both(None)));
}

#[test]
fn mp_join_has_three_forms() {
    let (token, nonce) = (Token(0x0a0b_0c0d), 0x1122_3344);
    assert_both_ways(
        "1e 0c 11 05 0a 0b 0c 0d 11 22 33 44",
        Handshake::Join(MpJoin::Syn { backup: true, address_id: 5, token, nonce }),
    );
    assert_both_ways(
        &format!("1e 10 10 06 {B_HEX} 11 22 33 44"),
        Handshake::Join(MpJoin::SynAck { backup: false, address_id: 6, hmac: B.0, nonce }),
    );
    let hmac = [7; 20];
    assert_both_ways(&format!("1e 18 10 00 {}", "07".repeat(20)), Handshake::Join(MpJoin::Ack { hmac }));
}

#[test]
fn handshake_is_found_among_the_options_of_a_syn() {
    // MSS, SACK permitted, timestamps, no operation, window scale, MP_CAPABLE; as Linux orders them.
    let options = bytes("02 04 05 b4 04 02 08 0a 00 01 02 03 00 00 00 00 01 03 03 0a 1e 04 01 01");
    assert_eq!(mptcp::handshake(&options), Ok(Some(capable(Version::V1, 1, Keys::None))));
    assert_eq!(mptcp::handshake(&options[..20]), Ok(None));
    assert_eq!(mptcp::handshake(&[]), Ok(None));
}

#[test]
fn version_0_handshake_reads_as_tshark_reads_it() {
    let there = tuple("10.0.0.1", "10.0.0.2");
    let [syn, syn_ack, ack] =
        [A_HEX.into(), B_HEX.into(), format!("{A_HEX} {B_HEX}")].map(|keys| bytes(&keys));
    let option = |keys: &[u8]| [&[30, u8::try_from(keys.len()).unwrap() + 4, 0x00, 0x01], keys].concat();
    let frames = [
        build::tcp(there).flags(TcpFlags::SYN).numbers(1, 0).options(&option(&syn)).frame(),
        build::tcp(there.reversed())
            .flags(TcpFlags::SYN_ACK)
            .numbers(9, 2)
            .options(&option(&syn_ack))
            .frame(),
        build::tcp(there).flags(TcpFlags::ACK).numbers(2, 10).options(&option(&ack)).frame(),
    ];
    let key = |key: Key| key.0.to_string();
    let token = |key: Key| key.token(Version::V0).0.to_string();
    let columns = [
        "tcp.options.mptcp.version",
        "tcp.options.mptcp.sendkey",
        "tcp.options.mptcp.recvkey",
        "tcp.checksum.status",
    ];
    let rows = tshark(&frames, &columns);
    let good = || "1".to_owned();
    assert_eq!(rows[0], ["0".to_owned(), key(A), String::new(), good()]);
    assert_eq!(rows[1], ["0".to_owned(), key(B), String::new(), good()]);
    assert_eq!(rows[2], ["0".to_owned(), key(A), key(B), good()]);
    let rows = tshark(&frames, &["mptcp.expected_token"]);
    assert_eq!(rows[0], [token(A)]);
    assert_eq!(rows[1], [token(B)]);
    let read = frames.map(|frame| mptcp::handshake(Frame::parse(&frame).unwrap().tcp().unwrap().options));
    assert_eq!(read[0], Ok(Some(capable(Version::V0, 1, Keys::Sender(A)))));
    assert_eq!(read[2], Ok(Some(capable(Version::V0, 1, both(None)))));
}

#[test]
fn token_is_the_start_of_the_hash() {
    assert_eq!(A.token(Version::V0), Token(0xdd57_83bc));
    assert_eq!(A.token(Version::V1), Token(0x6684_0dda));
}

#[test]
fn summary_names_connections_by_token() {
    let summary = capable(Version::V0, 1, both(None)).summary();
    let expected = Summary::Capable {
        version: Version::V0,
        sender: Some(A.token(Version::V0)),
        receiver: Some(B.token(Version::V0)),
    };
    assert_eq!(summary, expected);
    let join = MpJoin::Syn { backup: true, address_id: 3, token: Token(9), nonce: 1 };
    let expected = Summary::Join { token: Token(9), address_id: 3, backup: true };
    assert_eq!(Handshake::Join(join).summary(), expected);
}

#[test]
fn keys_are_not_printed() {
    let text = format!("{:?}", capable(Version::V1, 1, both(None)));
    assert!(text.contains("sender: Key(..)"), "{text}");
}

#[test]
fn lengths_that_no_form_has_are_refused() {
    let cases = [
        (0x00, Subtype::MpCapable, [12, 20].as_slice()),
        (0x01, Subtype::MpCapable, [4, 12, 20, 22, 24].as_slice()),
        (0x10, Subtype::MpJoin, [12, 16, 24].as_slice()),
    ];
    for (first, subtype, forms) in cases {
        for len in (3..=40).filter(|len| !forms.contains(len)) {
            let mut data = vec![0; len - 2];
            data[0] = first;
            let expected = Err(MptcpError::BadLength { subtype, len });
            assert_eq!(MptcpOption::parse(&data), expected, "{first:#04x}");
        }
    }
    assert_eq!(mptcp::handshake(&[30, 2]), Err(MptcpError::NoSubtype));
}

#[test]
fn options_that_break_out_of_the_header_end_the_sequence() {
    let bad = |len, have| Err(MptcpError::Tcp(TcpOptionError::BadLength { kind: 30, len, have }));
    assert_eq!(mptcp::handshake(&[30, 0, 0, 0]), bad(0, 4));
    assert_eq!(mptcp::handshake(&[30, 1, 0, 0]), bad(1, 4));
    assert_eq!(mptcp::handshake(&[30, 41, 1, 1]), bad(41, 4));
    assert_eq!(mptcp::handshake(&[1, 30]), Err(MptcpError::Tcp(TcpOptionError::NoLength { kind: 30 })));
    let after = [8, 9, 0, 0, 30, 4, 1, 1];
    assert_eq!(mptcp::options(&after).count(), 1, "nothing is read after what is broken");
}

#[test]
fn what_follows_the_end_of_options_is_not_read() {
    assert_eq!(mptcp::handshake(&[1, 0, 30, 4, 1, 1]), Ok(None));
}

#[test]
fn a_second_handshake_option_is_refused() {
    let syn = bytes("1e 04 01 01");
    let join = bytes("1e 0c 10 05 0a 0b 0c 0d 11 22 33 44");
    let twice = [syn.clone(), syn.clone()].concat();
    assert_eq!(mptcp::handshake(&twice), Err(MptcpError::Repeated(Subtype::MpCapable)));
    let mixed = [syn, join].concat();
    assert_eq!(mptcp::handshake(&mixed), Err(MptcpError::Repeated(Subtype::MpJoin)));
}

#[test]
fn other_subtypes_are_named_and_kept() {
    let names = [
        (0x20, "DSS"),
        (0x30, "ADD_ADDR"),
        (0x40, "REMOVE_ADDR"),
        (0x50, "MP_PRIO"),
        (0x60, "MP_FAIL"),
        (0x70, "MP_FASTCLOSE"),
        (0x80, "MP_TCPRST"),
        (0xf0, "MP_EXPERIMENTAL"),
        (0x90, "subtype 0x9"),
    ];
    for (first, name) in names {
        let wire = [30, 5, first, 1, 2];
        let option = mptcp::options(&wire).next().unwrap().unwrap();
        let MptcpOption::Raw { subtype, bytes } = option else { panic!("{option:?}") };
        assert_eq!((subtype.to_string().as_str(), bytes), (name, &wire[2..]));
        let mut written = Vec::new();
        option.encode(&mut written);
        assert_eq!(written, wire);
    }
}

#[test]
fn mp_capable_of_a_later_version_is_kept() {
    let wire = bytes("1e 06 02 01 aa bb");
    let expected = MptcpOption::Raw { subtype: Subtype::MpCapable, bytes: &wire[2..] };
    assert_eq!(mptcp::options(&wire).collect::<Vec<_>>(), [Ok(expected)]);
    assert_eq!(mptcp::handshake(&wire), Ok(None));
}
