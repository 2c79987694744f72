//! New connections over plain TCP and over TLS, in turns.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use braid_controller::{OpenFlowTls, SwitchIdentities};
use braid_tls::{ClientConfig, CredentialPaths, Credentials};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::fat_tree;
use crate::process::{Process, Setup};
use crate::report;

/// How often each is measured; they take turns, as the machine's speed changes.
const ROUNDS: usize = 3;
const TIME: Duration = Duration::from_secs(5);
const SWITCHES: u64 = 80;

pub(crate) fn run() {
    let folder = tempfile::tempdir().expect("a folder");
    issue(folder.path());
    let (mut rates, mut times) = ([0.0; 2], [Vec::new(), Vec::new()]);
    for _ in 0..ROUNDS {
        for (index, (what, tls)) in [("plain TCP", None), ("TLS", Some(folder.path()))].iter().enumerate() {
            println!("{what}");
            let (outcome, latencies) = fat_tree::run(
                &Process::start_with("controller", Setup { certificates: *tls, ..Setup::default() }),
                TIME,
            );
            rates[index] += outcome.packets as f64 / outcome.took.as_secs_f64();
            times[index].extend(latencies);
        }
    }
    let [plain, tls] = times;
    report::cost(rates, plain, tls);
}

/// The files of both sides, signed by one authority.
fn issue(folder: &Path) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "authority");
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let write = |name: String, text: String| std::fs::write(folder.join(name), text).expect("a file");
    write("ca.pem".to_owned(), authority.pem());
    for name in ["controller", "switches"] {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &authority).expect("a certificate");
        write(format!("{name}.pem"), certificate.pem());
        write(format!("{name}-key.pem"), key.serialize_pem());
    }
    let dpids: Vec<_> = (1..=SWITCHES).map(|dpid| format!("\"{dpid:x}\"")).collect();
    let text = format!("[[switch]]\ncertificate = \"switches\"\ndatapath_ids = [{}]\n", dpids.join(", "));
    write("identities.toml".to_owned(), text);
}

fn paths(folder: &Path, name: &str) -> CredentialPaths {
    CredentialPaths {
        certificate: folder.join(format!("{name}.pem")),
        key: folder.join(format!("{name}-key.pem")),
        authority: folder.join("ca.pem"),
    }
}

/// The controller's side.
pub(crate) fn server(folder: &Path) -> OpenFlowTls {
    let identities = SwitchIdentities::read(Some(folder.join("identities.toml")), None).expect("identities");
    OpenFlowTls::read(true, paths(folder, "controller"), identities).expect("certificates")
}

/// The switches' side.
pub(crate) fn client(folder: &Path) -> Arc<ClientConfig> {
    let credentials = Credentials::read(&paths(folder, "switches")).expect("certificates");
    credentials.client().expect("a client")
}

/// The folder that a controller was started with.
pub(crate) fn folder(arguments: &[String]) -> Option<PathBuf> {
    arguments.iter().skip_while(|argument| *argument != crate::process::TLS).nth(1).map(PathBuf::from)
}
