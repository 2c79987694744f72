//! Controllers over TLS.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use braid_edge::{ControllerOption, Edge, EdgeError, Options};
use braid_openflow::{Message, MessageType};
use braid_tls::{CredentialPaths, Credentials, TlsStream};
use braid_types::DatapathId;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::support::Running;

const TIMEOUT: Duration = Duration::from_secs(20);

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "authority");
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Files with a certificate of `by`, for somebody who trusts `trusted`.
fn issue(folder: &Path, name: &str, by: &Authority, trusted: &Authority) -> CredentialPaths {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    let write = |what: &str, text: String| {
        let path = folder.join(format!("{name}-{what}.pem"));
        fs::write(&path, text).unwrap();
        path
    };
    CredentialPaths {
        certificate: write("cert", params.signed_by(&key, by).unwrap().pem()),
        key: write("key", key.serialize_pem()),
        authority: write("ca", trusted.pem()),
    }
}

fn options(listener: &TcpListener, credentials: Option<CredentialPaths>) -> Options {
    Options {
        dpid: DatapathId(0x2a),
        ports: Vec::new(),
        uplinks: Vec::new(),
        tunnels: Vec::new(),
        rewrite: false,
        listen: vec!["127.0.0.1:0".parse().unwrap()],
        controllers: vec![ControllerOption { address: listener.local_addr().unwrap(), tls: true }],
        credentials,
    }
}

/// The handshake with the edge that connects next.
fn accept(listener: &TcpListener, paths: &CredentialPaths) -> std::io::Result<TlsStream> {
    let (stream, _): (TcpStream, _) = listener.accept()?;
    stream.set_nonblocking(true)?;
    let config = Credentials::read(paths).unwrap().server().unwrap();
    let (mut stream, start) = (TlsStream::accept(stream, config)?, Instant::now());
    while !stream.handshake()? {
        assert!(start.elapsed() < TIMEOUT, "no end of the handshake");
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(stream)
}

fn first_message(stream: &mut TlsStream) -> MessageType {
    let (mut room, start) = (vec![0; TlsStream::MIN_ROOM], Instant::now());
    loop {
        assert!(start.elapsed() < TIMEOUT, "no message");
        match stream.read(&mut room) {
            Ok(length) => return Message::decode(&room[..length]).unwrap().1.message_type(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn an_edge_and_its_controller_show_certificates_to_each_other() {
    let (folder, ca) = (tempfile::tempdir().unwrap(), authority());
    let [edge, controller] = ["edge", "controller"].map(|name| issue(folder.path(), name, &ca, &ca));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _edge = Running::start_with(options(&listener, Some(edge)));
    let mut stream = accept(&listener, &controller).unwrap();
    assert_eq!(stream.peer_certificate().unwrap().names, ["edge"]);
    assert_eq!(first_message(&mut stream), MessageType::Hello);
}

#[test]
fn an_edge_says_nothing_to_a_controller_of_another_authority_and_tries_again() {
    let (folder, ca, other) = (tempfile::tempdir().unwrap(), authority(), authority());
    let edge = issue(folder.path(), "edge", &ca, &ca);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _edge = Running::start_with(options(&listener, Some(edge)));
    let false_controller = issue(folder.path(), "false", &other, &ca);
    assert!(accept(&listener, &false_controller).is_err());
    let controller = issue(folder.path(), "controller", &ca, &ca);
    assert_eq!(first_message(&mut accept(&listener, &controller).unwrap()), MessageType::Hello);
}

#[test]
fn an_edge_without_a_certificate_does_not_start_with_a_controller_at_ssl() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(matches!(Edge::new(&options(&listener, None)), Err(EdgeError::NoCredentials)));
}
