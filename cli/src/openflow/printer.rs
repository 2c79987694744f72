//! Decoded messages and errors, printed as JSON or as indented text.

use std::io::{self, Write};

use braid_capture::{Item, Place};
use braid_openflow::{Bytes, DecodeError, Header, Message, MeterModFailedCode, Xid};
use serde::Serialize;

use super::outline::outline;

/// The style of printed messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// One JSON object per line.
    Lines,
    /// Headings and indented lines, for people.
    Outline,
}

/// A printer of messages and errors.
pub(crate) struct Printer<W> {
    out: W,
    style: Style,
    decoded: u64,
    failed: u64,
}

/// The output for one message or error.
#[derive(Serialize)]
struct Entry<'a> {
    schema: &'static str,
    #[serde(flatten)]
    place: Option<&'a Place>,
    /// Its offset in the stream of one sender, in bytes.
    offset: u64,
    #[serde(flatten)]
    header: Option<Versioned>,
    #[serde(flatten)]
    content: Content<'a>,
}

#[derive(Serialize)]
struct Versioned {
    /// `None` in a HELLO, which has a field of this name and meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u8>,
    xid: Xid,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Message(Message<'a>),
    Malformed { error: Malformed, bytes: Bytes<'a> },
    Note { note: &'a str, skipped: u64 },
}

#[derive(Serialize)]
struct Malformed {
    offset: u64,
    reason: String,
}

impl<W: Write> Printer<W> {
    /// A printer to `out`.
    pub(crate) fn new(out: W, style: Style) -> Self {
        Self { out, style, decoded: 0, failed: 0 }
    }

    /// The numbers of printed messages and errors.
    pub(crate) const fn counts(&self) -> (u64, u64) {
        (self.decoded, self.failed)
    }

    /// Decodes and prints the message in `bytes`, or the error.
    pub(crate) fn message(&mut self, place: Option<&Place>, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match Message::decode(bytes) {
            Ok((xid, message)) => {
                if let Some(code) = refusal(&message) {
                    let header = Some(Versioned { version: Some(braid_openflow::VERSION), xid });
                    let reason = format!("MeterMod: switches refuse it, {code:?}");
                    return self.error(place, offset, header, bytes, reason);
                }
                self.decoded += 1;
                let version = (!matches!(message, Message::Hello(_))).then_some(braid_openflow::VERSION);
                let header = Some(Versioned { version, xid });
                self.print(&Entry::new(place, offset, header, Content::Message(message)))
            }
            Err(error) => self.malformed(place, offset, bytes, &error),
        }
    }

    /// Prints an item of a capture.
    pub(crate) fn item(&mut self, place: &Place, item: Item) -> io::Result<()> {
        match item {
            Item::Message { offset, bytes } => self.message(Some(place), offset, &bytes),
            Item::Lost { offset, bytes, reason } => self.error(Some(place), offset, None, &bytes, reason),
            Item::Skipped { offset, count, why } => self.print(&Entry::new(
                Some(place),
                offset,
                None,
                Content::Note { note: why, skipped: count },
            )),
        }
    }

    /// Prints the error of `bytes`.
    pub(crate) fn malformed(
        &mut self,
        place: Option<&Place>,
        offset: u64,
        bytes: &[u8],
        error: &DecodeError,
    ) -> io::Result<()> {
        let header = Header::decode(bytes).ok();
        let header = header.map(|header| Versioned { version: Some(header.version), xid: header.xid });
        self.error(place, offset, header, bytes, error.to_string())
    }

    fn error(
        &mut self,
        place: Option<&Place>,
        offset: u64,
        header: Option<Versioned>,
        bytes: &[u8],
        reason: String,
    ) -> io::Result<()> {
        self.failed += 1;
        let content = Content::Malformed { error: Malformed { offset, reason }, bytes: Bytes(bytes) };
        self.print(&Entry::new(place, offset, header, content))
    }

    fn print(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        match self.style {
            Style::Lines => serde_json::to_writer(&mut self.out, entry)?,
            Style::Outline => write!(self.out, "{}", entry.outline()?)?,
        }
        writeln!(self.out)
    }
}

/// Why every switch refuses a message that can be decoded.
fn refusal(message: &Message<'_>) -> Option<MeterModFailedCode> {
    match message {
        Message::MeterMod(meter) => meter.refusal(),
        _ => None,
    }
}

impl<'a> Entry<'a> {
    fn new(place: Option<&'a Place>, offset: u64, header: Option<Versioned>, content: Content<'a>) -> Self {
        Self { schema: "braid/v1", place, offset, header, content }
    }

    fn outline(&self) -> serde_json::Result<String> {
        let place = self.place.map_or_else(String::new, heading);
        let xid = self.header.as_ref().map_or_else(String::new, |header| format!(", xid {}", header.xid));
        Ok(match &self.content {
            Content::Message(message) => {
                // The first line is the type, which is in the heading.
                let body = outline(message)?;
                let (_, body) = body.trim_start().split_once('\n').unwrap_or_default();
                format!("{place}{:?}{xid}\n{body}", message.message_type()).trim_end().to_owned()
            }
            Content::Malformed { error, bytes } => {
                format!("{place}error at {}{xid}: {}\n  bytes: {bytes}", error.offset, error.reason)
            }
            Content::Note { note, skipped } => {
                format!("{place}note: {note}; {skipped} bytes were passed over")
            }
        })
    }
}

fn heading(place: &Place) -> String {
    let time = place.time.map_or_else(String::new, |time| format!("{time} "));
    format!("{time}{} > {} ", place.src, place.dst)
}
