//! The text of bitmaps.

use std::fmt;

use serde::{Serialize, Serializer};

/// A bit's name in small letters, or the bits that have none.
#[derive(Clone, Copy)]
pub(crate) enum FlagName {
    Named(&'static str),
    Unnamed(u64),
}

/// The names of the bits that are set, and at the end those without a name together.
pub(crate) fn names(bits: u64, named: &'static [(&'static str, u64)]) -> impl Iterator<Item = FlagName> {
    let known = named.iter().fold(0, |all, (_, bit)| all | bit);
    let unnamed = Some(bits & !known).filter(|rest| *rest != 0).map(FlagName::Unnamed);
    let set = named.iter().filter(move |(_, bit)| bits & bit == *bit);
    set.map(|(name, _)| FlagName::Named(name)).chain(unnamed)
}

impl fmt::Display for FlagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => {
                name.chars().try_for_each(|letter| write!(f, "{}", letter.to_ascii_lowercase()))
            }
            Self::Unnamed(bits) => write!(f, "{bits:#x}"),
        }
    }
}

impl fmt::Debug for FlagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for FlagName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
