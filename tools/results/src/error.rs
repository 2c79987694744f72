//! Errors, each with the file or name that it is about.

use std::path::{Path, PathBuf};

/// Why results cannot be measured, read or written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A file of the plan or of the store is malformed.
    #[error("{file}: {why}")]
    Malformed {
        /// The file.
        file: String,
        /// With the line and column, where there is one.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Its error.
        error: std::io::Error,
    },
    /// A name is neither a selection nor a chapter nor a run.
    #[error("there is no selection, chapter or run {name:?}; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// The plan contradicts a scenario or study.
    #[error("{run}: {why}")]
    Plan {
        /// The run.
        run: String,
        /// The contradiction, and its remedy.
        why: String,
    },
    /// A signal ended the measurement; what was measured until then is stored.
    #[error("interrupted: what was measured until then is stored, and the same command continues")]
    Interrupted,
    /// The machine lacks a feature.
    #[error("{0}")]
    Machine(String),
    /// A plot cannot be drawn.
    #[error("the plot of {run}: {why}")]
    Plot {
        /// The run.
        run: String,
        /// The reason.
        why: String,
    },
}

impl ResultsError {
    pub(crate) fn file(path: &Path, error: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }

    pub(crate) fn plan(run: &str, why: impl Into<String>) -> Self {
        Self::Plan { run: run.to_owned(), why: why.into() }
    }
}
