use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How the traffic is carried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Plain TCP: one path.
    Tcp,
    /// Multipath TCP of the kernel, RFC 8684.
    Mptcp,
}

/// What makes the traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// One long transfer that measures itself.
    Iperf3,
}

/// What an MPTCP endpoint is for, see `ip-mptcp(8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointFlag {
    /// Subflows are opened from it.
    Subflow,
    /// It is announced to the peer.
    Signal,
    /// It carries data only when nothing else does.
    Backup,
    /// Subflows are opened from it to every address of the peer.
    Fullmesh,
}

/// A value that an expectation is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Goodput at the receiver in bits per second.
    GoodputBps,
    /// Goodput over the maximum flow between the two hosts.
    FractionOfCapacity,
    /// How many different paths the streams take.
    Paths,
}

/// A whole number of seconds, written `15s` or `2min`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Seconds(pub u32);

/// Why a text is not a number of seconds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a duration such as 15s or 2min")]
pub struct SecondsError(String);

impl FromStr for Seconds {
    type Err = SecondsError;

    fn from_str(text: &str) -> Result<Self, SecondsError> {
        let (number, scale) = match (text.strip_suffix("min"), text.strip_suffix('s')) {
            (Some(number), _) => (number, 60),
            (None, Some(number)) => (number, 1),
            (None, None) => (text, 0),
        };
        let seconds = number.parse::<u32>().ok().and_then(|number| number.checked_mul(scale));
        seconds.filter(|_| scale > 0).map(Self).ok_or_else(|| SecondsError(text.to_owned()))
    }
}

impl TryFrom<String> for Seconds {
    type Error = SecondsError;

    fn try_from(text: String) -> Result<Self, SecondsError> {
        text.parse()
    }
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        Self::from_secs(seconds.0.into())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
        })
    }
}

impl fmt::Display for EndpointFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Subflow => "subflow",
            Self::Signal => "signal",
            Self::Backup => "backup",
            Self::Fullmesh => "fullmesh",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_read_in_both_units() {
        assert_eq!("15s".parse(), Ok(Seconds(15)));
        assert_eq!("2min".parse(), Ok(Seconds(120)));
        for text in ["", "s", "15", "-1s", "1.5s", "4294967295min"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }
}
