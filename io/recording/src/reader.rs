//! Recordings are read line by line; an invalid line is named.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Lines};
use std::path::Path;

use braid_control::Recorded;
use serde::Deserialize;

use crate::Header;

/// Reads a recording: its header and its events.
///
/// # Errors
///
/// The file cannot be read, or a line is invalid; the error names the line.
pub fn read_recording(path: &Path) -> io::Result<(Header, Vec<Recorded<'static>>)> {
    let (header, events) = Events::open(path)?;
    Ok((header, events.collect::<io::Result<_>>()?))
}

/// The events of a recording, one by one.
pub(crate) struct Events {
    lines: Lines<BufReader<File>>,
    number: usize,
}

impl Events {
    pub(crate) fn open(path: &Path) -> io::Result<(Header, Self)> {
        let mut lines = BufReader::new(File::open(path)?).lines();
        let Some(first) = lines.next() else {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the recording is empty"));
        };
        Ok((parse(&first?, 1)?, Self { lines, number: 1 }))
    }
}

impl Iterator for Events {
    type Item = io::Result<Recorded<'static>>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.lines.next()?;
        self.number += 1;
        Some(line.and_then(|line| parse(&line, self.number)))
    }
}

fn parse<T: for<'de> Deserialize<'de>>(line: &str, number: usize) -> io::Result<T> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {error}"));
    serde_json::from_str(line).map_err(invalid)
}
