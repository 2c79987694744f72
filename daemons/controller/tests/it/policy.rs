//! The policy over the API: shown and changed.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use braid_controller::PolicyFile;
use serde_json::{Value, json};

use crate::support::{Running, config};

const POLICY: &str = "[[rule]]\nname = \"bulk\"\nto = [\"10.2.0.0/16\"]\nports = [\"50000-51000\", 22]\npaths = \"ksp\"\nk = 16\n";

fn put(controller: &Running, text: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(controller.http).expect("HTTP port");
    let length = text.len();
    let head = "PUT /api/v1/policy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {length}\r\n\r\n{text}").expect("request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("status");
    (status, serde_json::from_str(body).expect("JSON"))
}

fn shown(controller: &Running) -> Value {
    let (status, body) = controller.get("/api/v1/policy");
    assert_eq!(status, 200);
    let body: Value = serde_json::from_str(&body).expect("JSON");
    body["policy"].clone()
}

fn with_file(text: &str) -> Running {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("a file");
    let policy = Some(PolicyFile::read(file.path()).expect("a policy"));
    Running::start_with(braid_controller::Config { policy, ..config(any, any, None) })
}

#[test]
fn the_policy_of_the_file_is_shown_as_it_is_understood() {
    let rule = json!({
        "name": "bulk", "from": [], "to": ["10.2.0.0/16"], "ports": ["50000-51000", "22"],
        "kind": "auto", "paths": "ksp", "k": 16,
    });
    assert_eq!(shown(&with_file(POLICY)), json!({ "rules": [rule], "default": { "kind": "auto" } }));
}

#[test]
fn a_policy_is_taken_over_and_one_with_mistakes_changes_nothing() {
    let controller = Running::start(None);
    assert_eq!(shown(&controller), json!({ "rules": [], "default": { "kind": "auto" } }));
    assert_eq!(put(&controller, POLICY).0, 200);
    let before = shown(&controller);
    assert_eq!(before["rules"][0]["k"], 16);
    let (status, body) = put(&controller, "[default]\nk = 0\n");
    assert_eq!((status, &body["detail"]), (400, &json!("2:5: default.k: 0 is not from 1 to 64")));
    assert_eq!(shown(&controller), before);
}
