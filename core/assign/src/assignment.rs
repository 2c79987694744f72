//! Assignments (paths set aside for an application between two hosts): identifier, owner and request.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use braid_paths::Path;
use braid_types::Time;
use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::model::StreamModel;

/// The identifier of an assignment; as text 16 hexadecimal digits. It cannot be guessed from others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssignmentId(pub u64);

/// The owner of an assignment: up to 64 visible ASCII characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Owner(String);

/// Text that is not a valid owner.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an owner is named by 1 to 64 visible ASCII characters, not by {0:?}")]
pub struct OwnerError(String);

/// An application's request for an assignment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// The requesting owner.
    pub owner: Owner,
    /// One host.
    pub src: IpAddr,
    /// The other.
    pub dst: IpAddr,
    /// The number of paths requested.
    pub paths: usize,
    /// The expected number of streams, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<usize>,
    /// How long the assignment lasts after its last use.
    pub lease: Duration,
    /// How streams are distributed.
    #[serde(default)]
    pub distribution: Distribution,
    /// The model of the streams that paths can use, if the application knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<StreamModel>,
}

/// An assignment that was promised to an application, without its paths: what one controller tells another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PromisedAssignment {
    /// Its identifier.
    pub id: AssignmentId,
    /// The request.
    pub claim: Claim,
}

/// Paths set aside for the streams of one application between two hosts.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    /// Its identifier.
    pub id: AssignmentId,
    /// The request.
    pub claim: Claim,
    /// Its paths, shortest first: from the switch of `claim.src` to that of `claim.dst`, no more than requested.
    pub paths: Vec<Path>,
    /// When it was made.
    pub opened_at: Time,
    /// When it ends unless it is used before.
    pub expires_at: Time,
    /// The number of streams placed on it so far.
    pub placed: u64,
}

impl fmt::Display for AssignmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for AssignmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for AssignmentId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_id = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_id.then(|| u64::from_str_radix(text, 16).ok()).flatten();
        number
            .map(Self)
            .ok_or_else(|| format!("an assignment is named by 16 hexadecimal digits, not by {text:?}"))
    }
}

impl Serialize for AssignmentId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AssignmentId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl TryFrom<String> for Owner {
    type Error = OwnerError;

    fn try_from(text: String) -> Result<Self, OwnerError> {
        let is_name = (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_name { Ok(Self(text)) } else { Err(OwnerError(text.chars().take(64).collect())) }
    }
}

impl FromStr for Owner {
    type Err = OwnerError;

    fn from_str(text: &str) -> Result<Self, OwnerError> {
        text.to_owned().try_into()
    }
}

impl From<Owner> for String {
    fn from(owner: Owner) -> Self {
        owner.0
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_written() {
        for number in [0, 7, u64::MAX] {
            assert_eq!(AssignmentId(number).to_string().parse(), Ok(AssignmentId(number)));
        }
        for text in ["", "7", "+123456789abcdef", "0123456789abcdefg", "0123456789abcde\u{e4}"] {
            assert!(text.parse::<AssignmentId>().is_err(), "{text}");
        }
    }

    #[test]
    fn owners_have_short_visible_names() {
        assert!("alice@nagoya".parse::<Owner>().is_ok());
        for text in ["", "two words", "tab\t", "caf\u{e9}", &"x".repeat(65)] {
            assert!(text.parse::<Owner>().is_err(), "{text}");
        }
    }
}
