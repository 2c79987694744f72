//! Addresses of databases, as Open vSwitch writes them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// Where an OVSDB server listens: `ssl:ADDRESS:PORT` for its `pssl:PORT`, `tcp:ADDRESS:PORT` for its `ptcp:PORT`, or
/// `unix:FILE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OvsdbAddress {
    /// TLS, with the certificates of OpenFlow over TLS.
    Ssl(SocketAddr),
    /// TCP, without authentication.
    Tcp(SocketAddr),
    /// A socket of this machine.
    Unix(PathBuf),
}

/// The text is no address of a database.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is none of ssl:ADDRESS:PORT, tcp:ADDRESS:PORT, unix:FILE")]
pub struct OvsdbAddressError(String);

impl FromStr for OvsdbAddress {
    type Err = OvsdbAddressError;

    fn from_str(text: &str) -> Result<Self, OvsdbAddressError> {
        let error = || OvsdbAddressError(text.to_owned());
        match text.split_once(':') {
            Some(("unix", file)) if !file.is_empty() => Ok(Self::Unix(file.into())),
            Some(("ssl", address)) => address.parse().map(Self::Ssl).map_err(|_| error()),
            Some(("tcp", address)) => address.parse().map(Self::Tcp).map_err(|_| error()),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for OvsdbAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssl(address) => write!(f, "ssl:{address}"),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
            Self::Unix(file) => write!(f, "unix:{}", file.display()),
        }
    }
}

impl OvsdbAddress {
    /// The IP address of the database's machine.
    pub(super) const fn ip(&self) -> IpAddr {
        match self {
            Self::Ssl(address) | Self::Tcp(address) => address.ip(),
            Self::Unix(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_open_vswitch_writes_them() {
        for text in ["tcp:10.0.0.1:6640", "ssl:[::1]:6640", "unix:/run/openvswitch/db.sock"] {
            assert_eq!(text.parse::<OvsdbAddress>().map(|it| it.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "10.0.0.1:6640", "ssl:10.0.0.1", "unix:", "tcp:host:6640"] {
            assert!(text.parse::<OvsdbAddress>().is_err(), "{text}");
        }
    }
}
