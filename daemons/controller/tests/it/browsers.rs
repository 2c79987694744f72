//! Requests of browsers: origins, host names and methods.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;

use serde_json::Value;

use crate::support::{Running, Switch};

/// The status, the head and the body of an answer that ends with the connection.
fn read(mut answer: BufReader<TcpStream>) -> (u16, String, String) {
    let mut text = String::new();
    answer.read_to_string(&mut text).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("head and body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("status");
    (status, head.to_ascii_lowercase(), body.to_owned())
}

#[test]
fn what_is_not_answered_is_a_problem_document() {
    let controller = Running::start(None);
    let paths = [
        ("GET", "/api/v1/nothing", 404, None),
        ("DELETE", "/api/v1/links", 405, None),
        ("GET", "/api/v1/links/history", 400, Some("dpid")),
        ("GET", "/api/v1/links/history?dpid=1&port=-1", 400, Some("port")),
        ("GET", "/api/v1/links/history?dpid=1&port=1&step_s=7", 400, Some("step_s")),
        ("GET", "/api/v1/links/history?dpid=1&port=1", 404, None),
        ("GET", "/api/v1/transfers/history?id=x", 400, Some("id")),
        ("GET", "/api/v1/transfers/history?id=1", 404, None),
        ("GET", "/api/v1/events?limit=-1", 400, Some("limit")),
        ("POST", "/api/v1/links/measure?dpid=1", 400, Some("port")),
        ("GET", "/api/v1/paths?src=1", 400, Some("dst")),
    ];
    for (method, path, expected, parameter) in paths {
        let (status, head, body) =
            read(controller.open(method, path, &["Host: localhost", "Connection: close"]));
        assert_eq!(status, expected, "{path}: {body}");
        assert!(head.contains("content-type: application/problem+json"), "{path}: {head}");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(body["status"], expected, "{path}");
        assert_eq!(body["parameter"].as_str(), parameter, "{path}: {body}");
        assert!(["type", "title", "detail"].iter().all(|it| body[it].is_string()), "{body}");
    }
}

#[test]
fn a_page_of_another_origin_changes_nothing_and_sees_nothing() {
    let controller = Running::start(None);
    let ask = |method, path, headers: &[&str]| read(controller.open(method, path, headers)).0;
    let measure = "/api/v1/links/measure?dpid=1&port=1";
    let host = format!("Host: {}", controller.http);
    assert_eq!(ask("POST", measure, &[&host, "Connection: close"]), 404, "a program");
    assert_eq!(ask("POST", measure, &[&host, "Origin: http://evil.example", "Connection: close"]), 403);
    assert_eq!(ask("POST", measure, &[&host, "Sec-Fetch-Site: cross-site", "Connection: close"]), 403);
    assert_eq!(ask("GET", "/api/v1/links", &["Host: evil.example", "Connection: close"]), 403);
    assert_eq!(ask("GET", "/api/v1/links", &["Connection: close"]), 400, "no host");
    assert_eq!(ask("GET", "/api/v1/links", &[&host, &host, "Connection: close"]), 400, "two hosts");
    let (status, head, _) = read(controller.open("GET", "/api/v1/links", &[&host, "Connection: close"]));
    assert_eq!(status, 200);
    assert!(!head.contains("access-control-allow"), "{head}");
    assert!(
        head.contains("content-security-policy: default-src 'self'") && head.contains("nosniff"),
        "{head}"
    );
}

#[test]
fn more_watchers_than_there_is_room_for_are_turned_away_and_the_others_served() {
    let controller = Running::start(None);
    let watch = || {
        let mut stream = controller.open("GET", "/api/v1/stream", &["Host: localhost"]);
        let mut line = String::new();
        stream.read_line(&mut line).expect("a status");
        (line.contains(" 200 "), stream)
    };
    let watchers: Vec<_> = (0..260).map(|_| watch()).collect();
    assert_eq!(watchers.iter().filter(|(admitted, _)| *admitted).count(), 256);
    let _switch = Switch::join(controller.openflow, 1);
    controller.wait_for_switches(1);
}

#[test]
fn a_thousand_connections_that_say_nothing_keep_nobody_out() {
    let controller = Running::start(None);
    let silent: Vec<_> = (0..1_000).filter_map(|_| TcpStream::connect(controller.http).ok()).collect();
    assert_eq!(silent.len(), 1_000);
    assert_eq!(controller.get("/api/v1/switches").0, 200);
    let mut first = &silent[0];
    first.set_read_timeout(Some(crate::support::TIMEOUT)).expect("time-out");
    assert_eq!(first.read(&mut [0]).expect("closed in time"), 0);
}

#[test]
fn connections_that_begin_a_request_and_do_not_end_it_keep_nobody_out() {
    let controller = Running::start(None);
    let slow: Vec<_> = (0..1_500)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(controller.http).ok()?;
            // The oldest may have been closed by then.
            let _ = std::io::Write::write_all(&mut stream, b"G");
            Some(stream)
        })
        .collect();
    assert_eq!(controller.get("/api/v1/switches").0, 200);
    for mut stream in slow {
        stream.set_read_timeout(Some(crate::support::TIMEOUT)).expect("time-out");
        // Closed in time, or reset with the byte unread.
        assert!(
            stream
                .read(&mut [0])
                .map_or_else(|error| error.kind() == std::io::ErrorKind::ConnectionReset, |read| read == 0)
        );
    }
}

#[test]
fn nothing_but_what_is_built_in_is_served_as_a_file() {
    let controller = Running::start(None);
    let paths = [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/app.js/../../../../etc/passwd",
        "/api/v1/../../etc/passwd",
        "/\\..\\..\\etc\\passwd",
        "/app.js%00",
        "/index.html",
    ];
    for path in paths {
        let (status, body) = controller.get(path);
        assert!([400, 404].contains(&status), "{path}: {status} {body}");
    }
}
