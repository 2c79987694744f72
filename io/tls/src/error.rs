//! Why certificates and keys cannot be used.

use std::path::{Path, PathBuf};

use rustls::Error;
use rustls::pki_types::pem::Error as PemError;

/// Errors of credentials. Each names its file.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
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
    /// A certificate cannot be used.
    #[error("{}: the certificate cannot be used: {why}", file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
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

impl CredentialsError {
    /// The certificate in this file cannot be used.
    pub fn unusable(file: &Path, why: &str) -> Self {
        Self::Certificate { file: file.to_owned(), why: why.to_owned() }
    }

    /// The certificate and the key in these files cannot be used together.
    pub fn pair(certificate: &Path, key: &Path, source: Error) -> Self {
        Self::Pair { certificate: certificate.to_owned(), key: key.to_owned(), source }
    }
}
