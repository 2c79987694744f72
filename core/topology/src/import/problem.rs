//! Problems of imported documents, with their place and a remedy, and a bounded list of warnings.

use std::fmt;

use super::MAX_WARNINGS;
use crate::blueprint::BlueprintError;

/// What is wrong with a document, or was passed over in it, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportProblem {
    /// What the document is called.
    pub file: String,
    /// Line and column, from 1, where they are known.
    pub at: Option<(usize, usize)>,
    /// What it is about, such as `links[3].capacity` or `edge "e7"`; empty for the whole document.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

impl ImportProblem {
    pub(super) fn new(
        file: &str,
        at: Option<(usize, usize)>,
        place: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { file: file.to_owned(), at, place: place.into(), what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for ImportProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")?;
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "{}; {}", self.what, self.remedy)
    }
}

impl std::error::Error for ImportProblem {}

/// What to do about something that a network cannot have.
pub(super) const fn remedy(error: &BlueprintError) -> &'static str {
    match error {
        BlueprintError::BadName(_) => "give it another label",
        BlueprintError::RepeatedName(_) | BlueprintError::RepeatedDatapath { .. } => "give each its own",
        BlueprintError::RepeatedPort { .. } => "a port has one link: use another",
        BlueprintError::NotAPort { .. } => "use another number",
        BlueprintError::UnknownSwitch { .. } => "name one that there is",
        BlueprintError::SelfLoop(_) => "leave it out",
        BlueprintError::NoDirection(..) => "give it one, or leave it out",
        BlueprintError::NoInterface(_) => "attach it to a switch, or leave it out",
        BlueprintError::TooMany { .. } => "cut the network into smaller ones",
    }
}

/// Warnings, of which only so many are kept.
#[derive(Default)]
pub(super) struct Warnings {
    kept: Vec<ImportProblem>,
    more: usize,
}

impl Warnings {
    /// Adds a warning, which is only made if it is kept: finding its line costs a walk through the document.
    pub(super) fn add(&mut self, warning: impl FnOnce() -> ImportProblem) {
        if self.kept.len() < MAX_WARNINGS {
            self.kept.push(warning());
        } else {
            self.more += 1;
        }
    }

    pub(super) fn into_vec(mut self, file: &str) -> Vec<ImportProblem> {
        if self.more > 0 {
            let what = format!("there are {} warnings more", self.more);
            self.kept.push(ImportProblem::new(file, None, "", what, "mend these first"));
        }
        self.kept
    }
}
