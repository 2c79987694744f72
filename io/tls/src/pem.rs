//! Certificates and keys in PEM files.

use std::path::Path;

use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::CredentialsError;

/// The certificates in a file; at least one.
///
/// # Errors
///
/// [`CredentialsError::File`] if the file cannot be read, or contains none.
pub fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, CredentialsError> {
    let all = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let all = all.and_then(|all| if all.is_empty() { Err(PemError::NoItemsFound) } else { Ok(all) });
    all.map_err(|source| missing("certificate", file, source))
}

/// The private key in a file.
///
/// # Errors
///
/// [`CredentialsError::File`] if the file cannot be read, or contains none.
pub fn read_key(file: &Path) -> Result<PrivateKeyDer<'static>, CredentialsError> {
    PrivateKeyDer::from_pem_file(file).map_err(|source| missing("private key", file, source))
}

fn missing(what: &'static str, file: &Path, source: PemError) -> CredentialsError {
    CredentialsError::File { what, file: file.to_owned(), source }
}
