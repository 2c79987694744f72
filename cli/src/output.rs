//! Data on standard output and words on standard error, whose readers may close them at any time without causing an error.

use std::io::{self, ErrorKind, StdoutLock, Write, stderr, stdout};

use serde::Serialize;

/// Prints `text`.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    stream(|out| Ok(out.write_all(text.as_bytes())?))
}

/// Prints `text` on standard error, beside the data.
pub(crate) fn aside(text: &str) {
    // `eprint!` would panic, and what this program has built would stay.
    let _ = stderr().write_all(text.as_bytes());
}

/// Prints `value` as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    text(&format!("{}\n", serde_json::to_string(value)?))
}

/// Prints the output of `write` line by line, and stops without an error when the reader closes.
pub(crate) fn stream(write: impl FnOnce(&mut Stdout) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut out = Stdout { inner: stdout().lock(), closed: false };
    let result = write(&mut out).and_then(|()| Ok(out.flush()?));
    if out.closed { Ok(()) } else { result }
}

/// Standard output that notes whether its reader has closed.
pub(crate) struct Stdout {
    inner: StdoutLock<'static>,
    closed: bool,
}

impl Stdout {
    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.closed |= result.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
        result
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.note(flushed)
    }
}
