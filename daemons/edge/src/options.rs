use std::net::SocketAddr;
use std::str::FromStr;

use braid_types::{BitsPerSec, DatapathId, PortNo};

/// What an edge is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Its datapath id.
    pub dpid: DatapathId,
    /// Its interfaces, those of the calling thread's network namespace.
    pub ports: Vec<PortOption>,
    /// Where it waits for controllers, and for `ovs-ofctl`.
    pub listen: Vec<SocketAddr>,
    /// Controllers that it connects to, and again when a connection ends.
    pub controllers: Vec<SocketAddr>,
}

/// An interface as `NAME`, `NAME=NUMBER`, or either with `@RATE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortOption {
    /// The interface.
    pub device: String,
    /// Its port number; by default its place, from 1.
    pub number: Option<PortNo>,
    /// What it carries, for those who ask.
    pub rate: Option<BitsPerSec>,
}

/// Why a text is no [`PortOption`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortOptionError {
    /// The name is none.
    #[error("`{0}` is no name of an interface; give up to 15 characters")]
    Name(String),
    /// The number is none, or one that OpenFlow keeps for other things.
    #[error("`{0}` is no port number; give 1 to 4294967040")]
    Number(String),
    /// The rate cannot be read.
    #[error(transparent)]
    Rate(#[from] braid_types::ParseError),
}

impl FromStr for PortOption {
    type Err = PortOptionError;

    fn from_str(text: &str) -> Result<Self, PortOptionError> {
        let (text, rate) = match text.rsplit_once('@') {
            Some((text, rate)) => (text, Some(rate.parse()?)),
            None => (text, None),
        };
        let (device, number) = match text.split_once('=') {
            Some((device, number)) => (device, Some(port_number(number)?)),
            None => (text, None),
        };
        if device.is_empty() || device.len() > 15 || device.contains(['/', ' ']) {
            return Err(PortOptionError::Name(device.to_owned()));
        }
        Ok(Self { device: device.to_owned(), number, rate })
    }
}

fn port_number(text: &str) -> Result<PortNo, PortOptionError> {
    let number = text.parse().map(PortNo).ok().filter(|number: &PortNo| number.is_physical());
    number.ok_or_else(|| PortOptionError::Number(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_read_with_number_and_rate() {
        let port = |device: &str, number: Option<u32>, rate: Option<u64>| PortOption {
            device: device.into(),
            number: number.map(PortNo),
            rate: rate.map(BitsPerSec),
        };
        assert_eq!("eth1".parse(), Ok(port("eth1", None, None)));
        assert_eq!("eth1=7".parse(), Ok(port("eth1", Some(7), None)));
        assert_eq!("eth1=7@100Mbit".parse(), Ok(port("eth1", Some(7), Some(100_000_000))));
        for text in
            ["", "=1", "eth1=0", "eth1=x", "eth1@fast", "averyveryverylongname", "a/b", "eth1=4294967295"]
        {
            assert!(text.parse::<PortOption>().is_err(), "{text}");
        }
    }
}
