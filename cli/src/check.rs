//! `check` of files: each is read and judged, and nothing else is done.

use std::path::{Path, PathBuf};

use crate::{exit, output};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

impl Args {
    /// Prints for each valid file what `check` says of it; ends with the first error after all files.
    pub(crate) fn each(&self, check: impl Fn(&Path) -> anyhow::Result<String>) -> anyhow::Result<()> {
        let mut first = None;
        for file in &self.files {
            match check(file) {
                Ok(what) => output::text(&format!("{}: valid; {what}\n", file.display()))?,
                Err(error) if first.is_none() && self.files.len() == 1 => return Err(error),
                Err(error) => {
                    exit::report(&error);
                    first = first.or(Some(error));
                }
            }
        }
        match first {
            None => Ok(()),
            Some(error) => Err(exit::same_code(&error, "not all files are valid")),
        }
    }
}
