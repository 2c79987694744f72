//! Values with their place in a TOML file, transparent in a JSON schema.

use std::ops::Range;

use braid_types::with_inner_schema;
use serde::{Deserialize, Deserializer};

/// A value with its place in the file: `toml::Spanned`, which has no schema.
pub(super) struct Spanned<T>(toml::Spanned<T>);

impl<T> Spanned<T> {
    pub(super) fn span(&self) -> Range<usize> {
        self.0.span()
    }

    pub(super) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        toml::Spanned::deserialize(deserializer).map(Self)
    }
}

with_inner_schema!(Spanned);
