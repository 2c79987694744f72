//! Error texts and OpenFlow errors for refused messages.

use braid_openflow::{
    BadActionCode, BadInstructionCode, BadMatchCode, BadRequestCode, DecodeError, ErrorCode, ErrorMsg,
    GroupModFailedCode, Hello, Message, MeterModFailedCode, Part, TableFeaturesFailedCode, Xid,
};

use crate::support::golden;

/// Why the recorded message `name` is refused when the two bytes at `at` are `value`.
fn error(name: &str, at: usize, value: u16) -> DecodeError {
    let mut bytes = golden::bytes(name);
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    Message::decode(&bytes).expect_err("is refused")
}

/// The offset of `pattern` in the message `name`.
fn find(name: &str, pattern: &[u8]) -> usize {
    let bytes = golden::bytes(name);
    bytes.windows(pattern.len()).position(|window| window == pattern).expect("the pattern is there")
}

#[test]
fn another_version_is_named() {
    let mut bytes = golden::bytes("show.features_reply");
    bytes[0] = 1;
    let error = Message::decode(&bytes).expect_err("is refused");
    assert_eq!(error, DecodeError::Version { version: 1 });
    assert_eq!(error.to_string(), "header: wire version 1 is OpenFlow 1.0, not OpenFlow 1.3 (4)");
    assert_eq!(error.error_code(), ErrorCode::BadRequest(BadRequestCode::BadVersion));
}

#[test]
fn the_hello_of_an_old_switch_is_understood_whatever_it_holds() {
    let bytes = [1, 0, 0, 12, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(Message::decode(&bytes), Ok((Xid(1), Message::Hello(Hello::of_version(1)))));
    let mut new = bytes;
    new[0] = 4;
    assert!(Message::decode(&new).is_err());
}

#[test]
fn numbers_are_told() {
    let bytes = [4, 18, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0];
    let error = Message::decode(&bytes).expect_err("is refused");
    assert_eq!(error.to_string(), "MultipartRequest: need 4 bytes, have 0");
    let truncated = DecodeError::Truncated { what: Part::Header, need: 8, have: 3 };
    assert_eq!(Message::decode(&bytes[..3]), Err(truncated));
}

#[test]
fn each_part_has_its_error_code() {
    let at = find("tcp.flow_mod", &[0, 1, 0, 0x3b]);
    let field_length = find("tcp.flow_mod", &[0x0a, 0x02, 0x08, 0x00]);
    let in_match = ErrorCode::BadMatch(BadMatchCode::BadLen);
    assert_eq!(error("tcp.flow_mod", at + 2, 3).error_code(), in_match);
    assert_eq!(error("tcp.flow_mod", field_length, 0x0a03).error_code(), in_match);
    assert_eq!(
        error("tcp.flow_mod", at, 0),
        DecodeError::MatchType { value: 0 },
        "the match of OpenFlow 1.0 is none of ours"
    );
    let set_field = find("set_fields.flow_mod", &[0, 25, 0, 16]);
    assert_eq!(
        error("set_fields.flow_mod", set_field + 2, 12).error_code(),
        ErrorCode::BadAction(BadActionCode::BadLen)
    );
    assert_eq!(
        error("set_fields.flow_mod", set_field + 6, 0x0605).error_code(),
        ErrorCode::BadAction(BadActionCode::BadSetLen)
    );
    let instruction = find("instructions.flow_mod", &[0, 1, 0, 8, 9]);
    assert_eq!(
        error("instructions.flow_mod", instruction + 2, 7).error_code(),
        ErrorCode::BadInstruction(BadInstructionCode::BadLen)
    );
    assert_eq!(
        error("group_ff.group_mod", 16, 15).error_code(),
        ErrorCode::GroupModFailed(GroupModFailedCode::BadBucket)
    );
    assert_eq!(
        error("meter_kbps.meter_mod", 18, 15).error_code(),
        ErrorCode::MeterModFailed(MeterModFailedCode::BadBand)
    );
    assert_eq!(
        error("by_hand.table_features_request", 16, 63).error_code(),
        ErrorCode::TableFeaturesFailed(TableFeaturesFailedCode::BadLen)
    );
}

#[test]
fn a_refusal_quotes_the_front_of_the_request() {
    let request = golden::bytes("by_hand.flow_mod_rare_actions");
    let error = ErrorCode::BadRequest(BadRequestCode::BadLen);
    let refusal = ErrorMsg::refusing(error, &request);
    assert_eq!(*refusal.data, request[..64]);
    let mut out = Vec::new();
    Message::Error(refusal).encode(Xid(9), &mut out).expect("encodes");
    assert_eq!(out.len(), 8 + 4 + 64);
}

#[test]
fn what_is_too_long_leaves_the_buffer_as_it_was() {
    let data = vec![0; 65_536 - 8];
    let echo = Message::EchoRequest(braid_openflow::Echo { data: braid_openflow::Bytes(&data) });
    let mut out = vec![1, 2, 3];
    assert_eq!(
        echo.encode(Xid(1), &mut out).map_err(|error| error.to_string()),
        Err("EchoRequest: 65536 bytes do not fit into its length field".to_owned())
    );
    assert_eq!(out, [1, 2, 3]);
}
