//! Recordings of events as lines of JSON, written and read.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use braid_control::{Event, Recorded};
use braid_types::Time;
use serde::{Deserialize, Serialize};

/// The first line of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// `braid/v1`.
    pub schema: Cow<'static, str>,
    /// The version of Braid that recorded.
    pub version: Cow<'static, str>,
    /// The key of the recorded discovery frames, in hexadecimal. It is valid for that run only.
    pub lldp_key: String,
}

/// Writes every event as a line of JSON.
#[derive(Debug)]
pub(crate) struct Recorder(BufWriter<File>);

impl Recorder {
    pub(crate) fn create(path: &Path, lldp_key: &[u8]) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        let version = Cow::Borrowed(env!("CARGO_PKG_VERSION"));
        let header = Header { schema: Cow::Borrowed("braid/v1"), version, lldp_key: hex::encode(lldp_key) };
        write_line(&mut file, &header)?;
        Ok(Self(file))
    }

    pub(crate) fn write(&mut self, at: Time, event: &Event<'_>) -> io::Result<()> {
        // Ticks are recorded too: a replay's time advances only by recorded events.
        let flush = matches!(event, Event::Tick);
        write_line(&mut self.0, &Line { at, event })?;
        if flush { self.0.flush() } else { Ok(()) }
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// [`Recorded`], borrowed.
#[derive(Serialize)]
struct Line<'a> {
    at: Time,
    event: &'a Event<'a>,
}

fn write_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Reads a recording: its header and its events.
///
/// Errors: the file cannot be read, or a line is invalid; the error names the line.
pub fn read_recording(path: &Path) -> io::Result<(Header, Vec<Recorded<'static>>)> {
    let mut lines = BufReader::new(File::open(path)?).lines().zip(1..);
    let Some((first, _)) = lines.next() else {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the recording is empty"));
    };
    let header = parse(&first?, 1)?;
    let events = lines.map(|(line, number)| parse(&line?, number)).collect::<io::Result<_>>()?;
    Ok((header, events))
}

fn parse<T: for<'de> Deserialize<'de>>(line: &str, number: usize) -> io::Result<T> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {error}"));
    serde_json::from_str(line).map_err(invalid)
}
