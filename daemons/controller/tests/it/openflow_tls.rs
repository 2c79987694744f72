//! OpenFlow over TLS: who may join as which datapath, and what everybody else is told.

use std::fs;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;

use braid_controller::{Config, OpenFlowTls, SwitchIdentities};
use braid_openflow::{
    Bytes, Capabilities, Echo, Hello, Message, MessageType, SwitchFeatures, Xid, frame_length,
};
use braid_tls::{CredentialPaths, Credentials, TlsStream, Transport};
use braid_types::DatapathId;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;

use crate::support::{Running, Switch, config, wait_for};

pub(crate) const LOOPBACK: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// An authority for both sides, and the files that it makes.
pub(crate) struct Pki {
    folder: TempDir,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Pki {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority");
        let key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(params, key).expect("an authority");
        Self { folder: tempfile::tempdir().expect("a folder"), authority }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("a file");
        path
    }

    /// Writes a certificate with this common name.
    pub(crate) fn issue(&self, name: &str) -> CredentialPaths {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.authority).expect("a certificate");
        CredentialPaths {
            certificate: self.file(&format!("{name}-cert.pem"), &certificate.pem()),
            key: self.file(&format!("{name}-key.pem"), &key.serialize_pem()),
            authority: self.file("ca.pem", &self.authority.pem()),
        }
    }

    fn controller(&self, is_required: bool, listed: &str) -> Running {
        let identities = SwitchIdentities::read(Some(self.file("identities.toml", listed)), None);
        let openflow_tls = Some(self.openflow_tls(is_required, identities.expect("valid")));
        Running::start_with(Config { openflow_tls, ..config(LOOPBACK, LOOPBACK, None) })
    }

    pub(crate) fn openflow_tls(&self, is_required: bool, identities: SwitchIdentities) -> OpenFlowTls {
        OpenFlowTls::read(is_required, self.issue("controller"), identities).expect("valid files")
    }

    pub(crate) fn connect(&self, to: SocketAddr, name: &str) -> Transport {
        let stream = TcpStream::connect(to).expect("OpenFlow port");
        stream.set_nonblocking(true).expect("a socket");
        let config = Credentials::read(&self.issue(name)).expect("valid files").client().expect("a client");
        Transport::Tls(Box::new(TlsStream::connect(stream, config).expect("a client")))
    }
}

fn claims(stream: Transport, dpid: u64) -> bool {
    claims_each(stream, &[dpid])
}

/// Says HELLO and who it is, one after the other; then `false` if the controller closes, `true` if it goes on.
fn claims_each(mut stream: Transport, dpids: &[u64]) -> bool {
    let mut room = vec![0; TlsStream::MIN_ROOM];
    let (mut heard, mut out) = (Vec::new(), Vec::new());
    Message::Hello(Hello::V1_3).encode(Xid(1), &mut out).expect("a short message");
    loop {
        match stream.write(&out) {
            Ok(sent) => drop(out.drain(..sent)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
        match stream.read(&mut room) {
            Ok(0) => return false,
            Ok(read) => heard.extend_from_slice(&room[..read]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
        while let Some(length) = frame_length(&heard).expect("whole messages").filter(|it| *it <= heard.len())
        {
            match MessageType::from(heard[1]) {
                MessageType::FeaturesRequest => {
                    for dpid in dpids {
                        let reply = Message::FeaturesReply(features(*dpid));
                        reply.encode(Xid(2), &mut out).expect("a short message");
                    }
                    let echo = Message::EchoRequest(Echo { data: Bytes(&[]) });
                    echo.encode(Xid(3), &mut out).expect("a short message");
                }
                // The claim comes before the echo: who is refused gets no answer.
                MessageType::EchoReply => return true,
                _ => {}
            }
            heard.drain(..length);
        }
    }
}

fn features(dpid: u64) -> SwitchFeatures {
    SwitchFeatures {
        datapath_id: DatapathId(dpid),
        n_buffers: 0,
        n_tables: 254,
        auxiliary_id: 0,
        capabilities: Capabilities::FLOW_STATS,
        reserved: 0,
    }
}

pub(crate) fn alarm(controller: &Running, kind: &str) -> String {
    let find = || controller.list("alarms").into_iter().find(|alarm| alarm["kind"] == kind);
    wait_for(|| find().is_some(), || format!("without an alarm {kind}: {:?}", controller.list("alarms")));
    find().expect("an alarm")["text"].as_str().expect("a text").to_owned()
}

const LISTED: &str = "[[switch]]\ncertificate = \"sw1\"\ndatapath_ids = [\"0000000000000001\"]\n";

#[test]
fn a_switch_joins_as_the_datapath_that_its_certificate_entitles_it_to() {
    let pki = Pki::new();
    let controller = pki.controller(true, LISTED);
    assert!(claims(pki.connect(controller.openflow, "sw1"), 1));
    assert!(claims(pki.connect(controller.openflow, "00000000000000ab"), 0xab));
}

#[test]
fn a_certificate_of_another_datapath_is_refused_with_an_alarm() {
    let pki = Pki::new();
    let controller = pki.controller(true, LISTED);
    assert!(!claims(pki.connect(controller.openflow, "thief"), 1));
    let text = alarm(&controller, "foreign_datapath_id");
    assert!(text.contains("\"thief\"") && text.contains("\"sw1\""), "{text}");
}

#[test]
fn a_switch_that_changes_its_claim_is_checked_again() {
    let pki = Pki::new();
    let controller = pki.controller(true, LISTED);
    assert!(!claims_each(pki.connect(controller.openflow, "00000000000000ab"), &[0xab, 1]));
    assert!(alarm(&controller, "foreign_datapath_id").contains("00000000000000ab"));
}

#[test]
fn a_stranger_is_refused_with_an_alarm() {
    let (pki, other) = (Pki::new(), Pki::new());
    let controller = pki.controller(true, LISTED);
    assert!(!claims(other.connect(controller.openflow, "sw1"), 1));
    // It trusts another authority, so that it refuses first.
    let text = alarm(&controller, "refused_connection");
    assert!(text.contains("does not trust this program's certificate"), "{text}");
}

#[test]
fn plain_tcp_is_refused_where_tls_is_required_and_told_what_to_do() {
    let pki = Pki::new();
    let controller = pki.controller(true, LISTED);
    let mut stream = TcpStream::connect(controller.openflow).expect("OpenFlow port");
    stream.write_all(&[4, 0, 0, 8, 0, 0, 0, 0]).expect("a write");
    let text = alarm(&controller, "refused_connection");
    assert!(text.contains("connect to ssl:"), "{text}");
}

#[test]
fn where_tls_is_optional_plain_tcp_claims_only_what_no_certificate_owns() {
    let pki = Pki::new();
    let controller = pki.controller(false, LISTED);
    let plain = || {
        let stream = TcpStream::connect(controller.openflow).expect("OpenFlow port");
        stream.set_nonblocking(true).expect("a socket");
        Transport::Plain(stream)
    };
    assert!(claims(plain(), 9));
    assert!(!claims(plain(), 1));
    assert!(alarm(&controller, "foreign_datapath_id").contains("plain TCP"));
    assert!(claims(pki.connect(controller.openflow, "sw1"), 1));
}

#[test]
fn a_switch_that_may_no_longer_be_its_datapath_is_disconnected_when_the_files_are_read_again() {
    let pki = Pki::new();
    let controller = pki.controller(false, "");
    let mut denied = Switch::join(controller.openflow, 9);
    let mut other = Switch::join(controller.openflow, 10);
    controller.wait_for_switches(2);
    pki.file("identities.toml", "[[switch]]\ncertificate = \"sw1\"\ndatapath_ids = [\"0000000000000009\"]\n");
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::HUP).expect("a signal");
    controller.wait_for_switches(1);
    assert_eq!(denied.last_error(), None, "closed");
    assert!(other.is_served(), "who may stay stays");
    assert!(alarm(&controller, "foreign_datapath_id").contains("plain TCP"));
}

#[test]
fn half_done_handshakes_keep_nobody_out() {
    let pki = Pki::new();
    let controller = pki.controller(true, LISTED);
    let idle: Vec<_> = (0..600).map(|_| TcpStream::connect(controller.openflow).expect("a port")).collect();
    assert!(claims(pki.connect(controller.openflow, "sw1"), 1));
    drop(idle);
}

#[test]
fn metrics_say_when_certificates_end() {
    let pki = Pki::new();
    let controller = pki.controller(true, LISTED);
    let (_, body) = controller.get("/metrics");
    for holder in ["controller", "authority"] {
        let line = format!("braid_openflow_certificate_expiry_timestamp_seconds{{holder=\"{holder}\"}} ");
        assert!(body.contains(&line), "{body}");
    }
}
