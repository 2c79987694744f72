//! Connections with databases: TLS, plain TCP, or a socket of this machine.

use std::io;
use std::pin::Pin;

use braid_tls::{PeerCertificate, Role, explain};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::OvsdbAddress;
use crate::openflow_tls::OpenFlowTls;

/// Bytes in both directions.
pub(super) trait Duplex: AsyncRead + AsyncWrite {}

impl<T: AsyncRead + AsyncWrite> Duplex for T {}

/// An open connection.
pub(super) struct Opened {
    pub(super) stream: Pin<Box<dyn Duplex>>,
    /// The certificate of the other end, over TLS.
    pub(super) certificate: Option<PeerCertificate>,
}

/// Connects; `tls` has the certificates, of which TLS needs some.
pub(super) async fn connect(address: &OvsdbAddress, tls: Option<&OpenFlowTls>) -> io::Result<Opened> {
    match address {
        OvsdbAddress::Ssl(address) => {
            let tls = tls.ok_or_else(|| io::Error::other("no certificates for TLS"))?;
            // The name is neither sent nor compared: `OpenFlowTls` says whose bridges a certificate may have.
            let name = ServerName::from(address.ip());
            let stream = TcpStream::connect(address).await?;
            let stream = TlsConnector::from(tls.client()).connect(name, stream).await;
            let stream = stream.map_err(|error| io::Error::other(explain(Role::Switch, &error)))?;
            let certificates = stream.get_ref().1.peer_certificates();
            let certificate = certificates.and_then(|all| all.first()).and_then(PeerCertificate::read);
            Ok(Opened { stream: Box::pin(stream), certificate })
        }
        OvsdbAddress::Tcp(address) => {
            Ok(Opened { stream: Box::pin(TcpStream::connect(address).await?), certificate: None })
        }
        OvsdbAddress::Unix(file) => {
            Ok(Opened { stream: Box::pin(UnixStream::connect(file).await?), certificate: None })
        }
    }
}
