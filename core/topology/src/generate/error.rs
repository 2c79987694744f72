//! Errors of generators: sizes out of range, and specifications that cannot be parsed.

use crate::blueprint::BlueprintError;

/// Why there is no network with these sizes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// A size is out of its range.
    #[error("{family}: {parameter} is {value}; {remedy}")]
    Size {
        /// The family.
        family: &'static str,
        /// Which size.
        parameter: &'static str,
        /// What it is.
        value: usize,
        /// What would do.
        remedy: String,
    },
    /// It would be larger than a blueprint can be.
    #[error(transparent)]
    Blueprint(#[from] BlueprintError),
}

/// Why a text names no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No family has this name.
    #[error("there is no family of networks {0:?}; there are {known}", known = super::Spec::FORMS.join(", "))]
    UnknownFamily(String),
    /// The arguments are not as many, or not numbers.
    #[error("{text:?} is not of the form {form}: {what}")]
    Arguments {
        /// What was given.
        text: String,
        /// How the family is written.
        form: &'static str,
        /// What is wrong.
        what: String,
    },
}

impl GenerateError {
    pub(super) fn size(
        family: &'static str,
        parameter: &'static str,
        value: usize,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Size { family, parameter, value, remedy: remedy.into() }
    }
}
