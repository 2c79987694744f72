//! An own certificate and key and the trusted authorities, read from PEM files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, VerifierBuilderError, WebPkiClientVerifier};
use rustls::{ClientConfig, Error, RootCertStore, ServerConfig, client::Resumption};

use crate::certificate::PeerCertificate;
use crate::error::CredentialsError;
use crate::pem::{read_certificates, read_key};
use crate::verifier::AnyNameVerifier;

/// The files that credentials are read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CredentialPaths {
    /// The own certificate, followed by those of intermediate authorities, in PEM form.
    pub certificate: PathBuf,
    /// Its private key in PEM form.
    pub key: PathBuf,
    /// The certificates of the authorities that sign those of peers, in PEM form.
    pub authority: PathBuf,
}

/// An own certificate and key, and the authorities whose peers are trusted.
#[derive(Clone, Debug)]
pub struct Credentials {
    chain: Vec<CertificateDer<'static>>,
    key: Arc<PrivateKeyDer<'static>>,
    authorities: Arc<RootCertStore>,
    /// The own certificate.
    pub own: PeerCertificate,
    /// The authority whose certificate ends first.
    pub authority: PeerCertificate,
    provider: Arc<CryptoProvider>,
}

impl Credentials {
    /// Reads and checks all files.
    ///
    /// # Errors
    ///
    /// A file cannot be read, has no such content, or the key does not belong to the certificate.
    pub fn read(paths: &CredentialPaths) -> Result<Self, CredentialsError> {
        let (chain, key) = (read_certificates(&paths.certificate)?, read_key(&paths.key)?);
        let (authorities, authority) = authorities(&paths.authority)?;
        let own = chain.first().and_then(PeerCertificate::read);
        let own = own.ok_or_else(|| CredentialsError::unusable(&paths.certificate, "it is malformed"))?;
        let provider = Arc::new(default_provider());
        let read =
            Self { chain, key: Arc::new(key), authorities: Arc::new(authorities), own, authority, provider };
        let pair = |source| CredentialsError::pair(&paths.certificate, &paths.key, source);
        read.client().map_err(pair)?;
        read.server().map_err(pair)?;
        Ok(read)
    }

    /// The configuration of a server whose clients prove who they are.
    ///
    /// Sessions are not resumed, so that each connection is verified anew.
    ///
    /// # Errors
    ///
    /// The key does not belong to the certificate.
    pub fn server(&self) -> Result<Arc<ServerConfig>, Error> {
        let verifier =
            WebPkiClientVerifier::builder_with_provider(self.authorities.clone(), self.provider.clone());
        let verifier =
            verifier.build().map_err(|error: VerifierBuilderError| Error::General(error.to_string()))?;
        let builder = ServerConfig::builder_with_provider(self.provider.clone());
        let builder = builder.with_safe_default_protocol_versions()?.with_client_cert_verifier(verifier);
        let mut config = builder.with_single_cert(self.chain.clone(), self.key.clone_key())?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    /// The configuration of a client that proves who it is, of a server that an authority vouches for, under any name.
    ///
    /// # Errors
    ///
    /// The key does not belong to the certificate.
    pub fn client(&self) -> Result<Arc<ClientConfig>, Error> {
        let verifier = AnyNameVerifier::new(self.authorities.clone(), self.provider.clone());
        let builder = ClientConfig::builder_with_provider(self.provider.clone());
        let builder = builder.with_safe_default_protocol_versions()?.dangerous();
        let builder = builder.with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = builder.with_client_auth_cert(self.chain.clone(), self.key.clone_key())?;
        config.resumption = Resumption::disabled();
        config.enable_sni = false;
        Ok(Arc::new(config))
    }
}

/// The authorities in a file, and the one that ends first.
fn authorities(file: &Path) -> Result<(RootCertStore, PeerCertificate), CredentialsError> {
    let mut store = RootCertStore::empty();
    let mut first: Option<PeerCertificate> = None;
    for certificate in read_certificates(file)? {
        let read = PeerCertificate::read(&certificate)
            .ok_or_else(|| CredentialsError::unusable(file, "it is malformed"))?;
        store.add(certificate).map_err(|error| CredentialsError::unusable(file, &error.to_string()))?;
        if first.as_ref().is_none_or(|first| read.not_after < first.not_after) {
            first = Some(read);
        }
    }
    first.map(|first| (store, first)).ok_or_else(|| CredentialsError::unusable(file, "there is none"))
}
