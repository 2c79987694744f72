//! What etcd is shown and known by: certificates, and a user with a password.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use braid_tls::{CredentialsError, read_certificates, read_key};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::{ClientConfig, Error, RootCertStore};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig, TlsProvider};

use super::super::store_url::StoreUrl;

/// The files and the name that access to a cluster's store is read from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoreCredentials {
    /// The certificates of the authorities that sign those of the store, in PEM form.
    pub authority: Option<PathBuf>,
    /// The certificate that is shown to the store, in PEM form.
    pub certificate: Option<PathBuf>,
    /// Its private key in PEM form.
    pub key: Option<PathBuf>,
    /// The user whose role lets members read and write the cluster's keys.
    pub user: Option<String>,
    /// The file with that user's password.
    pub password: Option<PathBuf>,
}

/// How a cluster's store is reached: TLS, and a log-in. Shows no secret when it is printed.
#[derive(Clone, Default)]
pub struct StoreAccess {
    pub(super) files: StoreCredentials,
    pub(super) tls: Option<TlsConfig>,
    pub(super) login: Option<Login>,
}

/// A user, and the file with the password. The file is read at each log-in, so that a new password needs no restart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Login {
    pub(super) user: String,
    pub(super) file: PathBuf,
}

/// Why a cluster's store cannot be reached as the configuration says.
#[derive(Debug, thiserror::Error)]
pub enum StoreAccessError {
    /// Nothing says whose certificates are trusted.
    #[error(
        "etcds:// needs --cluster-etcd-ca: the certificate of the authority that signs those of etcd's servers"
    )]
    NoAuthority,
    /// The address has a user.
    #[error(
        "--cluster has a user or a password: give --cluster-etcd-user and --cluster-etcd-password-file instead, which \
         nobody reads in a list of processes"
    )]
    UserInAddress,
    /// There are files for TLS, and no TLS.
    #[error(
        "certificates for etcd are given, and --cluster is etcd://, which is not encrypted: write etcds://"
    )]
    NotEncrypted,
    /// A password would be sent over the network as it is.
    #[error("the password for etcd would go to {0} unencrypted: write etcds:// in --cluster")]
    PlainPassword(String),
    /// A certificate or key cannot be used.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The file with the password cannot be read, or is empty.
    #[error("{}: no password for etcd: {source}", file.display())]
    Password {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl StoreAccess {
    /// Reads and checks all files.
    ///
    /// # Errors
    ///
    /// A file cannot be read or used, or what is given does not fit together.
    pub fn read(store: &StoreUrl, files: StoreCredentials) -> Result<Self, StoreAccessError> {
        if store.names_user {
            return Err(StoreAccessError::UserInAddress);
        }
        let has_certificates = files.authority.is_some() || files.certificate.is_some();
        let tls = match (store.is_encrypted, &files.authority) {
            (true, None) => return Err(StoreAccessError::NoAuthority),
            (false, _) if has_certificates => return Err(StoreAccessError::NotEncrypted),
            (false, _) => None,
            (true, Some(authority)) => {
                let pair = files.certificate.as_deref().zip(files.key.as_deref());
                Some(tls(authority, pair.map(|(certificate, key)| Pair { certificate, key }))?)
            }
        };
        let login = files.user.clone().zip(files.password.clone());
        let login = login.map(|(user, file)| Login { user, file });
        if let Some(login) = &login {
            if let Some(remote) = store.remote().filter(|_| !store.is_encrypted) {
                return Err(StoreAccessError::PlainPassword(remote.to_owned()));
            }
            login.password()?;
        }
        Ok(Self { files, tls, login })
    }
}

impl StoreCredentials {
    /// The files that TLS is read from.
    pub(super) fn of_tls(&self) -> impl Iterator<Item = &Path> {
        [&self.authority, &self.certificate, &self.key].into_iter().filter_map(Option::as_deref)
    }
}

impl Login {
    /// The password: the file's text without the end of its last line.
    pub(super) fn password(&self) -> Result<String, StoreAccessError> {
        let failed = |source| StoreAccessError::Password { file: self.file.clone(), source };
        let text = std::fs::read_to_string(&self.file).map_err(failed)?;
        let password = text.trim_end_matches(['\r', '\n']);
        if password.is_empty() {
            return Err(failed(io::Error::other("the file is empty")));
        }
        Ok(password.to_owned())
    }
}

impl fmt::Debug for StoreAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreAccess").field(&self.files).finish()
    }
}

/// The files of an own certificate and its key.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    certificate: &'a Path,
    key: &'a Path,
}

/// What is trusted, and what is shown.
pub(super) fn tls(authority: &Path, pair: Option<Pair<'_>>) -> Result<TlsConfig, CredentialsError> {
    let authorities = read_certificates(authority)?;
    let mut store = RootCertStore::empty();
    for certificate in &authorities {
        let added = store.add(certificate.clone());
        added.map_err(|error| CredentialsError::unusable(authority, &error.to_string()))?;
    }
    let roots: Vec<_> = authorities.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    let own = pair.map(|pair| own(store, pair)).transpose()?;
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(default_provider()))
        .root_certs(RootCerts::Specific(roots.into()))
        .client_cert(own)
        .build())
}

/// The own certificate with its key, which is checked to belong to it.
fn own(store: RootCertStore, Pair { certificate, key }: Pair<'_>) -> Result<ClientCert, CredentialsError> {
    let (chain, private) = (read_certificates(certificate)?, read_key(key)?);
    let pair = |source| CredentialsError::pair(certificate, key, source);
    let builder = ClientConfig::builder_with_provider(default_provider().into());
    let builder = builder.with_safe_default_protocol_versions().map_err(pair)?.with_root_certificates(store);
    builder.with_client_auth_cert(chain.clone(), private.clone_key()).map_err(pair)?;
    let chain: Vec<_> = chain.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    let unusable = |why: String| pair(Error::General(why));
    let pem = std::fs::read(key).map_err(|error| unusable(error.to_string()))?;
    let private = PrivateKey::from_pem(&pem).map_err(|error| unusable(error.to_string()))?;
    Ok(ClientCert::new_with_certs(&chain, private))
}
