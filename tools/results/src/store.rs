//! A folder with a file for each repetition.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::ResultsError;
use crate::record::Record;

/// A folder of records: `NAME/NUMBER.json`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store(PathBuf);

impl Store {
    /// The store in `folder`, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    fn path(&self, name: &str, number: u16) -> PathBuf {
        self.0.join(name).join(format!("{number:03}.json"))
    }

    /// The record of a repetition, if there is one.
    ///
    /// # Errors
    ///
    /// [`ResultsError::File`], or [`ResultsError::Malformed`] for one of another release.
    pub fn read(&self, name: &str, number: u16) -> Result<Option<Record>, ResultsError> {
        let path = self.path(name, number);
        match fs::read_to_string(&path) {
            Ok(text) => parse(&path, &text).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ResultsError::file(&path, error)),
        }
    }

    /// All records of a job, by number.
    ///
    /// # Errors
    ///
    /// Those of [`Self::read`].
    pub fn all(&self, name: &str) -> Result<Vec<Record>, ResultsError> {
        let entries = fs::read_dir(self.0.join(name)).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|it| it.file_name().to_str()?.strip_suffix(".json")?.parse().ok());
        let mut numbers: Vec<u16> = numbers.collect();
        numbers.sort_unstable();
        let records = numbers.into_iter().map(|number| self.read(name, number));
        Ok(records.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Writes a record, whole or not at all.
    ///
    /// # Errors
    ///
    /// [`ResultsError::File`].
    pub fn write(&self, record: &Record) -> Result<(), ResultsError> {
        let path = self.path(&record.name, record.number);
        let text = serde_json::to_string(record).map_err(|error| ResultsError::Malformed {
            file: path.display().to_string(),
            why: error.to_string(),
        })?;
        write(&path, &format!("{text}\n"))
    }
}

/// Writes a file and its folders; a reader never sees a part of it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), ResultsError> {
    let failed = |error| ResultsError::file(path, error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let part = path.with_extension("part");
    fs::write(&part, text).map_err(failed)?;
    fs::rename(&part, path).map_err(failed)
}

fn parse(path: &Path, text: &str) -> Result<Record, ResultsError> {
    serde_json::from_str(text)
        .map_err(|error| ResultsError::Malformed { file: path.display().to_string(), why: error.to_string() })
}
