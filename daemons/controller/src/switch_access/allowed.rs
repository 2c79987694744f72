//! A switch that may join, and where from.

use std::net::IpAddr;
use std::str::FromStr;

use braid_types::{DatapathId, IpPrefix, ParseError};

/// A switch that may join: `DPID`, or `DPID@PREFIX` if it may from there only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllowedSwitch {
    /// Its datapath id.
    pub dpid: DatapathId,
    /// Where it may connect from.
    pub prefix: Option<IpPrefix>,
}

/// Errors of the text form of an allowed switch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AllowedSwitchError {
    /// Either part is invalid.
    #[error("{0}; give DPID or DPID@PREFIX, such as 00000000000000a1@10.0.0.0/24")]
    Part(#[from] ParseError),
}

impl AllowedSwitch {
    /// Whether it may connect from this address.
    pub(super) fn may_come_from(&self, address: IpAddr) -> bool {
        self.prefix.is_none_or(|prefix| prefix.contains(address))
    }
}

impl FromStr for AllowedSwitch {
    type Err = AllowedSwitchError;

    fn from_str(text: &str) -> Result<Self, AllowedSwitchError> {
        let (dpid, prefix) = match text.split_once('@') {
            Some((dpid, prefix)) => (dpid, Some(prefix.parse()?)),
            None => (text, None),
        };
        Ok(Self { dpid: dpid.parse()?, prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_read_with_and_without_a_prefix() {
        let parse = |text: &str| text.parse::<AllowedSwitch>();
        let dpid = DatapathId(0xa1);
        assert_eq!(parse("00000000000000a1"), Ok(AllowedSwitch { dpid, prefix: None }));
        let limited = parse("00000000000000a1@10.0.0.0/24").expect("a switch");
        assert!(limited.may_come_from([10, 0, 0, 9].into()) && !limited.may_come_from([10, 0, 1, 9].into()));
        for text in ["", "@10.0.0.0/24", "a1@", "a1@10.0.0.1/24", "x"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
