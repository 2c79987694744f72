//! TLS of OpenFlow and between controllers: mutual authentication by certificates, and connections that do not block.
//!
//! [`Credentials`] are an own certificate and key, and the authorities whose peers are trusted, all read from PEM
//! files as `ovs-pki` writes them. [`TlsStream`] is an established or an opening connection over a non-blocking socket;
//! whoever polls the socket drives it. [`Transport`] is that or plain TCP. rustls does the cryptography and the verification of certificates.
//!
//! Not included: which peer may do what ([`PeerCertificate`] says who it is), timeouts, and HTTPS.
//!
//! ```no_run
//! use std::net::TcpStream;
//!
//! use braid_tls::{CredentialPaths, Credentials, TlsStream};
//!
//! let paths = CredentialPaths {
//!     certificate: "switch-cert.pem".into(),
//!     key: "switch-privkey.pem".into(),
//!     authority: "controllerca.pem".into(),
//! };
//! let client = Credentials::read(&paths)?.client()?;
//! let socket = TcpStream::connect("192.0.2.1:6653")?;
//! socket.set_nonblocking(true)?;
//! let mut stream = TlsStream::connect(socket, client)?;
//! // False until the socket has more to read or room to write; then it is to be called again.
//! if stream.handshake()? {
//!     println!("{}", stream.peer_certificate().expect("its certificate").name());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod certificate;
mod credentials;
mod error;
mod failure;
mod pem;
mod stream;
mod transport;
mod verifier;

pub use certificate::PeerCertificate;
pub use credentials::{CredentialPaths, Credentials};
pub use error::CredentialsError;
pub use failure::{Role, explain, is_tls_failure};
pub use pem::{read_certificates, read_key};
pub use rustls::ClientConfig;
pub use stream::TlsStream;
pub use transport::{Transport, is_for_later};
