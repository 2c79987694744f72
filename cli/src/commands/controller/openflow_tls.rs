//! Options of `braid controller run` for OpenFlow over TLS, turned into its configuration.

use std::path::PathBuf;

use braid_controller::{OpenFlowTls, SwitchIdentities, TlsMode};
use braid_tls::CredentialPaths;

use crate::exit::{self, Code, ExitWith};

/// OpenFlow over TLS.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Whether switches connect by TLS, in Open vSwitch `ssl:`: required, optional (plain TCP too, while switches change
    /// over) or off
    ///
    /// Both sides show certificates; ovs-pki makes them. A switch may claim the datapath ids that --openflow-identities
    /// gives to its certificate, or the one that its certificate is named after. All files are read again at SIGHUP.
    #[arg(long, value_name = "MODE", default_value = "off", env = "BRAID_OPENFLOW_TLS")]
    openflow_tls: TlsMode,
    /// The controller's certificate for switches in PEM form
    #[arg(long, value_name = "FILE", env = "BRAID_OPENFLOW_TLS_CERTIFICATE")]
    openflow_tls_certificate: Option<PathBuf>,
    /// That certificate's private key in PEM form
    #[arg(long, value_name = "FILE", env = "BRAID_OPENFLOW_TLS_KEY")]
    openflow_tls_key: Option<PathBuf>,
    /// The certificate of the authority that signs those of switches, in PEM form
    #[arg(long, value_name = "FILE", env = "BRAID_OPENFLOW_TLS_CA")]
    openflow_tls_ca: Option<PathBuf>,
    /// A TOML file with the datapath ids that certificates may claim: `[[switch]]` with certificate, a name, and datapath_ids
    #[arg(long, value_name = "FILE", env = "BRAID_OPENFLOW_IDENTITIES")]
    openflow_identities: Option<PathBuf>,
    /// Let the first certificate that claims a datapath id keep it, and write that to this file
    #[arg(long, value_name = "FILE", env = "BRAID_OPENFLOW_PINS")]
    openflow_pins: Option<PathBuf>,
}

impl Args {
    fn has_files(&self) -> bool {
        let credentials = [&self.openflow_tls_certificate, &self.openflow_tls_key, &self.openflow_tls_ca];
        let identities = [&self.openflow_identities, &self.openflow_pins];
        credentials.into_iter().chain(identities).any(Option::is_some)
    }

    /// Reads all files; `None` if TLS is off.
    pub(crate) fn read(&self) -> anyhow::Result<Option<OpenFlowTls>> {
        if self.openflow_tls == TlsMode::Off {
            return match self.has_files() {
                true => Err(exit::error(
                    Code::Usage,
                    "files for OpenFlow over TLS are given, and it is off: add --openflow-tls required or optional",
                )),
                false => Ok(None),
            };
        }
        let given = (&self.openflow_tls_certificate, &self.openflow_tls_key, &self.openflow_tls_ca);
        let (Some(certificate), Some(key), Some(authority)) = given else {
            let text = "--openflow-tls needs --openflow-tls-certificate, --openflow-tls-key and --openflow-tls-ca: \
                docs/security.md makes them in five commands";
            return Err(exit::error(Code::Usage, text));
        };
        let (certificate, key, authority) = (certificate.clone(), key.clone(), authority.clone());
        let paths = CredentialPaths { certificate, key, authority };
        let (listed, pinned) = (self.openflow_identities.clone(), self.openflow_pins.clone());
        let identities = SwitchIdentities::read(listed, pinned).exit_with(Code::Usage)?;
        let is_required = self.openflow_tls == TlsMode::Required;
        OpenFlowTls::read(is_required, paths, identities).map(Some).exit_with(Code::Usage)
    }
}
