//! Errors of generators: sizes out of range, and specifications that cannot be parsed.

use crate::blueprint::BlueprintError;

/// Errors of sizes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// A size is out of its range.
    #[error("{family}: {parameter} is {value}; {remedy}")]
    Size {
        /// The family.
        family: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: usize,
        /// The remedy.
        remedy: String,
    },
    /// The network is too large for a blueprint.
    #[error(transparent)]
    Blueprint(#[from] BlueprintError),
}

/// Errors of parsing a specification.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The family is unknown.
    #[error("there is no generator {0:?}: give one of {known}", known = super::Spec::FORMS.join(", "))]
    UnknownFamily(String),
    /// The number of arguments is wrong, or one is not a number.
    #[error("{text:?} is not of the form {form}: {what}")]
    Arguments {
        /// The text.
        text: String,
        /// The family's form.
        form: &'static str,
        /// The problem.
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
