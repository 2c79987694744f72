//! Values with their place in a scenario file, transparent in a JSON schema.

use braid_types::with_inner_schema;
use serde::{Deserialize, Deserializer};
use serde_saphyr::Location;

/// A value with its place in the file: `serde_saphyr::Spanned`, which has no schema.
#[derive(Clone, Debug)]
pub(super) struct Spanned<T> {
    pub value: T,
    pub referenced: Location,
    pub defined: Location,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let serde_saphyr::Spanned { value, referenced, defined } =
            serde_saphyr::Spanned::deserialize(deserializer)?;
        Ok(Self { value, referenced, defined })
    }
}

with_inner_schema!(Spanned);
