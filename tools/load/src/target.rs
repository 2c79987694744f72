//! The controller under load, and how to reach it.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use braid_tls::{ClientConfig, TlsStream, Transport};

use crate::error::LoadError;

/// How long a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A controller's address, and the switches' side of TLS if it speaks that.
#[derive(Clone)]
pub struct Target {
    /// The address for switches.
    pub address: SocketAddr,
    /// Certificate, key and authority of all switches.
    pub tls: Option<Arc<ClientConfig>>,
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Self { address, tls: None }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.tls.is_some() { "ssl:" } else { "tcp:" }, self.address)
    }
}

impl Target {
    /// A connection that does not block, whose TLS handshake is done.
    pub(crate) fn connect(&self) -> Result<Transport, LoadError> {
        let to = self.address;
        let stream = TcpStream::connect_timeout(&to, CONNECT_TIMEOUT)
            .map_err(|source| LoadError::Connect { to, source })?;
        stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(true))?;
        Ok(self.secure(stream)?)
    }

    fn secure(&self, stream: TcpStream) -> io::Result<Transport> {
        let Some(config) = self.tls.clone() else { return Ok(Transport::Plain(stream)) };
        let mut stream = TlsStream::connect(stream, config)?;
        while !stream.handshake()? {
            std::thread::yield_now();
        }
        Ok(Transport::Tls(Box::new(stream)))
    }
}
