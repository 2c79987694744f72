//! The controller's TLS certificate and key, read from PEM files and replaceable at run time.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use braid_tls::{CredentialsError, read_certificates, read_key};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::server::ParsedCertificate;

/// The controller's certificate and key, reloadable at run time.
#[derive(Clone)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    /// The configuration of new connections, shared by all clones.
    current: Arc<RwLock<Current>>,
}

/// What new connections use.
struct Current {
    config: Arc<ServerConfig>,
    /// The controller's own certificate.
    own: CertificateDer<'static>,
}

impl Tls {
    /// Reads a certificate chain, the controller's certificate first, and its key, in PEM form.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the key does not belong to the certificate.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, CredentialsError> {
        let config = Arc::new(RwLock::new(config(certificate, key)?));
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), current: config })
    }

    /// Reads both files again, for new connections.
    ///
    /// # Errors
    ///
    /// As [`Self::read`]; then nothing changes.
    pub fn reload(&self) -> Result<(), CredentialsError> {
        let config = config(&self.certificate, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    /// The certificate's file.
    pub(crate) fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// The acceptor for one connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.current.read().unwrap_or_else(PoisonError::into_inner).config.clone().into()
    }

    /// Whether the certificate is for this name.
    pub(crate) fn names(&self, name: &str) -> bool {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let (Ok(name), Ok(own)) = (ServerName::try_from(name), ParsedCertificate::try_from(&current.own))
        else {
            return false;
        };
        verify_server_name(&own, &name).is_ok()
    }
}

fn config(certificate: &Path, key: &Path) -> Result<Current, CredentialsError> {
    let (chain, private) = (read_certificates(certificate)?, read_key(key)?);
    let pair = |source| CredentialsError::pair(certificate, key, source);
    let own =
        chain.first().cloned().ok_or_else(|| CredentialsError::unusable(certificate, "there is none"))?;
    let builder = ServerConfig::builder_with_provider(default_provider().into());
    let builder = builder.with_safe_default_protocol_versions().map_err(pair)?.with_no_client_auth();
    let mut config = builder.with_single_cert(chain, private).map_err(pair)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Current { config: config.into(), own })
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}
