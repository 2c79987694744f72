//! Profiles in a scenario file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::DirectionParameters;
use crate::scenario::spanned::Spanned;

/// Properties of all lines of sites.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Profile {
    /// The name, in reports.
    pub name: Spanned<String>,
    /// The properties of each line in both directions, in the order of the links; those that are missing are the link's.
    pub lines: Spanned<Vec<DirectionParameters>>,
    /// What others have published of it, shown beside what was measured.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
}
