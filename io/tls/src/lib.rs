//! TLS of OpenFlow and between controllers: mutual authentication by certificates, and connections that do not block.
//!
//! [`Credentials`] are an own certificate and key, and the authorities whose peers are trusted, all read from PEM
//! files as `ovs-pki` writes them. [`TlsStream`] is an established or an opening connection over a non-blocking socket;
//! whoever polls the socket drives it. [`Transport`] is that or plain TCP. rustls does the cryptography and the verification of certificates.
//!
//! Not included: which peer may do what ([`PeerCertificate`] says who it is), timeouts, and HTTPS.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod certificate;
mod credentials;
mod failure;
mod stream;
mod transport;
mod verifier;

pub use certificate::PeerCertificate;
pub use credentials::{CredentialPaths, Credentials, CredentialsError};
pub use failure::{Role, explain, is_tls_failure};
pub use rustls::ClientConfig;
pub use stream::TlsStream;
pub use transport::Transport;
