//! A real etcd in a folder of its own, and certificates for it and its clients.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair};
use tempfile::TempDir;

/// An authority, and the files that it makes.
pub(super) struct Pki {
    folder: TempDir,
    authority: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key.
pub(super) struct Issued {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

impl Pki {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(params, key).expect("an authority");
        Self { folder: tempfile::tempdir().expect("a folder"), authority }
    }

    pub(super) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    pub(super) fn authority(&self) -> PathBuf {
        self.file("ca.pem", &self.authority.pem())
    }

    /// A certificate for these names, with a common name if there is one.
    pub(super) fn issue(&self, names: &[&str], common_name: Option<&str>) -> Issued {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).expect("names");
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "test");
        common_name.into_iter().for_each(|it| params.distinguished_name.push(DnType::CommonName, it));
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.authority).expect("a certificate");
        let name = hex::encode(&key.public_key_raw()[..8]);
        Issued {
            certificate: self.file(&format!("{name}-cert.pem"), &certificate.pem()),
            key: self.file(&format!("{name}-key.pem"), &key.serialize_pem()),
        }
    }
}

/// An etcd; it ends with this.
pub(super) struct Server {
    folder: TempDir,
    port: u16,
    options: Vec<String>,
    process: Child,
}

/// What an etcd that speaks TLS is started with.
pub(super) fn tls(own: &Issued, clients: Option<&Pki>) -> Vec<String> {
    let mut options = vec![
        format!("--cert-file={}", own.certificate.display()),
        format!("--key-file={}", own.key.display()),
    ];
    if let Some(clients) = clients {
        let authority = clients.authority();
        options
            .extend(["--client-cert-auth".to_owned(), format!("--trusted-ca-file={}", authority.display())]);
    }
    options
}

impl Server {
    /// `None`, and says so, where etcd is not installed.
    pub(super) fn start(options: Vec<String>) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
        let process = match spawn(&folder, port, &options) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                println!("skipped: etcd is not installed");
                return None;
            }
            process => process.expect("etcd"),
        };
        let server = Self { folder, port, options, process };
        server.wait();
        Some(server)
    }

    pub(super) fn endpoint(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Starts it again without anything that it knew.
    pub(super) fn restart_wiped(&mut self) {
        self.stop();
        fs::remove_dir_all(self.folder.path().join("data")).expect("its data");
        self.restart();
    }

    pub(super) fn restart(&mut self) {
        self.stop();
        self.process = spawn(&self.folder, self.port, &self.options).expect("etcd");
        self.wait();
    }

    pub(super) fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Until it listens for clients, which it does when it is ready.
    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(self.endpoint()).is_err() {
            assert!(Instant::now() < deadline, "etcd does not start");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn spawn(folder: &TempDir, port: u16, options: &[String]) -> std::io::Result<Child> {
    let scheme = if options.is_empty() { "http" } else { "https" };
    let url = format!("{scheme}://127.0.0.1:{port}");
    Command::new("etcd")
        .arg(format!("--data-dir={}", folder.path().join("data").display()))
        .arg(format!("--listen-client-urls={url}"))
        .arg(format!("--advertise-client-urls={url}"))
        .arg("--listen-peer-urls=http://127.0.0.1:0")
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
