//! Problems of imported documents with location and remedy, and a bounded list of warnings.

use std::fmt;

use super::MAX_WARNINGS;
use crate::blueprint::BlueprintError;

/// A problem of a document, or a warning about skipped content, with a remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportProblem {
    /// The document's name.
    pub file: String,
    /// Line and column, from 1, if known.
    pub at: Option<(usize, usize)>,
    /// The item, such as `links[3].capacity` or `edge "e7"`; empty for the whole document.
    pub place: String,
    /// The problem.
    pub what: String,
    /// The remedy.
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

/// The remedy for an impossible network.
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

/// A bounded list of warnings.
#[derive(Default)]
pub(super) struct Warnings {
    kept: Vec<ImportProblem>,
    more: usize,
}

impl Warnings {
    /// Adds a warning, which is constructed only if it is kept, since finding its line scans the document.
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
