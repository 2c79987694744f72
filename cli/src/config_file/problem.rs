//! Mistakes of a configuration file, with their lines.

use std::path::PathBuf;

use braid_types::{Listed, Problem};

/// Why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigFileError {
    /// It cannot be read.
    #[error("cannot read the configuration {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It has mistakes.
    #[error("{}", Listed(.file, .problems))]
    Content {
        /// The file.
        file: PathBuf,
        /// All mistakes, in the order of the file.
        problems: Vec<Problem>,
    },
}
