//! The controller's TLS certificate and key, read from PEM files and replaceable at run time.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{Error, ServerConfig};

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

/// Errors of certificates and keys.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or contains no such item.
    #[error("{}: no {what} in PEM form: {source}", file.display())]
    File {
        /// The expected item.
        what: &'static str,
        /// The file.
        file: PathBuf,
        /// Why.
        source: PemError,
    },
    /// Certificate and key do not match, or are of an unknown kind.
    #[error("{} and {}: {source}", certificate.display(), key.display())]
    Pair {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// Why.
        source: Error,
    },
}

impl Tls {
    /// Reads a certificate chain, the controller's certificate first, and its key, in PEM form.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the key does not belong to the certificate.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let config = Arc::new(RwLock::new(config(certificate, key)?));
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), current: config })
    }

    /// Reads both files again, for new connections.
    ///
    /// # Errors
    ///
    /// As [`Self::read`]; then nothing changes.
    pub fn reload(&self) -> Result<(), TlsError> {
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

fn config(certificate: &Path, key: &Path) -> Result<Current, TlsError> {
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
    let chain: Vec<_> = chain.map_err(missing("certificate", certificate))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(missing("private key", key))?;
    let pair = |source| TlsError::Pair { certificate: certificate.to_owned(), key: key.to_owned(), source };
    let own =
        chain.first().cloned().ok_or_else(|| missing("certificate", certificate)(PemError::NoItemsFound))?;
    let builder = ServerConfig::builder_with_provider(default_provider().into());
    let builder = builder.with_safe_default_protocol_versions().map_err(pair)?.with_no_client_auth();
    let mut config = builder.with_single_cert(chain, private).map_err(pair)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Current { config: config.into(), own })
}

fn missing(what: &'static str, file: &Path) -> impl FnOnce(PemError) -> TlsError + use<> {
    let file = file.to_owned();
    move |source| TlsError::File { what, file, source }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}
