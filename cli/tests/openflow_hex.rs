//! `braid openflow decode` of hexadecimal digits.

mod support;

use predicates::str::contains;
use serde_json::json;
use support::{braid, lines, run, text};

const HELLO: &str = "0400001000000001 0001000800000010";
const BARRIER: &str = "0414000800000002";

#[test]
fn message_becomes_one_json_object() {
    let output = run(&["openflow", "decode", "04 02 00 0c 00 00 00 07 de ad be ef"]);
    assert!(output.status.success());
    let echo = json!({
        "schema": "braid/v1", "offset": 0, "version": 4, "xid": 7, "type": "echo_request", "data": "deadbeef"
    });
    assert_eq!(lines(&output), [echo]);
}

#[test]
fn version_of_a_hello_is_its_own_and_stands_once() {
    let output = run(&["openflow", "decode", "0600000800000001"]);
    let line = text(&output.stdout);
    assert_eq!(line.matches("\"version\":6").count(), 1, "{line}");
    assert_eq!(line.matches("\"version\"").count(), 1, "{line}");
}

#[test]
fn messages_come_one_after_another_from_standard_input() {
    for arguments in [&["openflow", "decode"][..], &["openflow", "decode", "-"]] {
        let output = braid().args(arguments).write_stdin(format!("{HELLO}\n0x{BARRIER}\n")).output().unwrap();
        let found: Vec<_> =
            lines(&output).iter().map(|line| (line["type"].clone(), line["offset"].clone())).collect();
        assert_eq!(found, [(json!("hello"), json!(0)), (json!("barrier_request"), json!(16))]);
    }
}

#[test]
fn malformed_message_is_named_and_the_others_are_still_printed() {
    // A packet-out whose list of actions is longer than the message.
    let malformed = "040d0018 00000003 ffffffff fffffffd ffff 000000000000";
    let output = run(&["openflow", "decode", &format!("{HELLO}{malformed}{BARRIER}")]);
    assert_eq!(output.status.code(), Some(1));
    let lines = lines(&output);
    let [hello, error, barrier] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&hello["type"], &barrier["type"]), (&json!("hello"), &json!("barrier_request")));
    assert_eq!((&error["error"]["offset"], &error["xid"]), (&json!(16), &json!(3)));
    assert!(error["error"]["reason"].as_str().unwrap().contains("need 65535 bytes"), "{error}");
    assert_eq!(error["bytes"], json!(malformed.replace(' ', "")));
    assert_eq!(text(&output.stderr), "braid: one message could not be decoded\n");
}

#[test]
fn message_that_is_cut_off_is_an_error() {
    let output = run(&["openflow", "decode", &format!("{BARRIER}{}", &HELLO[..12])]);
    assert_eq!(output.status.code(), Some(1));
    let lines = lines(&output);
    assert_eq!(lines[0]["type"], json!("barrier_request"));
    assert_eq!(lines[1]["error"]["offset"], json!(8));
}

#[test]
fn message_of_another_version_is_said_to_be_one() {
    let output = run(&["openflow", "decode", "0105000800000001"]);
    assert_eq!(output.status.code(), Some(1));
    let lines = lines(&output);
    assert_eq!(lines[0]["version"], json!(1));
    assert!(lines[0]["error"]["reason"].as_str().unwrap().contains("OpenFlow 1.0, not OpenFlow 1.3"));
}

#[test]
fn text_for_people_has_a_heading_a_message() {
    let output = run(&["openflow", "decode", "--pretty", &format!("{HELLO}{BARRIER}")]);
    let outline =
        "Hello, xid 1\n  version: 4\n  elements:\n    - version_bitmap: 16\nBarrierRequest, xid 2\n";
    assert_eq!(text(&output.stdout), outline);
}

#[test]
fn what_is_not_hexadecimal_is_a_wrong_usage() {
    let wrong = [("04 0x zz", "'z' at character 7"), ("040", "not whole bytes"), ("", "nothing to decode")];
    for (digits, reason) in wrong {
        let command = braid().args(["openflow", "decode", digits]).assert();
        command.code(2).stdout("").stderr(contains(reason)).stderr(predicates::str::starts_with("braid: "));
    }
}

#[test]
fn meter_mods_that_every_switch_refuses_are_errors_with_the_code_of_open_vswitch() {
    let meter = |command: &str, flags: &str, band: &str| {
        format!("041d0020 00000001 {command} {flags} 00000001 {band} 0010 000003e8 00000064 00000000")
    };
    let cases = [
        (meter("0009", "0001", "0001"), "BadCommand"),
        (meter("0000", "0003", "0001"), "BadFlags"),
        (meter("0000", "0001", "0fff"), "BadBand"),
    ];
    for (bytes, code) in cases {
        let output = run(&["openflow", "decode", &bytes]);
        assert_eq!(output.status.code(), Some(1));
        let reason = lines(&output)[0]["error"]["reason"].as_str().unwrap_or_default().to_owned();
        assert!(reason.contains(code), "{reason}");
        if let Ok(printed) =
            std::process::Command::new("ovs-ofctl").args(["ofp-print", &bytes.replace(' ', "")]).output()
        {
            let name = code.to_uppercase().replacen("BAD", "BAD_", 1);
            let printed = [printed.stdout, printed.stderr].concat();
            let printed = String::from_utf8_lossy(&printed).into_owned();
            assert!(printed.contains(&name), "{printed}");
        }
    }
    let output = run(&["openflow", "decode", &meter("0000", "0001", "0001")]);
    assert!(output.status.success());
}
