//! Certificates of a lab whose OpenFlow connections are TLS: two authorities, as `ovs-pki` has them, and what they sign.
//!
//! All bridges are of one Open vSwitch, which has one certificate; each edge has its own, named after its datapath id.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::error::LabError;
use crate::plan::Plan;

/// The name in the certificate of the bridges.
const BRIDGES: &str = "open-vswitch";

type Authority = CertifiedIssuer<'static, KeyPair>;

/// A certificate with its key, and the authority of the other side.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) authority: PathBuf,
}

/// The certificates of a lab.
#[derive(Clone, Debug)]
pub(crate) struct Certificates {
    folder: PathBuf,
    /// For the controller.
    pub(crate) controller: Credentials,
    /// For the bridges.
    pub(crate) bridges: Credentials,
    /// Which datapath ids the certificates may claim.
    pub(crate) identities: PathBuf,
}

impl Certificates {
    /// Writes all of them into a new folder.
    pub(crate) fn issue(folder: &Path, plan: &Plan) -> Result<Self, LabError> {
        fs::create_dir(folder).map_err(|error| LabError::file(folder, error))?;
        let [controllers, switches] = ["controllers", "switches"].map(|name| authority(folder, name));
        let (controllers, switches) = (controllers?, switches?);
        let controller = credentials(folder, "controller", &controllers, "switches")?;
        let bridges = credentials(folder, BRIDGES, &switches, "controllers")?;
        for (_, edge) in plan.edges() {
            credentials(folder, &edge.dpid.to_string(), &switches, "controllers")?;
        }
        let dpids: Vec<_> = plan.bridges().map(|bridge| format!("\"{}\"", bridge.dpid)).collect();
        let text =
            format!("[[switch]]\ncertificate = \"{BRIDGES}\"\ndatapath_ids = [{}]\n", dpids.join(", "));
        let identities = folder.join("identities.toml");
        write(&identities, &text)?;
        Ok(Self { folder: folder.to_owned(), controller, bridges, identities })
    }

    /// For the edge with this datapath id.
    pub(crate) fn edge(&self, dpid: &str) -> Credentials {
        Credentials {
            certificate: self.folder.join(format!("{dpid}-cert.pem")),
            key: self.folder.join(format!("{dpid}-key.pem")),
            authority: self.folder.join("controllers.pem"),
        }
    }
}

impl Credentials {
    /// As options, with this in front of `certificate`, `key` and `ca`.
    pub(crate) fn options(&self, prefix: &str) -> Vec<String> {
        let Self { certificate, key, authority } = self;
        let options = [("certificate", certificate), ("key", key), ("ca", authority)];
        options.map(|(name, file)| format!("{prefix}-{name}={}", file.display())).to_vec()
    }
}

fn authority(folder: &Path, name: &str) -> Result<Authority, LabError> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().map_err(failed)?;
    let authority = CertifiedIssuer::self_signed(params, key).map_err(failed)?;
    write(&folder.join(format!("{name}.pem")), &authority.pem())?;
    Ok(authority)
}

fn credentials(folder: &Path, name: &str, by: &Authority, trusted: &str) -> Result<Credentials, LabError> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().map_err(failed)?;
    let signed = params.signed_by(&key, by).map_err(failed)?;
    let file = |what: &str| folder.join(format!("{name}-{what}.pem"));
    let (certificate, private) = (file("cert"), file("key"));
    write(&certificate, &signed.pem())?;
    write(&private, &key.serialize_pem())?;
    Ok(Credentials { certificate, key: private, authority: folder.join(format!("{trusted}.pem")) })
}

fn write(path: &Path, text: &str) -> Result<(), LabError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| LabError::file(path, error))
}

fn failed(error: rcgen::Error) -> LabError {
    LabError::io("making certificates", io::Error::other(error))
}
