//! `braid page`: a recorded run on the page.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use support::{run, text};

const RUN: &str = r#"{"schema":"braid/v1","run":[{"event":"snapshot","data":{}}]}"#;

/// `braid page` with these arguments, and its address.
fn start(arguments: &[&str]) -> (Child, String) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("braid"));
    let mut process = command.arg("page").args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/?run=/run.json").unwrap();
    (process, address.to_owned())
}

/// The head and the body of an answer.
fn get(address: &str, path: &str, host: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
    (text(&answer[..end]).to_lowercase(), answer[end + 4..].to_vec())
}

#[test]
fn a_run_is_served_with_the_page_and_without_root() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), RUN).unwrap();
    let (mut process, address) = start(&[file.path().to_str().unwrap()]);
    let (head, body) = get(&address, "/run.json", "localhost");
    assert!(head.starts_with("http/1.1 200") && head.contains("content-security-policy"), "{head}");
    assert_eq!(body, RUN.as_bytes());
    let (head, body) = get(&address, "/", "localhost");
    assert!(head.contains("text/html") && text(&body).contains("app.js"), "{head}");
    assert!(get(&address, "/run.json", "evil.example").0.starts_with("http/1.1 403"));
    assert!(get(&address, "/api/v1/links", "localhost").0.starts_with("http/1.1 404"));
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn a_demonstration_is_served_when_no_run_is_named() {
    let (mut process, address) = start(&[]);
    let (head, body) = get(&address, "/run.json", "localhost");
    assert!(head.contains("content-encoding: gzip"), "{head}");
    assert_eq!(body[..2], [0x1f, 0x8b]);
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn what_is_no_run_is_refused_before_it_is_served() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for content in ["", "{}", "# a scenario", r#"{"schema":"braid/v1"}"#, r#"{"schema":"other","run":[]}"#] {
        std::fs::write(file.path(), content).unwrap();
        let output = run(&["page", file.path().to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{content}");
        assert!(text(&output.stderr).contains("is no recorded run"), "{content}");
    }
}

#[test]
fn a_run_that_is_not_there_is_not_found() {
    let output = run(&["page", "/nowhere/run.json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("/nowhere/run.json"));
}
