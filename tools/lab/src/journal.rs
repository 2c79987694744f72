//! The journal of a lab: every object that it makes, written to disk before it is made.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::system::Marker;

/// The objects of a lab, one JSON line each, on disk before they are made.
///
/// So after any failure, the lab's objects, and only these, can be found and removed.
pub(crate) struct Journal {
    file: File,
}

/// One line of the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The marker in the environment of the lab's processes. The first line.
    Marker(Marker),
    /// A network namespace that did not exist when the line was written.
    Namespace(String),
}

impl Journal {
    /// A new journal; `path` must not exist.
    pub(crate) fn create(path: &Path) -> Result<Self, LabError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        file.map(|file| Self { file }).map_err(|error| LabError::file(path, error))
    }

    /// Appends lines and syncs them to disk.
    pub(crate) fn write(&mut self, entries: &[Entry]) -> Result<(), LabError> {
        let failed = |error| LabError::io("writing the lab's journal", error);
        let mut lines = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut lines, entry).map_err(|error| failed(error.into()))?;
            lines.push(b'\n');
        }
        self.file.write_all(&lines).map_err(failed)
    }

    /// The entries; empty without a journal. A truncated last line is ignored: its object was not made.
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
