//! The journal of a lab: everything that it makes, on disk before it is made.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::system::Marker;

/// What a lab makes, one JSON line each, on disk before it is made.
///
/// So whatever ends a deployment, what is left can be found and removed, and nothing else is.
pub(crate) struct Journal {
    file: File,
}

/// One line of the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// What the lab's processes carry. The first line.
    Marker(Marker),
    /// A network namespace that did not exist when this line was written.
    Namespace(String),
}

impl Journal {
    /// A new one; there must be none at `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, LabError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        file.map(|file| Self { file }).map_err(|error| LabError::file(path, error))
    }

    /// Adds lines; they outlive the process once this returns.
    pub(crate) fn write(&mut self, entries: &[Entry]) -> Result<(), LabError> {
        let failed = |error| LabError::io("writing the lab's journal", error);
        let mut lines = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut lines, entry).map_err(|error| failed(error.into()))?;
            lines.push(b'\n');
        }
        self.file.write_all(&lines).map_err(failed)
    }

    /// What was written; empty if there is no journal. A last line that was cut off announced nothing yet.
    pub(crate) fn read(path: &Path) -> Result<Vec<Entry>, LabError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(LabError::file(path, error)),
        };
        let lines = BufReader::new(file).lines().map_while(Result::ok);
        Ok(lines.map_while(|line| serde_json::from_str(&line).ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let marker = Marker::fresh().unwrap();
        vec![
            Entry::Marker(marker),
            Entry::Namespace("bl-a".to_owned()),
            Entry::Namespace("bl-a.h".to_owned()),
        ]
    }

    #[test]
    fn what_is_written_is_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let entries = entries();
        let mut journal = Journal::create(&path).unwrap();
        journal.write(&entries[..1]).unwrap();
        journal.write(&entries[1..]).unwrap();
        assert_eq!(Journal::read(&path).unwrap(), entries);
        assert!(Journal::create(&path).is_err());
    }

    #[test]
    fn every_cut_leaves_the_lines_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let entries = entries();
        Journal::create(&path).unwrap().write(&entries).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for cut in 0..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let read = Journal::read(&path).unwrap();
            assert!(entries.starts_with(&read), "{cut}");
            assert!(read.len() >= bytes[..cut].iter().filter(|byte| **byte == b'\n').count(), "{cut}");
        }
    }

    #[test]
    fn no_journal_announced_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Journal::read(&folder.path().join("journal")).unwrap(), []);
    }
}
