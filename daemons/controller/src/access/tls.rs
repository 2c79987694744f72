//! The controller's TLS certificate and key, read from PEM files and replaceable at run time.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error, ServerConfig};

/// The controller's certificate and its key, which are read again when they are replaced.
#[derive(Clone)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    /// What new connections are served with; all copies share it.
    current: Arc<RwLock<Arc<ServerConfig>>>,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or there is nothing of the kind in it.
    #[error("{}: no {what} in PEM form: {source}", file.display())]
    File {
        /// What was looked for.
        what: &'static str,
        /// Where.
        file: PathBuf,
        /// Why.
        source: PemError,
    },
    /// The two do not fit each other, or are of a kind that is not known.
    #[error("{} and {}: {source}", certificate.display(), key.display())]
    Pair {
        /// The certificates.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
        /// Why.
        source: Error,
    },
}

impl Tls {
    /// Reads a chain of certificates, the controller's first, and the key of that, in PEM form.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the key is another's.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let config = Arc::new(RwLock::new(config(certificate, key)?));
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), current: config })
    }

    /// Reads both files again; connections that open from now on are served with what is there.
    ///
    /// # Errors
    ///
    /// As [`Self::read`]; nothing has changed then.
    pub fn reload(&self) -> Result<(), TlsError> {
        let config = config(&self.certificate, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    /// The certificate's file.
    pub(crate) fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// For one connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone().into()
    }
}

fn config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
    let chain: Vec<_> = chain.map_err(missing("certificate", certificate))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(missing("private key", key))?;
    let pair = |source| TlsError::Pair { certificate: certificate.to_owned(), key: key.to_owned(), source };
    let builder = ServerConfig::builder_with_provider(default_provider().into());
    let builder = builder.with_safe_default_protocol_versions().map_err(pair)?.with_no_client_auth();
    let mut config = builder.with_single_cert(chain, private).map_err(pair)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config.into())
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
