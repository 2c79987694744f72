//! The address that a member gives to the others.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use super::store_url::{host_of, is_local};

/// Where other members reach this one: `HOST:PORT`, with a name or an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdvertisedAddress(String);

/// The text is no address that others can connect to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "an address for other members is HOST:PORT, with a name or an address of this machine that they reach"
)]
pub struct AdvertisedAddressError;

impl AdvertisedAddress {
    /// The address of a socket, if others can connect to it.
    pub(super) fn of_socket(address: SocketAddr) -> Option<Self> {
        (!address.ip().to_canonical().is_unspecified()).then(|| Self(address.to_string()))
    }

    /// The host, in brackets if it is an IPv6 address.
    pub(super) fn host(&self) -> &str {
        self.0.rsplit_once(':').map_or(&self.0, |(host, _)| host)
    }

    /// Whether it is an address of this machine only.
    pub(super) fn is_local(&self) -> bool {
        is_local(host_of(&self.0))
    }
}

impl FromStr for AdvertisedAddress {
    type Err = AdvertisedAddressError;

    fn from_str(text: &str) -> Result<Self, AdvertisedAddressError> {
        let (host, port) = text.rsplit_once(':').ok_or(AdvertisedAddressError)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_wildcard = bare.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_unspecified());
        let is_host = !host.is_empty() && !host.contains(['/', '@', ' ', ',']);
        let is_port = port.parse::<u16>().is_ok_and(|port| port != 0);
        // A colon is part of an IPv6 address, which needs brackets.
        let is_whole = !host.contains(':') || bare != host;
        let is_valid = is_host && is_whole && is_port && !is_wildcard;
        if is_valid { Ok(Self(text.to_owned())) } else { Err(AdvertisedAddressError) }
    }
}

impl fmt::Display for AdvertisedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_reached_by_names_and_addresses() {
        for text in ["one.example.net:7000", "192.0.2.1:7000", "[2001:db8::1]:7000"] {
            assert_eq!(text.parse::<AdvertisedAddress>().map(|it| it.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "a", "a:", ":1", "a:0", "0.0.0.0:1", "[::]:1", "2001:db8::1:7000", "u@a:1", "a/b:1"]
        {
            assert_eq!(text.parse::<AdvertisedAddress>(), Err(AdvertisedAddressError), "{text}");
        }
    }

    #[test]
    fn a_socket_that_listens_everywhere_has_no_address_for_others() {
        let of = |text: &str| AdvertisedAddress::of_socket(text.parse().expect("an address"));
        assert_eq!(of("127.0.0.1:7").map(|it| it.to_string()), Some("127.0.0.1:7".to_owned()));
        assert_eq!((of("0.0.0.0:7"), of("[::]:7"), of("[::ffff:0.0.0.0]:7")), (None, None, None));
    }
}
