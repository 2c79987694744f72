//! Members that know each other by certificates, and whoever is refused.

use std::fs;
use std::path::Path;

use braid_tls::CredentialPaths;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;

use super::*;

/// An authority, and a folder for what it signs.
struct Authority {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key"));
        let (folder, issuer) = (tempfile::tempdir().expect("a folder"), issuer.expect("an authority"));
        fs::write(folder.path().join("ca.pem"), issuer.pem()).expect("a file");
        Self { folder, issuer }
    }

    /// The files of a certificate with this name, which trust this authority.
    fn issue(&self, file: &str, name: &str) -> CredentialPaths {
        self.issue_with(file, name, &[])
    }

    /// With these DNS names as well.
    fn issue_with(&self, file: &str, name: &str, names: &[&str]) -> CredentialPaths {
        let key = KeyPair::generate().expect("a key");
        let names: Vec<_> = names.iter().map(|it| (*it).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("names");
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let write = |name: String, text: String| {
            let path = self.folder.path().join(name);
            fs::write(&path, text).expect("a file");
            path
        };
        CredentialPaths {
            certificate: write(format!("{file}.pem"), certificate.pem()),
            key: write(format!("{file}.key"), key.serialize_pem()),
            authority: self.folder.path().join("ca.pem"),
        }
    }

    /// A member with a certificate of its own name.
    fn member(&self, name: &str, run: u64) -> Local {
        let tls = MemberTls::read(self.issue(name, name), name).expect("valid files");
        Local { hello: hello("c", name, run), tls: Some(tls) }
    }
}

fn dial(from: Local, to: SocketAddr) -> (SyncSender<Message>, Receiver<Incoming>) {
    let (sender, incoming) = channel(64);
    (connect(from, to.to_string(), Refusals::new(sender)), incoming)
}

/// Waits for a refusal; whose, and why.
fn refusal(incoming: &mut Receiver<Incoming>) -> String {
    match incoming.blocking_recv() {
        Some(Incoming::Refused { peer, why, count }) => {
            assert!(peer.is_loopback() && count > 0);
            why
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn members_of_one_authority_talk_over_tls() {
    let authority = Authority::new();
    let (address, mut incoming) = listen_as(authority.member("a", 1));
    let (sender, _) = dial(authority.member("b", 2), address);
    assert!(matches!(incoming.blocking_recv(), Some(Incoming::Opened(b, _)) if b.as_str() == "b"));
    let message = Message::Follow { newest: Term(5), reach: None };
    let next = loop {
        sender.try_send(message).expect("room");
        match incoming.try_recv() {
            Ok(next) => break next,
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    };
    assert!(matches!(next, Incoming::Message(_, it) if it == message));
    assert_eq!(identify(&authority.member("b", 3), &address.to_string()), Some(hello("c", "a", 1)));
}

#[test]
fn a_certificate_of_another_authority_is_refused_at_both_ends() {
    let (ours, others) = (Authority::new(), Authority::new());
    let (address, mut incoming) = listen_as(ours.member("a", 1));
    let (_sender, mut own) = dial(others.member("b", 2), address);
    let why = refusal(&mut own);
    assert!(why.contains("not signed by an authority in --cluster-ca"), "{why}");
    let why = refusal(&mut incoming);
    assert!(why.contains("does not trust this program's certificate"), "{why}");
}

#[test]
fn a_stranger_that_trusts_this_member_is_refused_by_it() {
    let (ours, others) = (Authority::new(), Authority::new());
    let (address, mut incoming) = listen_as(ours.member("a", 1));
    let paths = CredentialPaths { authority: ours.folder.path().join("ca.pem"), ..others.issue("b", "b") };
    let tls = Some(MemberTls::read(paths, "b").expect("valid files"));
    let (_sender, mut own) = dial(Local { hello: hello("c", "b", 2), tls }, address);
    let why = refusal(&mut incoming);
    assert!(why.contains("the member is not signed by an authority in --cluster-ca"), "{why}");
    let why = refusal(&mut own);
    assert!(why.contains("does not trust this program's certificate"), "{why}");
}

#[test]
fn a_member_cannot_have_the_name_of_another_one() {
    let authority = Authority::new();
    let (address, mut incoming) = listen_as(authority.member("a", 1));
    let impostor = Local { hello: hello("c", "x", 2), ..authority.member("b", 2) };
    let (_sender, _own) = dial(impostor, address);
    let why = refusal(&mut incoming);
    assert_eq!(why, "it says that it is member x, and its certificate is of \"b\"");
}

#[test]
fn whoever_speaks_no_tls_is_refused() {
    let authority = Authority::new();
    let (address, mut incoming) = listen_as(authority.member("a", 1));
    let _plain = dial(Local { hello: hello("c", "b", 2), tls: None }, address);
    let why = refusal(&mut incoming);
    assert!(why.contains("does not speak TLS here: give it --cluster-certificate"), "{why}");
}

#[test]
fn certificates_that_change_are_read_again_and_broken_ones_are_not() {
    let authority = Authority::new();
    let tls = MemberTls::read(authority.issue("a", "a"), "a").expect("valid files");
    let shown = || tls.current().own.names;
    authority.issue("a", "A");
    fs::remove_file(authority.folder.path().join("a.pem")).expect("a file");
    assert_eq!(shown(), ["a"]);
    authority.issue_with("a", "a", &["second"]);
    assert_eq!(shown(), ["second", "a"]);
    authority.issue("a", "of somebody else");
    assert_eq!(shown(), ["second", "a"]);
    fs::remove_file(authority.folder.path().join("a.key")).expect("a file");
    assert_eq!(shown(), ["second", "a"]);
}

#[test]
fn a_certificate_without_the_members_name_is_an_error_that_says_so() {
    let authority = Authority::new();
    let error = MemberTls::read(authority.issue("a", "b"), "a").expect_err("another's").to_string();
    assert!(error.contains("is of \"b\", and this is member a"), "{error}");
    assert!(MemberTls::read(authority.issue("A", "A"), "a").is_ok(), "names have no case");
    assert!(!format!("{:?}", authority.member("a", 1)).contains("PRIVATE"), "no key is shown");
    assert!(Path::new(&authority.issue("a", "a").key).exists());
}

#[test]
fn a_member_says_when_its_certificates_end_also_after_they_were_renewed() {
    let authority = Authority::new();
    let paths = authority.issue("a", "a");
    let tls = MemberTls::read(paths.clone(), "a").expect("valid files");
    let [member, signer] = tls.expiries();
    assert_eq!((member.whose.as_str(), signer.holder.as_str()), ("member a", "authority"));
    assert_eq!(member.certificate.names, ["a"]);
    // Another certificate in the same files.
    authority.issue_with("a", "a", &["b"]);
    let [renewed, _] = tls.expiries();
    assert_eq!(renewed.certificate.names, ["b", "a"]);
}
