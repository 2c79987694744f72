//! TLS to controllers: credentials that are read anew for each connection.

use std::io;
use std::net::TcpStream;

use braid_tls::{CredentialPaths, Credentials, CredentialsError, TlsStream, Transport};
use tracing::error;

/// The edge's certificate and key, and the authority of its controllers.
#[derive(Debug)]
pub(crate) struct Tls {
    paths: CredentialPaths,
    credentials: Credentials,
}

impl Tls {
    pub(crate) fn read(paths: &CredentialPaths) -> Result<Self, CredentialsError> {
        Ok(Self { paths: paths.clone(), credentials: Credentials::read(paths)? })
    }

    /// A connection to a controller; files that have become invalid change nothing.
    pub(crate) fn connect(&mut self, stream: TcpStream) -> io::Result<Transport> {
        match Credentials::read(&self.paths) {
            Ok(credentials) => self.credentials = credentials,
            Err(error) => error!("certificate not reloaded, the old one stays in use: {error}"),
        }
        let config = self.credentials.client().map_err(io::Error::other)?;
        Ok(Transport::Tls(Box::new(TlsStream::connect(stream, config)?)))
    }
}
