//! Advice for hosts over HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use braid_controller::Agents;
use serde_json::{Value, json};

use crate::support::{Running, config};

const TOKEN: &str = "0123456789abcdef";

fn question() -> Value {
    json!({
        "connection": { "local": "10.0.0.1:43210", "remote": "10.0.0.2:5201" },
        "local_addresses": ["10.0.0.1"],
        "remote_addresses": ["10.0.0.2:5201"],
        "subflows": [],
        "failed": [],
        "max_subflows": 16,
    })
}

/// The status, the head and the body of the answer.
fn ask(controller: &Running, headers: &str, body: &str) -> (u16, String, Value) {
    let mut stream = TcpStream::connect(controller.http).expect("HTTP port");
    let length = body.len();
    let head = format!(
        "POST /api/v1/advice HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n"
    );
    // A server that has heard enough may close before it has read all.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("status");
    (status, head.to_lowercase(), serde_json::from_str(body).expect("JSON"))
}

#[test]
fn what_cannot_be_answered_is_refused_with_a_problem_document() {
    let controller = Running::start(None);
    let with = |field: &str, value: Value| {
        let mut question = question();
        question[field] = value;
        question.to_string()
    };
    let many = vec![question()["connection"].clone(); 300];
    let cases = [
        ("", 400, "unreadable"),
        ("{}", 400, "unreadable"),
        (&with("max_subflows", json!(-1)), 400, "unreadable"),
        (&with("max_subflows", json!(10_000)), 422, "too_many"),
        (&with("subflows", json!(many)), 422, "too_many"),
        (&with("connection", json!({ "local": "10.0.0.1:0", "remote": "10.0.0.2:1" })), 422, "no_subflow"),
        (&question().to_string(), 404, "unknown_host"),
        (&" ".repeat(70_000), 413, "body"),
    ];
    for (body, status, code) in cases {
        let (got, head, problem) = ask(&controller, "", body);
        assert_eq!((got, problem["code"].as_str()), (status, Some(code)), "{problem}");
        assert!(head.contains("content-type: application/problem+json"), "{head}");
        assert_eq!(problem["status"], status);
        assert!(problem["title"].as_str().is_some_and(|title| !title.is_empty()));
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
    }
    assert_eq!(controller.get("/api/v1/advice").0, 405);
}

#[test]
fn a_wrong_token_is_refused_before_the_question_is_read() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = format!("[[agent]]\nname = \"a\"\ntoken = \"{TOKEN}\"\naddresses = [\"10.0.0.9\"]\n");
    std::fs::write(file.path(), text).expect("a file");
    let agents = Agents::read(file.path()).expect("agents");
    let controller = Running::start_with(braid_controller::Config { agents, ..config(any, any, None) });
    for authorization in ["Bearer wrong", "Bearer", "Basic YTpi", "Bearer 0123456789abcde"] {
        let (status, head, problem) =
            ask(&controller, &format!("Authorization: {authorization}\r\n"), "nonsense");
        assert_eq!((status, problem["code"].as_str()), (401, Some("unauthorized")), "{authorization}");
        assert!(head.contains("www-authenticate: bearer"), "{head}");
    }
    let (status, _, problem) =
        ask(&controller, &format!("Authorization: bearer {TOKEN}\r\n"), &question().to_string());
    assert_eq!((status, problem["code"].as_str()), (403, Some("not_own")), "{problem}");
}

#[test]
fn requests_above_the_rate_limit_are_told_to_wait() {
    let controller = Running::start(None);
    let refused = (0..1_000).map(|_| ask(&controller, "", "{}")).find(|(status, ..)| *status == 429);
    let (_, head, problem) = refused.expect("a refusal");
    assert_eq!(problem["code"], "rate_limited");
    assert!(head.contains("retry-after: 1"), "{head}");
}
