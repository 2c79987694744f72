//! Recordings are written to files that only their owner can read.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use braid_control::Event;
use braid_types::Time;

use crate::{Header, Line, write_line};

/// Read and write for the owner, nothing for others.
const OWNER_ONLY: u32 = 0o600;

/// Writes every event as a line of JSON.
#[derive(Debug)]
pub struct Recorder(BufWriter<File>);

impl Recorder {
    /// Creates the file, or replaces its content, and writes the header.
    ///
    /// # Errors
    ///
    /// The file cannot be created, or belongs to somebody else.
    pub fn create(path: &Path, lldp_key: &[u8]) -> io::Result<Self> {
        let mut file = create_private(path)?;
        write_line(&mut file, &Header::new(lldp_key))?;
        Ok(Self(file))
    }

    /// Appends an event.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&mut self, at: Time, event: &Event<'_>) -> io::Result<()> {
        // Ticks are recorded too: a replay's time advances only by recorded events.
        let flush = matches!(event, Event::Tick);
        write_line(&mut self.0, &Line { at, event })?;
        if flush { self.0.flush() } else { Ok(()) }
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// An empty file that others cannot read, even if it existed with other permissions.
pub(crate) fn create_private(path: &Path) -> io::Result<BufWriter<File>> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(OWNER_ONLY).open(path)?;
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(OWNER_ONLY))?;
    }
    Ok(BufWriter::new(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_owner_can_read_a_recording() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        Recorder::create(&path, &[0; 32]).unwrap();
        assert_eq!(mode(&path), OWNER_ONLY);
    }

    #[test]
    fn a_file_that_everybody_could_read_is_closed_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        Recorder::create(&path, &[0; 32]).unwrap();
        assert_eq!(mode(&path), OWNER_ONLY);
    }
}
