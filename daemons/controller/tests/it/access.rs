//! Access from other machines, and TLS.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use braid_controller::{Access, Config, Controller, ControllerError, HostNames, Tls, Tokens};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::support::{Running, TIMEOUT, config, wait_for};

const TOKENS: &str = r#"
    [[token]]
    name = "grafana"
    token = "read-0123456789abcdef"
    access = "read"

    [[token]]
    name = "mover"
    token = "use-0123456789abcdef"
    access = "use"

    [[token]]
    name = "operator"
    token = "change-0123456789abcdef"
    access = "change"
"#;

const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);
const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn tokens() -> Tokens {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), TOKENS).expect("a file");
    Tokens::read(file.path()).expect("tokens")
}

/// An address of this machine that is not loopback, from which it seems to be another one.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: the system only says where it would leave from.
    socket.connect("192.0.2.1:9").ok()?;
    socket
        .local_addr()
        .ok()
        .map(|address| address.ip())
        .filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

fn start(access: Access) -> Running {
    Running::start_with(Config { access, ..config(LOOPBACK, ANY, None) })
}

fn status(answer: &[u8]) -> u16 {
    let text = String::from_utf8_lossy(answer);
    text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

fn ask(mut stream: impl Read + Write, method: &str, path: &str, header: &str) -> u16 {
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: braid.example\r\nConnection: close\r\n{header}\r\n")
        .expect("a question");
    let mut answer = [0; 256];
    let read = stream.read(&mut answer).expect("an answer");
    status(&answer[..read])
}

#[test]
fn what_others_can_reach_is_not_served_without_tokens_and_a_certificate() {
    let bind = |access| Controller::bind(Config { access, ..config(LOOPBACK, ANY, None) });
    let refused = |access| matches!(bind(access), Err(ControllerError::Open { .. }));
    assert!(refused(Access::default()));
    assert!(refused(Access { tokens: Some(tokens()), ..Access::default() }));
    assert!(!refused(Access { trusted: true, ..Access::default() }));
    let text = bind(Access::default()).expect_err("open").to_string();
    assert!(text.contains("--tokens") && text.contains("--http-trusted"), "{text}");
}

#[test]
fn tokens_give_rights_and_wrong_ones_none() {
    let Some(ip) = own_address() else {
        return println!("skipped: this machine has loopback addresses only");
    };
    let controller = start(Access {
        tokens: Some(tokens()),
        tls: None,
        trusted: true,
        hosts: HostNames::new(["braid.example".to_owned()]),
    });
    let at = SocketAddr::new(ip, controller.http.port());
    let ask = |method, path, header: &str| {
        let header = if header.is_empty() { String::new() } else { format!("Authorization: {header}\r\n") };
        ask(TcpStream::connect(at).expect("a connection"), method, path, &header)
    };
    let (read, using, change) =
        ("Bearer read-0123456789abcdef", "bearer use-0123456789abcdef", "Bearer change-0123456789abcdef");
    for path in ["/", "/api/v1/links", "/api/v1/stream", "/metrics", "/api/v1/nothing"] {
        assert_eq!(ask("GET", path, ""), 401, "{path}");
        assert_eq!(ask("GET", path, "Bearer read-0123456789abcdee"), 401, "{path}");
    }
    assert_eq!(ask("GET", "/api/v1/links", read), 200);
    // As the password of a browser: base64 of "me:read-0123456789abcdef".
    assert_eq!(ask("GET", "/", "Basic bWU6cmVhZC0wMTIzNDU2Nzg5YWJjZGVm"), 200);
    let measure = "/api/v1/links/measure?dpid=1&port=1";
    assert_eq!((ask("POST", measure, read), ask("POST", measure, using)), (403, 404));
    let policy = "/api/v1/policy";
    // Without a body, which the right lets through to where it is read.
    assert_eq!((ask("PUT", policy, using), ask("PUT", policy, change)), (403, 400));
    assert_eq!(ask("PUT", "/api/v1/testbed/links?from=a&to=b", using), 403);
    // Agents on hosts have tokens of their own.
    assert_eq!(ask("POST", "/api/v1/advice", ""), 400);
    let alarms = controller.list("alarms");
    assert!(
        alarms.iter().any(|alarm| alarm["kind"] == "wrong_token" && alarm["peer"] == ip.to_string().as_str())
    );
}

#[test]
fn a_certificate_encrypts_loopback_too() {
    let (certificate, client) = Certificate::new();
    let access = Access { tls: Some(certificate.tls()), ..Access::default() };
    let controller = Running::start_with(Config { access, ..config(LOOPBACK, LOOPBACK, None) });
    let client = Arc::new(client);
    assert_eq!(ask(connect(controller.http, &client, "braid.example"), "GET", "/api/v1/links", ""), 200);
    let mut plain = TcpStream::connect(controller.http).expect("a connection");
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("bytes");
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "nothing is told in the clear");
}

/// A certificate for `braid.example` in files, which replaces what was there.
struct Certificate {
    folder: tempfile::TempDir,
}

impl Certificate {
    fn new() -> (Self, ClientConfig) {
        let new = Self { folder: tempfile::tempdir().expect("a folder") };
        let client = new.replace();
        (new, client)
    }

    fn files(&self) -> [PathBuf; 2] {
        ["certificate.pem", "key.pem"].map(|name| self.folder.path().join(name))
    }

    /// Makes another; a client that believes only this one.
    fn replace(&self) -> ClientConfig {
        let made = rcgen::generate_simple_self_signed(["braid.example".to_owned()]).expect("a certificate");
        let [certificate, key] = self.files();
        std::fs::write(certificate, made.cert.pem()).expect("a file");
        std::fs::write(key, made.signing_key.serialize_pem()).expect("a file");
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).expect("a root");
        let client = ClientConfig::builder_with_provider(default_provider().into());
        let client = client.with_safe_default_protocol_versions().expect("versions");
        client.with_root_certificates(roots).with_no_client_auth()
    }

    fn tls(&self) -> Tls {
        let [certificate, key] = self.files();
        assert!(Tls::read(&key, &certificate).is_err());
        Tls::read(&certificate, &key).expect("a pair")
    }
}

type Encrypted = StreamOwned<ClientConnection, TcpStream>;

fn connect(at: SocketAddr, client: &Arc<ClientConfig>, name: &'static str) -> Encrypted {
    let stream = TcpStream::connect(at).expect("a connection");
    stream.set_read_timeout(Some(TIMEOUT)).expect("time-out");
    let name = ServerName::try_from(name).expect("a name");
    StreamOwned::new(ClientConnection::new(client.clone(), name).expect("a client"), stream)
}

#[test]
fn programs_are_served_over_tls_and_nobody_waits_for_one_that_says_nothing() {
    let Some(ip) = own_address() else {
        return println!("skipped: this machine has loopback addresses only");
    };
    let (certificate, client) = Certificate::new();
    let (tls, client) = (Some(certificate.tls()), Arc::new(client));
    let controller = start(Access { tokens: Some(tokens()), tls, ..Access::default() });
    let at = SocketAddr::new(ip, controller.http.port());
    let _silent: Vec<_> = (0..50).map(|_| TcpStream::connect(at).expect("a connection")).collect();

    let connect = |name| connect(at, &client, name);
    let token = "Authorization: Bearer read-0123456789abcdef\r\n";
    assert_eq!(ask(connect("braid.example"), "GET", "/api/v1/links", token), 200);
    assert_eq!(ask(connect("braid.example"), "GET", "/api/v1/links", ""), 401);
    assert!(connect("other.example").write_all(b"GET").is_err(), "a certificate for another name");
    let mut plain = TcpStream::connect(at).expect("a connection");
    plain.set_read_timeout(Some(Duration::from_secs(10))).expect("time-out");
    plain.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").expect("bytes");
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "nothing is told in the clear");
}

#[test]
fn a_certificate_that_is_replaced_counts_for_new_connections_and_a_bad_one_does_not() {
    let Some(ip) = own_address() else {
        return println!("skipped: this machine has loopback addresses only");
    };
    let (certificate, first) = Certificate::new();
    let controller =
        start(Access { tokens: Some(tokens()), tls: Some(certificate.tls()), ..Access::default() });
    let at = SocketAddr::new(ip, controller.http.port());
    let token = "Authorization: Bearer read-0123456789abcdef\r\n";
    let question = format!("GET /api/v1/links HTTP/1.1\r\nHost: braid.example\r\n{token}\r\n");
    let first = Arc::new(first);
    let is_believed =
        |client: &Arc<ClientConfig>| connect(at, client, "braid.example").write_all(b"GET").is_ok();
    let mut old = connect(at, &first, "braid.example");
    old.write_all(question.as_bytes()).expect("a question");
    assert!(old.read(&mut [0; 4_096]).expect("an answer") > 0);

    let second = Arc::new(certificate.replace());
    assert!(is_believed(&first), "nobody has said that it was replaced");
    let hang_up = || rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::HUP);
    hang_up().expect("a signal");
    wait_for(|| is_believed(&second), || "the second certificate".to_owned());
    assert!(!is_believed(&first));
    old.write_all(question.as_bytes()).expect("what is open stays open");
    assert!(old.read(&mut [0; 4_096]).expect("an answer") > 0);

    std::fs::write(&certificate.files()[0], "nothing").expect("a file");
    hang_up().expect("a signal");
    std::thread::sleep(Duration::from_millis(300));
    assert!(is_believed(&second), "a bad file changes nothing");
    let third = Arc::new(certificate.replace());
    hang_up().expect("a signal");
    wait_for(|| is_believed(&third), || "the third certificate".to_owned());
}
