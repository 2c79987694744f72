//! OpenFlow over TLS: credentials that can be read again, the identities of switches, and the end of certificates.

mod expiry;
mod identities;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use braid_tls::{CredentialPaths, Credentials, CredentialsError, PeerCertificate};
use braid_types::DatapathId;
use tokio_rustls::rustls::{ClientConfig, Error, ServerConfig};

pub(crate) use expiry::follow;
pub(crate) use identities::{ClaimError, Owner};
pub use identities::{IdentityFileError, SwitchIdentities};

/// Which OpenFlow connections are TLS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TlsMode {
    /// All of them.
    Required,
    /// Those that begin with a TLS handshake; for the time in which switches change over.
    Optional,
    /// None.
    #[default]
    Off,
}

/// The text is not a mode.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not one of required, optional, off")]
pub struct TlsModeError(String);

impl FromStr for TlsMode {
    type Err = TlsModeError;

    fn from_str(text: &str) -> Result<Self, TlsModeError> {
        match text {
            "required" => Ok(Self::Required),
            "optional" => Ok(Self::Optional),
            "off" => Ok(Self::Off),
            other => Err(TlsModeError(other.to_owned())),
        }
    }
}

/// Errors of the files of OpenFlow over TLS.
#[derive(Debug, thiserror::Error)]
pub enum OpenFlowTlsError {
    /// The certificate, the key or the authority.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The certificate and the key, for connections.
    #[error("{}: {why}", file.display())]
    Unusable {
        /// The certificate's file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// The identities of switches.
    #[error(transparent)]
    Identities(#[from] IdentityFileError),
}

/// OpenFlow over TLS, shared by the threads that need it. Its files can be read again.
#[derive(Clone, Debug)]
pub struct OpenFlowTls(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    is_required: bool,
    paths: CredentialPaths,
    current: RwLock<Current>,
    identities: SwitchIdentities,
    connected: expiry::Connected,
    /// Raised each time that what may be claimed has changed for switches that have joined.
    revision: AtomicU64,
}

/// What the files said when they were last read.
#[derive(Debug)]
struct Current {
    own: PeerCertificate,
    authority: PeerCertificate,
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
}

impl OpenFlowTls {
    /// Reads the credentials. Other connections than TLS are served too unless it `is_required`.
    ///
    /// # Errors
    ///
    /// A file cannot be read or used.
    pub fn read(
        is_required: bool,
        paths: CredentialPaths,
        identities: SwitchIdentities,
    ) -> Result<Self, OpenFlowTlsError> {
        let current = RwLock::new(Current::read(&paths)?);
        let connected = expiry::Connected::default();
        let revision = AtomicU64::new(1);
        Ok(Self(Arc::new(Inner { is_required, paths, current, identities, connected, revision })))
    }

    /// Reads all files again. After an error everything is as before.
    fn reload(&self) -> Result<(), OpenFlowTlsError> {
        let current = Current::read(&self.0.paths)?;
        self.0.identities.reload()?;
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        self.0.revision.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Greater than before if switches that have joined may be somebody else's now.
    pub(crate) fn revision(&self) -> u64 {
        self.0.revision.load(Ordering::Acquire)
    }

    pub(crate) fn is_required(&self) -> bool {
        self.0.is_required
    }

    /// The configuration of a new connection that a switch opens.
    pub(crate) fn server(&self) -> Arc<ServerConfig> {
        self.0.current.read().unwrap_or_else(PoisonError::into_inner).server.clone()
    }

    /// The configuration of a new connection to the database of a switch.
    pub(crate) fn client(&self) -> Arc<ClientConfig> {
        self.0.current.read().unwrap_or_else(PoisonError::into_inner).client.clone()
    }

    /// Whether a switch whose certificate has these names, or that has none, may be this datapath.
    pub(crate) fn check_claim(&self, names: Option<&[String]>, dpid: DatapathId) -> Result<(), ClaimError> {
        match names {
            Some(names) => self.0.identities.check(names, dpid),
            None if self.is_required() => Err(ClaimError::without_certificate(dpid)),
            None => self.0.identities.check_without_certificate(dpid),
        }
    }

    /// The datapath id belongs to certificates with these names from now on.
    pub(crate) fn give(&self, dpid: DatapathId, names: &[String]) -> Result<(), ClaimError> {
        self.0.identities.note_joined(names, dpid)
    }

    /// Whose the datapath ids are that are in no list.
    pub(crate) fn owners(&self) -> BTreeSet<Owner> {
        self.0.identities.owners()
    }

    /// Learns from the leader of the cluster whose datapath ids are.
    pub(crate) fn learn(&self, owners: &[Owner]) {
        let news = owners.iter().filter(|owner| self.0.identities.learn(owner)).count();
        if news > 0 {
            self.0.revision.fetch_add(1, Ordering::Release);
        }
    }
}

impl Current {
    fn read(paths: &CredentialPaths) -> Result<Self, OpenFlowTlsError> {
        let credentials = Credentials::read(paths)?;
        let (own, authority, server) =
            (credentials.own.clone(), credentials.authority.clone(), credentials.server());
        let unusable = |error: Error| {
            let (file, why) = (paths.certificate.clone(), error.to_string());
            OpenFlowTlsError::Unusable { file, why }
        };
        let (server, client) = (server.map_err(unusable)?, credentials.client().map_err(unusable)?);
        Ok(Self { own, authority, server, client })
    }
}
