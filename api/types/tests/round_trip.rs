//! Every document reads back as it was written, and a document of another version is refused.

use braid_api::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The document is one of `T`, with every field known, and is written as it was read.
fn round_trip<T: DeserializeOwned + Serialize>(document: &Value) {
    let read: T =
        serde_json::from_value(document.clone()).unwrap_or_else(|error| panic!("{error}: {document}"));
    assert_eq!(serde_json::to_value(read).expect("JSON"), *document);
}

fn port(dpid: u8, port: u32) -> Value {
    json!({ "dpid": format!("{dpid:016x}"), "port": port })
}

fn edge_path() -> Value {
    json!({
        "path": ["0000000000000001", "0000000000000002"], "ports": [port(1, 2)], "read_at": 8,
        "path_names": ["ams1", "2"], "port_names": ["ams1:eth2"], "state": "suspended",
        "share": 0.25, "carried_bps": 1, "estimated_capacity_bps": null, "round_trip_us": 9.5, "queue_us": 0.5,
        "loss": 0.0, "silences": 3, "packets": 1, "bytes": 2,
    })
}

fn page(name: &str, item: &Value) -> Value {
    json!({ "schema": "braid/v1", "now": 7, "next_cursor": null, name: [item] })
}

#[test]
fn lists_read_back_as_they_were_written() {
    let switch = json!({
        "dpid": "000000000000002a", "role": "slave", "address": "10.0.0.9:6653", "via": "b", "name": null, "group": "pod",
        "position": { "latitude": 52.5, "longitude": 4.0 },
        "ports": [{ "port": 1, "name": "eth1", "up": true, "role": "silent" }],
    });
    let link = json!({
        "src": port(1, 2), "dst": port(2, 1), "src_name": "ams1:eth2", "dst_name": "2:1", "capacity_bps": 100, "measured_capacity_bps": null,
        "measured_capacity_at": null, "delay_us": { "base": 1.5, "current": 2.0, "p50": 2.0, "p99": 3.5 },
        "delay_at": 5, "load_bps": 1, "available_bps": 99, "load_at": 6, "loss": 0.5, "loss_at": 6,
        "counters": { "bytes": 1, "packets": 2, "dropped": 3, "errors": 4 },
    });
    let mut degraded = link.clone();
    degraded["degraded"] = json!({
        "since": 5, "evidence": { "frames": 900, "lost": 12, "damaged": 3, "time_us": 1_500_000 }, "clean_since": 6,
        "hold_us": 30_000_000,
    });
    let mut lost = link.clone();
    (lost["lost_at"], lost["why"]) = (json!(7), json!("port_down"));
    let host = json!({
        "mac": "02:00:00:00:00:01", "name": "dtn", "host": "dtn", "at": port(1, 3), "at_name": "ams1:eth3",
        "addresses": ["10.0.0.1", "fd00::1"], "last_seen": 5,
    });
    let edge = json!({
        "dpid": "0000000000000001", "name": null, "answered_at": null,
        "spray_groups": [{ "group": 256, "to": "0000000000000002", "to_name": "2", "paths": [edge_path()] }],
        "resequencers": [{
            "group": 257, "from": "0000000000000002", "from_name": "2", "host": "02:00:00:00:00:01", "port": 1, "read_at": null,
            "held": {
                "flows": 1, "packets": 2, "bytes": 3, "max_packets": 4, "max_bytes": 5, "max_flow_bytes": 6,
                "max_hold_us": 7.5,
            },
            "hold_time": { "packets": 1, "p50_us": 2.5, "p99_us": null, "max_us": 3.5 },
            "counters": ResequencerCounters::default(),
        }],
    });
    let stream = json!({
        "id": 1, "src": "10.0.0.1", "dst": "10.0.0.2", "src_name": "dtn", "src_port": 1, "dst_port": 2, "path": ["0000000000000001"],
        "ports": [port(1, 2)], "bytes_sent": 3, "bytes_received": 4, "sent_bps": 5, "received_bps": 6,
        "spray_paths": [{ "path": ["0000000000000001"], "ports": [port(1, 2)], "rate_bps": 7, "delay_us": 8 }],
    });
    let transfer = json!({ "id": 3, "kind": "spray", "opened_at": 2, "streams": [stream] });
    let alarm = json!({
        "at": port(1, 3), "at_name": "ams1:eth3", "kind": "spoofed_ip", "ip": "10.0.0.9", "holder": port(2, 1), "text": "…", "first_at": 1,
        "last_at": 2, "count": 3,
    });
    let peer_alarm = json!({
        "peer": "10.0.0.9", "kind": "duplicate_datapath_id", "dpid": "0000000000000001", "holder": "10.0.0.1",
        "text": "…", "first_at": 1, "last_at": 2, "count": 3,
    });
    let assignment = json!({
        "id": "00000000000000ff", "owner": "anonymous", "src": "10.0.0.1", "dst": "10.0.0.2", "requested_paths": 2,
        "expected_streams": null, "distribution": "weight", "opened_at": 1, "expires_at": 2, "placed_streams": 0,
        "paths": [{
            "switches": ["0000000000000001"], "available_bps": 1, "round_trip_us": 2.5, "best_streams": 1.0, "streams": 0,
        }],
    });
    round_trip::<Switches>(&page("switches", &switch));
    round_trip::<Links>(&page("links", &link));
    round_trip::<Hosts>(&page("hosts", &host));
    round_trip::<Edges>(&page("edges", &edge));
    round_trip::<Transfers>(&page("transfers", &transfer));
    round_trip::<Alarms>(&page("alarms", &alarm));
    round_trip::<Alarms>(&page("alarms", &peer_alarm));
    round_trip::<Assignments>(&page("assignments", &assignment));
    let changes = |name: &str, item: &Value| json!({ "schema": "braid/v1", "now": 7, name: { "set": [item], "removed": ["x"] } });
    round_trip::<Delta>(&changes("edges", &edge));
    round_trip::<Delta>(&changes("transfers", &transfer));
    round_trip::<Snapshot>(&json!({
        "schema": "braid/v1", "now": 7, "switches": [switch], "links": [link, degraded], "lost_links": [lost], "hosts": [host], "edges": [edge],
        "transfers": [transfer], "events": [], "totals": { "links": 9, "hosts": 8, "transfers": 7 },
    }));
    round_trip::<Delta>(
        &json!({ "schema": "braid/v1", "now": 7, "totals": { "links": 9, "hosts": 8, "transfers": 7 } }),
    );
}

#[test]
fn requests_and_answers_read_back_as_they_were_written() {
    round_trip::<NewAssignment>(&json!({
        "src": "10.0.0.1", "dst": "10.0.0.2", "paths": 2, "streams": 8, "owner": "me", "lease_seconds": 60,
        "distribution": "path:1", "a": 0.5, "saturation_loss": 0.1, "growth": "line",
    }));
    round_trip::<Connection>(
        &json!({ "src": "::1", "src_port": 1, "dst": "::2", "dst_port": 2, "owner": "me" }),
    );
    round_trip::<Requester>(&json!({}));
    round_trip::<NewLeader>(&json!({ "to": "b" }));
    round_trip::<HandOver>(&json!({ "schema": "braid/v1", "to": "b" }));
    round_trip::<Cluster>(&json!({
        "schema": "braid/v1", "now": 7, "name": "default", "member": "a", "leader": "a", "term": 9, "newest_term": 9,
        "store_answers": true, "facts": 5, "stepped_aside": 2,
        "members": [
            { "name": "a", "address": "10.0.0.1:7000", "last_heard": null, "following": null, "switches_reached": 3, "switches_relayed": null },
            { "name": "b", "address": "", "last_heard": 6, "following": { "lag_us": 7, "problem": null }, "switches_reached": null, "switches_relayed": 1 },
        ],
    }));
    round_trip::<Rules>(&json!({
        "schema": "braid/v1", "now": 7, "dpid": "0000000000000001", "name": "west", "truncated": false,
        "rules": [{
            "table": 1, "table_name": "stream", "priority": 50, "match": "tcp,in_port=1", "actions": "group:131072",
            "group": { "number": 131_072, "kind": "protected_port", "purpose": "protected port: 2, or its bypass" },
            "packets": 3, "bytes": null, "age_seconds": 4, "cookie": "0x0000000000000005", "kind": "stream",
            "purpose": "stream 5 of transfer 6 (forward)", "stream": 5, "transfer": 6, "reverse": false, "label": null,
            "path": ["0000000000000001"], "path_names": ["west"],
        }],
    }));
    round_trip::<Placed>(
        &json!({ "schema": "braid/v1", "stream": { "stream": 1, "path": null, "switches": [] } }),
    );
    round_trip::<Ended>(&json!({ "schema": "braid/v1" }));
    let ends = json!({ "local": "10.0.0.1:1", "remote": "10.0.0.2:2" });
    round_trip::<AdviceRequest>(&json!({
        "connection": ends, "local_addresses": ["10.0.0.1"], "remote_addresses": ["10.0.0.2:2"], "subflows": [ends],
        "failed": [], "max_subflows": 4,
    }));
    round_trip::<Advice>(&json!({ "subflows": [ends], "ask_again_after": 30 }));
    round_trip::<PolicyInUse>(&json!({ "schema": "braid/v1", "now": 1, "policy": {
        "rules": [{ "name": "a", "from": ["10.0.0.0/8"], "to": [], "ports": ["80-90"], "kind": "spray", "max_mdi": 0.25, "max_delay_difference_ms": 500,
                    "resequence": "unequal" }],
        "default": { "kind": "auto", "paths": "ksp", "k": 4, "placement": "random", "subflows": 2 },
    }}));
    round_trip::<LinkChange>(&json!({ "up": false, "rate_bps": 8_000, "delay_us": 5, "loss": 0.5 }));
    round_trip::<NewTestbedLink>(&json!({ "rate_bps": 8_000, "loss": 0.5 }));
    let end = json!({ "name": "s1", "at": port(1, 1), "rate_bps": null, "delay_us": 1.5, "loss": 0.0 });
    round_trip::<TestbedChanged>(
        &json!({ "schema": "braid/v1", "link": { "up": true, "ends": [end, end] } }),
    );
    round_trip::<Problem>(&json!({
        "schema": "braid/v1", "type": "about:blank", "title": "Not Found", "status": 404, "detail": "no host",
        "code": "not_found", "parameter": "src",
    }));
    let end = json!({ "name": "h1", "node": "s1", "dpid": "0000000000000001", "also_at": [] });
    let at = json!({ "node": "s1", "dpid": "0000000000000001", "port": 1 });
    round_trip::<Paths>(&json!({
        "schema": "braid/v1", "now": 1, "src": end, "dst": end, "mode": "ksp", "k": 2, "weight": "hops",
        "paths": [{ "nodes": ["s1"], "links": [{ "src": at, "dst": at, "parallel": false }], "hops": 1, "cost": 1,
                    "delay_us": null, "rate_bps": 5, "shared_links": 0 }],
        "truncated": false, "complete": true, "max_flow_bps": null, "reason": "latency-exceeded", "explanation": "late",
        "spraying": { "verdict": "unsuitable", "mdi": 0.5, "delay_difference_us": 46.5, "best_paths": [0] },
        "warnings": [],
    }));
}

#[test]
fn events_of_every_kind_read_back_as_they_were_written() {
    let (dpid, mac) = ("0000000000000001", "02:00:00:00:00:01");
    let tuple = json!({ "src": "10.0.0.1", "dst": "10.0.0.2", "src_port": 1, "dst_port": 2 });
    let (at, to) = (port(1, 1), port(2, 1));
    let kinds = [
        json!({ "notice": "switch_joined", "dpid": dpid, "ports": 3 }),
        json!({ "notice": "rules_found", "dpid": dpid, "rules": 3, "unknown": 0 }),
        json!({ "notice": "reconciled", "labels": 3, "streams": 1 }),
        json!({ "notice": "switch_left", "dpid": dpid }),
        json!({ "notice": "link_up", "src": at, "dst": to }),
        json!({ "notice": "link_down", "src": at, "dst": to, "why": "port_down" }),
        json!({ "notice": "link_damped", "src": at, "dst": to, "losses": 3, "hold_us": 5 }),
        json!({ "notice": "link_recovered", "src": at, "dst": to,
                "evidence": { "frames": 3000, "lost": 1, "damaged": 0, "time_us": 5 } }),
        json!({ "notice": "alarm", "at": at, "threat": { "kind": "reflected_lldp" }, "count": 2 }),
        json!({ "notice": "port_held", "at": at, "hold_us": 5 }),
        json!({ "notice": "host_seen", "mac": mac, "at": at }),
        json!({ "notice": "host_moved", "mac": mac, "from": at, "to": to }),
        json!({ "notice": "address_seen", "mac": mac, "ip": "10.0.0.1" }),
        json!({ "notice": "transfer_opened", "id": 1, "kind": "mptcp" }),
        json!({ "notice": "stream_placed", "id": 1, "transfer": 1, "tuple": tuple, "path": [dpid], "shared_links": 0 }),
        json!({ "notice": "stream_sprayed", "id": 1, "transfer": 1, "tuple": tuple,
                "paths": [{ "path": [dpid], "rate_bps": 4 }] }),
        json!({ "notice": "capacity_measured", "link": at, "capacity_bps": null }),
        json!({ "notice": "stream_rebalanced", "id": 1, "link": at, "load_bps": 1, "capacity_bps": 2, "rate_bps": 3,
                "available_bps": 4 }),
        json!({ "notice": "stream_model_learned", "path": [dpid], "streams_per_gigabit": 4 }),
        json!({ "notice": "stream_ended", "id": 1, "bytes": 5 }),
        json!({ "notice": "transfer_ended", "id": 1 }),
        json!({ "notice": "command_refused", "dpid": dpid, "reason": "full" }),
        json!({ "notice": "table_full", "table": "hosts" }),
        json!({ "notice": "install_failed", "path": [dpid] }),
        json!({ "notice": "events_lost", "count": 9 }),
    ];
    for kind in kinds {
        let mut event = json!({ "number": 1, "time": 2, "level": "warning", "text": "…" });
        let fields = event.as_object_mut().expect("an object");
        fields.extend(kind.as_object().expect("an object").clone());
        round_trip::<Event>(&event);
    }
}

#[test]
fn a_kind_of_event_that_is_not_known_is_read() {
    let event =
        json!({ "number": 1, "time": 2, "level": "info", "text": "…", "notice": "later", "more": [1] });
    let event: Event = serde_json::from_value(event).expect("an event");
    assert_eq!(event.notice, Notice::Unknown);
}

#[test]
fn a_document_of_another_version_is_refused() {
    let refusal =
        |document: Value| serde_json::from_value::<Links>(document).expect_err("refused").to_string();
    let other = json!({ "schema": "braid/v2", "now": 1, "links": [] });
    assert_eq!(refusal(other), "its schema is braid/v2, not braid/v1");
    assert!(refusal(json!({ "now": 1, "links": [] })).contains("missing field `schema`"));
}
