//! Options of an edge and their text forms: ports, uplinks, tunnels and controllers.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use braid_edge_protocol::Ends;
use braid_switch::UplinkAddress;
use braid_tls::CredentialPaths;
use braid_types::{BitsPerSec, DatapathId, PortNo};

/// The configuration of an edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Its datapath id.
    pub dpid: DatapathId,
    /// Its ports: interfaces of the calling thread's network namespace.
    pub ports: Vec<PortOption>,
    /// Its uplinks to routers, one for each address. An interface that is not a port as well carries only tunnels.
    pub uplinks: Vec<UplinkOption>,
    /// Tunnels over the uplinks; each is a port.
    pub tunnels: Vec<TunnelOption>,
    /// Whether TCP crosses tunnels with their addresses instead of in GRE, where the other edge does the same.
    pub rewrite: bool,
    /// The addresses to listen on for controllers and `ovs-ofctl`.
    pub listen: Vec<SocketAddr>,
    /// Controllers to connect to, and to reconnect to.
    pub controllers: Vec<ControllerOption>,
    /// The files for controllers with TLS, read anew for each connection.
    pub credentials: Option<CredentialPaths>,
}

/// A controller as `ADDRESS`, `tcp:ADDRESS` or `ssl:ADDRESS`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControllerOption {
    /// The address.
    pub address: SocketAddr,
    /// Whether it speaks TLS.
    pub tls: bool,
}

/// The text does not name a controller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a controller: give ADDRESS:PORT, or ssl:ADDRESS:PORT for TLS")]
pub struct ControllerOptionError(String);

impl FromStr for ControllerOption {
    type Err = ControllerOptionError;

    fn from_str(text: &str) -> Result<Self, ControllerOptionError> {
        let (tls, address) = match text.split_once(':') {
            Some(("ssl", address)) => (true, address),
            Some(("tcp", address)) => (false, address),
            _ => (false, text),
        };
        let address = address.parse().map_err(|_| ControllerOptionError(text.to_owned()))?;
        Ok(Self { address, tls })
    }
}

/// An interface as `NAME`, `NAME=NUMBER`, or either with `@RATE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortOption {
    /// The interface.
    pub device: String,
    /// Its port number; by default its position, from 1.
    pub number: Option<PortNo>,
    /// Its rate, for the port description.
    pub rate: Option<BitsPerSec>,
}

/// An address of an interface to a router, as `NAME,ADDRESS/PREFIX[,GATEWAY]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UplinkOption {
    /// The interface.
    pub device: String,
    /// The addresses of the edge and of the router.
    pub address: UplinkAddress,
}

/// A tunnel to another edge, as `OWN,OTHER`, `OWN,OTHER=NUMBER`, or either with `@RATE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TunnelOption {
    /// The address of an uplink, and the address of the other edge.
    pub ends: Ends,
    /// Its port number; by default the next one.
    pub number: Option<PortNo>,
    /// Its rate, for the port description.
    pub rate: Option<BitsPerSec>,
}

/// Errors of parsing options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortOptionError {
    /// The interface name is invalid.
    #[error("`{0}` is not an interface name: give up to 15 characters")]
    Name(String),
    /// The port number is invalid or reserved by OpenFlow.
    #[error("`{0}` is not a port number: give 1 to 4294967040")]
    Number(String),
    /// The address of an uplink is invalid.
    #[error(
        "`{0}` is no interface with its address; give NAME,ADDRESS/PREFIX[,GATEWAY], such as eth1,192.0.2.6/30,192.0.2.5"
    )]
    Uplink(String),
    /// The ends of a tunnel are invalid.
    #[error("`{0}` does not name the ends of a tunnel: give OWN,OTHER, two addresses of one family")]
    Ends(String),
    /// The rate is invalid.
    #[error(transparent)]
    Rate(#[from] braid_types::AmountError),
}

impl FromStr for PortOption {
    type Err = PortOptionError;

    fn from_str(text: &str) -> Result<Self, PortOptionError> {
        let (device, number, rate) = number_and_rate(text)?;
        Ok(Self { device: device_name(device)?, number, rate })
    }
}

impl FromStr for UplinkOption {
    type Err = PortOptionError;

    fn from_str(text: &str) -> Result<Self, PortOptionError> {
        let (device, address) =
            text.split_once(',').ok_or_else(|| PortOptionError::Uplink(text.to_owned()))?;
        let address = uplink_address(address).ok_or_else(|| PortOptionError::Uplink(text.to_owned()))?;
        Ok(Self { device: device_name(device)?, address })
    }
}

impl FromStr for TunnelOption {
    type Err = PortOptionError;

    fn from_str(text: &str) -> Result<Self, PortOptionError> {
        let (ends, number, rate) = number_and_rate(text)?;
        let two = ends.split_once(',').and_then(|(src, dst)| Some((src.parse().ok()?, dst.parse().ok()?)));
        let (src, dst): (IpAddr, IpAddr) = two
            .filter(|(src, dst): &(IpAddr, IpAddr)| src.is_ipv4() == dst.is_ipv4() && src != dst)
            .ok_or_else(|| PortOptionError::Ends(ends.to_owned()))?;
        Ok(Self { ends: Ends { src, dst }, number, rate })
    }
}

/// Splits a text into its name, number and rate.
fn number_and_rate(text: &str) -> Result<(&str, Option<PortNo>, Option<BitsPerSec>), PortOptionError> {
    let (text, rate) = match text.rsplit_once('@') {
        Some((text, rate)) => (text, Some(rate.parse()?)),
        None => (text, None),
    };
    Ok(match text.split_once('=') {
        Some((text, number)) => (text, Some(port_number(number)?), rate),
        None => (text, None, rate),
    })
}

fn device_name(name: &str) -> Result<String, PortOptionError> {
    if name.is_empty() || name.len() > 15 || name.contains(['/', ' ']) {
        return Err(PortOptionError::Name(name.to_owned()));
    }
    Ok(name.to_owned())
}

fn uplink_address(text: &str) -> Option<UplinkAddress> {
    let (own, gateway) = match text.split_once(',') {
        Some((own, gateway)) => (own, Some(gateway.parse().ok()?)),
        None => (text, None),
    };
    let (address, prefix) = own.split_once('/')?;
    let (address, prefix): (IpAddr, u8) = (address.parse().ok()?, prefix.parse().ok()?);
    let usable = !(address.is_unspecified() || address.is_multicast() || address.is_loopback());
    UplinkAddress::new(address, prefix, gateway).filter(|_| usable)
}

fn port_number(text: &str) -> Result<PortNo, PortOptionError> {
    let number = text.parse().map(PortNo).ok().filter(|number: &PortNo| number.is_physical());
    number.ok_or_else(|| PortOptionError::Number(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_read_in_the_words_of_open_vswitch() {
        let address = "[::1]:6653".parse().unwrap();
        for (text, tls) in [("[::1]:6653", false), ("tcp:[::1]:6653", false), ("ssl:[::1]:6653", true)] {
            assert_eq!(text.parse(), Ok(ControllerOption { address, tls }), "{text}");
        }
        assert!("ssl:controller".parse::<ControllerOption>().is_err());
    }

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

    #[test]
    fn uplinks_are_read_with_their_gateways() {
        let option: UplinkOption = "eth1,192.0.2.6/30,192.0.2.5".parse().unwrap();
        let own = UplinkAddress::new([192, 0, 2, 6].into(), 30, Some([192, 0, 2, 5].into()));
        assert_eq!((option.device.as_str(), Some(option.address)), ("eth1", own));
        assert_eq!("eth1,2001:db8::2/64".parse::<UplinkOption>().unwrap().address.gateway(), None);
        for text in [
            "",
            "eth1",
            "eth1,192.0.2.6",
            "eth1,192.0.2.6/33",
            "eth1,192.0.2.6/30,x",
            ",192.0.2.6/30",
            "eth1,0.0.0.0/0",
        ] {
            assert!(text.parse::<UplinkOption>().is_err(), "{text}");
        }
    }

    #[test]
    fn tunnels_are_read_with_number_and_rate() {
        let option: TunnelOption = "2001:db8::2,2001:db8:1::2=4@10Mbit".parse().unwrap();
        assert_eq!((option.number, option.rate), (Some(PortNo(4)), Some(BitsPerSec(10_000_000))));
        assert_eq!(option.ends.dst, "2001:db8:1::2".parse::<IpAddr>().unwrap());
        for text in [
            "",
            "192.0.2.6",
            "192.0.2.6,::1",
            "192.0.2.6,192.0.2.6",
            "192.0.2.6,192.0.2.70=0",
            "192.0.2.6,192.0.2.70@x",
        ] {
            assert!(text.parse::<TunnelOption>().is_err(), "{text}");
        }
    }
}
