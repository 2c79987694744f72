//! TLS over loopback: who is let in, who is not and why, and bytes both ways.

use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use braid_tls::{CredentialPaths, Credentials, Role, TlsStream, explain};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use tempfile::TempDir;

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority")
}

/// A certificate as `ovs-pki` makes it: a common name, and no address.
fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// Credentials with a certificate of `by` that trust peers of `trusts`.
fn credentials(folder: &Path, params: CertificateParams, by: &Authority, trusts: &Authority) -> Credentials {
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, by).expect("a certificate");
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let paths = CredentialPaths {
        certificate: write("cert.pem", certificate.pem()),
        key: write("key.pem", key.serialize_pem()),
        authority: write("ca.pem", trusts.pem()),
    };
    Credentials::read(&paths).expect("valid files")
}

struct Pair {
    client: TlsStream,
    server: TlsStream,
}

fn pair(client: &Credentials, server: &Credentials) -> Pair {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let a = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
    let (b, _) = listener.accept().expect("a connection");
    a.set_nonblocking(true).and_then(|()| b.set_nonblocking(true)).expect("sockets");
    Pair {
        client: TlsStream::connect(a, client.client().expect("a client")).expect("a client"),
        server: TlsStream::accept(b, server.server().expect("a server")).expect("a server"),
    }
}

impl Pair {
    /// What comes of the handshake at the server.
    fn shake(&mut self) -> io::Result<()> {
        loop {
            let client = self.client.handshake();
            if self.server.handshake()? && client? {
                return Ok(());
            }
        }
    }
}

fn refusal(client: &Credentials, server: &Credentials) -> String {
    explain(Role::Switch, &pair(client, server).shake().expect_err("a refusal"))
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn good(folder: &Path, trusts: &Authority, by: &Authority, name: &str) -> Credentials {
    credentials(folder, params(name), by, trusts)
}

#[test]
fn bytes_pass_both_ways_and_the_certificate_names_its_holder() {
    let (dir, ca) = (folder(), authority("switches"));
    let [client, server] = ["sw1", "controller"].map(|name| good(dir.path(), &ca, &ca, name));
    let mut pair = pair(&client, &server);
    pair.shake().expect("trust");
    assert_eq!(pair.server.peer_certificate().expect("a certificate").names, ["sw1"]);
    let mut room = vec![0; TlsStream::MIN_ROOM];
    let sent: Vec<u8> = (0..300_000_u32).map(|it| it as u8).collect();
    let (mut at, mut got) = (0, Vec::new());
    while got.len() < sent.len() {
        if at < sent.len() {
            at += pair.client.write(&sent[at..]).or_else(later).expect("a write");
        } else {
            pair.client.flush().expect("a write");
        }
        let read = pair.server.read(&mut room).or_else(later).expect("a read");
        got.extend_from_slice(&room[..read]);
    }
    assert_eq!(got, sent);
    pair.server.write(b"end").expect("a write");
    let read = read(&mut pair.client, &mut room);
    assert_eq!(&room[..read], b"end");
}

/// Reads once something has come.
fn read(stream: &mut TlsStream, room: &mut [u8]) -> usize {
    loop {
        match stream.read(room) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            read => return read.expect("a read"),
        }
    }
}

fn later(error: io::Error) -> io::Result<usize> {
    if error.kind() == ErrorKind::WouldBlock { Ok(0) } else { Err(error) }
}

#[test]
fn bytes_that_follow_the_handshake_at_once_are_not_lost() {
    let (dir, ca) = (folder(), authority("switches"));
    let [client, server] = ["sw1", "controller"].map(|name| good(dir.path(), &ca, &ca, name));
    let mut pair = pair(&client, &server);
    while !pair.client.handshake().expect("trust") {
        pair.server.handshake().expect("trust");
    }
    pair.client.write(b"hello").expect("a write");
    while !pair.server.handshake().expect("trust") {}
    let mut room = vec![0; TlsStream::MIN_ROOM];
    assert_eq!(read(&mut pair.server, &mut room), 5);
}

#[test]
fn the_end_of_a_connection_reads_as_its_end() {
    let (dir, ca) = (folder(), authority("switches"));
    let [client, server] = ["sw1", "controller"].map(|name| good(dir.path(), &ca, &ca, name));
    let mut pair = pair(&client, &server);
    pair.shake().expect("trust");
    pair.client.close();
    let mut room = vec![0; TlsStream::MIN_ROOM];
    assert_eq!(read(&mut pair.server, &mut room), 0);
}

#[test]
fn strangers_are_refused_with_the_reason_and_the_remedy() {
    let (dir, ca, other) = (folder(), authority("switches"), authority("others"));
    let server = good(dir.path(), &ca, &ca, "controller");
    let stranger = good(dir.path(), &ca, &other, "sw1");
    let said = refusal(&stranger, &server);
    assert!(said.contains("not signed by an authority in --openflow-tls-ca"), "{said}");
    let mut old = params("sw1");
    (old.not_before, old.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    let said = refusal(&credentials(dir.path(), old, &ca, &ca), &server);
    assert!(said.contains("has expired: issue a new one"), "{said}");
    let distrustful = good(dir.path(), &other, &ca, "sw1");
    let said = refusal(&distrustful, &server);
    assert!(said.contains("does not trust this program's certificate"), "{said}");
}

#[test]
fn a_client_without_a_certificate_or_without_tls_is_refused() {
    let (dir, ca) = (folder(), authority("switches"));
    let server = good(dir.path(), &ca, &ca, "controller");
    let mut pair = pair(&server, &server);
    io::Write::write_all(&mut pair.client.socket(), b"\x04\x00\x00\x08\0\0\0\0").expect("a write");
    let said = loop {
        match pair.server.handshake() {
            Ok(done) => assert!(!done, "refused"),
            Err(error) => break explain(Role::Switch, &error),
        }
    };
    assert!(said.contains("does not speak TLS"), "{said}");
}

#[test]
fn errors_of_files_name_the_file() {
    let (dir, ca) = (folder(), authority("switches"));
    good(dir.path(), &ca, &ca, "controller");
    let paths = |certificate: &str, key: &str| CredentialPaths {
        certificate: dir.path().join(certificate),
        key: dir.path().join(key),
        authority: dir.path().join("ca.pem"),
    };
    let said = Credentials::read(&paths("none.pem", "key.pem")).expect_err("no file").to_string();
    assert!(said.contains("none.pem: no certificate"), "{said}");
    let said = Credentials::read(&paths("ca.pem", "key.pem")).expect_err("another's key").to_string();
    assert!(said.contains("ca.pem and ") && said.contains("key.pem"), "{said}");
}
