//! Addresses with the length of their network.

use std::net::IpAddr;
use std::str::FromStr;

/// Only its form is of interest; `ip` reads the text.
pub(super) struct InterfaceAddress;

impl FromStr for InterfaceAddress {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, length) = text.split_once('/').ok_or(())?;
        let address: IpAddr = address.parse().map_err(drop)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        length.parse::<u8>().ok().filter(|length| *length <= most).map(|_| Self).ok_or(())
    }
}
