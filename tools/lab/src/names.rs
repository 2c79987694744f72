//! Valid names of labs, and the names of namespaces derived from them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest name of a Linux interface: IFNAMSIZ without the NUL.
pub(crate) const INTERFACE_NAME_MAX: usize = 15;

/// The name of a lab: 1 to 15 of `a-z`, `0-9` and `-`, with a letter or digit at both ends.
///
/// All objects of a lab contain it. The namespaces are `bl-LAB` (the switches) and `bl-LAB.HOST`; a name has no full
/// stop, so the namespaces of two labs always differ.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LabName(String);

/// An invalid lab name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a lab's name; use 1 to 15 of a-z, 0-9 and -, with a letter or digit at both ends")]
pub struct LabNameError(String);

impl LabName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The network namespace of the switches and their ends of links.
    pub fn fabric_namespace(&self) -> String {
        format!("bl-{}", self.0)
    }

    /// The network namespace of host `host`.
    pub fn host_namespace(&self, host: &str) -> String {
        format!("bl-{}.{host}", self.0)
    }

    /// The network namespace of the link process; no host can have this name.
    pub(crate) fn links_namespace(&self) -> String {
        self.host_namespace("_links")
    }

    /// The network namespace of the network that carries tunnels, at their first or second ends.
    pub(crate) fn underlay_namespace(&self, side: usize) -> String {
        self.host_namespace(["_underlay1", "_underlay2"][side])
    }
}

impl FromStr for LabName {
    type Err = LabNameError;

    fn from_str(text: &str) -> Result<Self, LabNameError> {
        if is_valid_name(text) { Ok(Self(text.to_owned())) } else { Err(LabNameError(text.to_owned())) }
    }
}

impl fmt::Display for LabName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether `name` is valid for a lab, a host, a switch or an interface.
pub(crate) fn is_valid_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let edges = !name.starts_with('-') && !name.ends_with('-');
    (1..=INTERFACE_NAME_MAX).contains(&name.len()) && edges && name.bytes().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_an_interface_and_a_path() {
        for name in ["a", "ams-gva", "0", "fifteen-letters"] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in ["", "-a", "a-", "A", "a.b", "a/b", "a b", "sixteen-letters0", "é"] {
            assert!(!is_valid_name(name), "{name}");
        }
    }

    #[test]
    fn a_lab_and_a_host_never_share_a_namespace() {
        let (short, long): (LabName, LabName) = ("a".parse().unwrap(), "a-b".parse().unwrap());
        assert_ne!(short.host_namespace("b-c"), long.host_namespace("c"));
        assert_ne!(short.host_namespace("b"), long.fabric_namespace());
    }
}
