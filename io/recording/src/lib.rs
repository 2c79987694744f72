//! Recordings of a controller's events as lines of JSON: written, read, and scrubbed of secrets.
//!
//! A recording holds the key of the run's discovery frames and the packets that switches sent to the
//! controller, so only its owner can read the file. [`scrub`] makes a copy to be shown to others.
//!
//! ```
//! # use braid_control::Event;
//! # use braid_recording::{Recorder, read_recording};
//! # use braid_types::Time;
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("run.jsonl");
//! let mut recorder = Recorder::create(&path, &[7; 32]).unwrap();
//! recorder.write(Time::ZERO, &Event::Tick).unwrap();
//! recorder.finish().unwrap();
//! let (header, events) = read_recording(&path).unwrap();
//! assert_eq!((header.schema.as_ref(), events.len()), ("braid/v1", 1));
//! ```

mod reader;
mod scrub;
mod writer;

use std::borrow::Cow;
use std::io;

use braid_control::Event;
use braid_types::Time;
use serde::{Deserialize, Serialize};

pub use reader::read_recording;
pub use scrub::{Scrubbed, scrub};
pub use writer::Recorder;

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

impl Header {
    fn new(lldp_key: &[u8]) -> Self {
        let version = Cow::Borrowed(env!("CARGO_PKG_VERSION"));
        Self { schema: Cow::Borrowed("braid/v1"), version, lldp_key: hex::encode(lldp_key) }
    }
}

/// [`braid_control::Recorded`], borrowed.
#[derive(Serialize)]
struct Line<'a> {
    at: Time,
    event: &'a Event<'a>,
}

fn write_line(out: &mut impl io::Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
