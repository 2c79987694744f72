//! XML-RPC of applications: errors of requests, and harmless malformed input.

use serde_json::{Value, json};

use crate::support::Running;

const RPC: &str = "/RPC2";

fn call(controller: &Running, method: &str, parameters: &[&str]) -> String {
    let parameters: String =
        parameters.iter().map(|it| format!("<param><value><string>{it}</string></value></param>")).collect();
    let body = format!(
        "<?xml version='1.0'?><methodCall><methodName>{method}</methodName><params>{parameters}</params></methodCall>"
    );
    let (status, answer) = controller.send("POST", RPC, body.as_bytes());
    assert_eq!(status, 200, "{answer}");
    answer
}

fn code(answer: &str) -> &str {
    let rest = answer.split_once("<fault>").and_then(|(_, fault)| fault.split_once("<int>"));
    rest.and_then(|(_, rest)| rest.split_once("</int>")).map_or("none", |(code, _)| code)
}

fn post(controller: &Running, path: &str, body: &Value) -> (u16, Value) {
    let (status, answer) = controller.send("POST", path, body.to_string().as_bytes());
    (status, serde_json::from_str(&answer).unwrap_or(Value::String(answer)))
}

#[test]
fn xml_rpc_refuses_what_is_no_call_of_its_methods() {
    let controller = Running::start(None);
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><methodCall><methodName>&a;</methodName></methodCall>";
    let (_, answer) = controller.send("POST", RPC, bomb.as_bytes());
    assert_eq!(code(&answer), "-32700", "{answer}");
    assert_eq!(code(&call(&controller, "Nothing", &[])), "-32601");
    assert_eq!(code(&call(&controller, "MakePath", &["1"])), "-32602");
    let mac = "02:00:00:00:00:01";
    assert_eq!(code(&call(&controller, "AssignMultipath", &["10.0.0.1", mac, "10.0.0.2", "-4"])), "-32602");
    let nobody = call(&controller, "AssignMultipath", &["10.0.0.1", mac, "10.0.0.2", "4"]);
    assert!(code(&nobody) == "-32500" && nobody.contains("no host 10.0.0.1 has been seen"), "{nobody}");
    let unknown = call(&controller, "MakePath", &["00000000000000ff", "10.0.0.1", "4711", "10.0.0.2", "80"]);
    assert!(unknown.contains("there is no assignment 00000000000000ff"), "{unknown}");
    assert!(call(&controller, "system.listMethods", &[]).contains("MakePath"));
}

#[test]
fn a_body_that_is_too_long_is_not_read() {
    let controller = Running::start(None);
    let body = vec![b'x'; 10 * 1024 * 1024];
    for path in [RPC, "/api/v1/assignments"] {
        assert_eq!(controller.try_send("POST", path, &body), Some(413), "{path}");
    }
    assert!(controller.list("switches").is_empty(), "it goes on");
}

#[test]
fn the_api_says_what_is_wrong_with_a_request() {
    let controller = Running::start(None);
    let path = "/api/v1/assignments";
    let whole = json!({ "src": "10.0.0.1", "dst": "10.0.0.2", "paths": 2 });
    let with = |key: &str, value: Value| {
        let mut body = whole.clone();
        body[key] = value;
        body
    };
    for body in [
        json!([]),
        json!({ "src": "10.0.0.1" }),
        with("paths", json!(-1)),
        with("paths", json!(0)),
        with("paths", json!(1_000_000)),
        with("dst", json!("fd00::2")),
        with("src", json!("host")),
        with("a", json!(-1.0)),
        with("saturation_loss", json!(2)),
        with("lease_seconds", json!(0)),
        with("owner", json!("two words")),
        with("else", json!(1)),
    ] {
        let (status, answer) = post(&controller, path, &body);
        assert!(status == 400 && answer["detail"].is_string(), "{body}: {status} {answer}");
    }
    let (status, answer) = post(&controller, path, &whole);
    assert_eq!((status, &answer["detail"]), (404, &json!("no host 10.0.0.1 has been seen")));
    let stream = json!({ "src": "10.0.0.1", "src_port": 1, "dst": "10.0.0.2", "dst_port": 2 });
    assert_eq!(post(&controller, &format!("{path}/00000000000000ff/streams"), &stream).0, 404);
    assert_eq!(post(&controller, &format!("{path}/ff/streams"), &stream).0, 400);
    assert_eq!(controller.request("DELETE", &format!("{path}/00000000000000ff")).0, 404);
    assert!(controller.list("assignments").is_empty());
}
