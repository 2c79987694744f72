//! Messages as JSON and text.

use braid_openflow::Message;
use serde_json::{Value, json};

use crate::support::golden;

fn json(name: &str) -> Value {
    let bytes = golden::bytes(name);
    let (_, message) = Message::decode(&bytes).expect("decodes");
    serde_json::to_value(message).expect("serialises")
}

#[test]
fn a_flow() {
    let expected = json!({
        "type": "flow_mod",
        "cookie": "0x1234567890abcdef",
        "cookie_mask": "0x0",
        "table_id": 7,
        "command": "add",
        "idle_timeout": 30,
        "hard_timeout": 300,
        "priority": 26,
        "buffer_id": 0xffff_ffff_u32,
        "out_port": 0xffff_ffff_u32,
        "out_group": 0xffff_ffff_u32,
        "flags": ["send_flow_rem", "check_overlap", "reset_counts", "no_pkt_counts", "no_byt_counts"],
        "match": [],
        "instructions": [
            {"apply_actions": [{"output": {"port": 1, "max_len": 0}}]},
            "clear_actions",
            {"write_actions": [{"output": {"port": 2, "max_len": 0}}]},
            {"write_metadata": {"metadata": "0xab", "metadata_mask": "0xff"}},
            {"goto_table": 9},
        ],
    });
    assert_eq!(json("instructions.flow_mod"), expected);
}

#[test]
fn a_match() {
    let expected = json!([
        {"eth_type": "0x0800"},
        {"ipv4_src": "10.0.0.1"},
        {"ipv4_dst": {"value": "10.0.0.0", "mask": "255.0.0.0"}},
        {"ip_dscp": 46},
        {"ip_ecn": 1},
        {"ip_proto": 6},
        {"tcp_src": {"value": 4096, "mask": 61440}},
        {"tcp_dst": 443},
    ]);
    assert_eq!(json("tcp.flow_mod")["match"], expected);
    let expected = json!({"tcp_flags": {"value": ["syn"], "mask": ["syn", "ack"]}});
    assert_eq!(json("tcp_flags.flow_mod")["match"][2], expected);
    let expected = json!({"unknown": {"class": "0x0001", "field": 3, "has_mask": false, "body": "00000007"}});
    assert_eq!(json("foreign_fields.flow_mod")["match"][3], expected);
}

#[test]
fn an_action_that_writes_a_label() {
    let expected = json!({"set_field": {"eth_dst": "02:00:00:00:00:08"}});
    assert_eq!(json("group_select.group_mod")["buckets"][0]["actions"][0], expected);
}

#[test]
fn a_switch_and_its_ports() {
    let features = json("show.features_reply");
    assert_eq!(features["datapath_id"], "00000000000000b1");
    assert_eq!(features["capabilities"][0], "flow_stats");
    let ports = &json("show.multipart_reply")["body"]["port_desc"];
    let s1 = ports.as_array().and_then(|ports| ports.iter().find(|port| port["port_no"] == 1)).expect("s1");
    assert_eq!((&s1["name"], &s1["hw_addr"]), (&json!("s1"), &json!("02:00:00:00:01:01")));
    assert_eq!(s1["curr"], json!(["ten_gb_fd", "copper"]));
}

#[test]
fn errors_and_what_has_no_name() {
    assert_eq!(json("requests.error")["error"], json!({"role_request_failed": "stale"}));
    assert_eq!(json("requests.unknown"), json!({"type": "unknown", "message_type": 99, "body": ""}));
    assert_eq!(json("by_hand.set_async")["flow_removed_mask"][1], json!(["0x10"]));
    let expected = json!({"experimenter": {"exp_type": 7, "experimenter": "0x4f4e4600"}});
    assert_eq!(json("by_hand.experimenter_error")["error"], expected);
}

#[test]
fn every_message_has_a_type() {
    for golden in golden::all() {
        assert!(json(&golden.name)["type"].is_string(), "{}", golden.name);
    }
}
