//! `braid openflow`: messages decoded from hexadecimal digits or captures, and loads for controllers.

mod load;

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write, stdin};
use std::path::{Path, PathBuf};

use anyhow::Context;
use braid_capture::{CaptureError, Summary};
use braid_openflow::frames;
use clap::Subcommand;
use tracing::warn;

use crate::exit::{self, Code, ExitWith};
use crate::openflow::{Printer, Style, hex};
use crate::output;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Print OpenFlow 1.3 messages as JSON, one object per line
    ///
    /// The input is messages as hexadecimal digits, or a capture. Each line has the message's offset in its source
    /// (`offset`). A message that cannot be decoded becomes a line with `error` and without `type`; the rest is still
    /// printed, and the exit code is 1. A line with `note` describes bytes without a message, such as those before the
    /// start of the capture.
    Decode(Decode),
    /// Load a controller with emulated switches and hosts
    ///
    /// Works with any OpenFlow 1.3 controller. Each switch is a connection of its own from this machine. All loads have finite
    /// length and end with a summary.
    #[command(subcommand)]
    Load(load::Command),
}

#[derive(clap::Args)]
pub(crate) struct Decode {
    /// The messages in hexadecimal, with or without spaces, colons and 0x; `-`: standard input
    #[arg(value_name = "HEX", conflicts_with = "pcap")]
    hex: Option<String>,
    /// Read packets from this pcap or pcapng file; `-`: standard input
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// A TCP port of OpenFlow in the capture; may be repeated
    #[arg(long = "port", value_name = "PORT", default_values_t = [6653, 6633], requires = "pcap")]
    ports: Vec<u16>,
    /// Print indented text for people instead of JSON
    #[arg(long)]
    pretty: bool,
}

pub(crate) fn execute(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Decode(args) => decode(args),
        Command::Load(command) => load::execute(command),
    }
}

fn decode(decode: &Decode) -> anyhow::Result<()> {
    let style = if decode.pretty { Style::Outline } else { Style::Lines };
    let mut failed = 0;
    output::stream(|out| {
        let mut printer = Printer::new(out, style);
        match &decode.pcap {
            Some(path) => decode_capture(path, &decode.ports, &mut printer)?,
            None => decode_hex(decode.hex.as_deref(), &mut printer)?,
        }
        (_, failed) = printer.counts();
        Ok(())
    })?;
    match failed {
        0 => Ok(()),
        1 => Err(exit::error(Code::Failure, "one message could not be decoded")),
        count => Err(exit::error(Code::Failure, format!("{count} messages could not be decoded"))),
    }
}

fn decode_hex<W: Write>(text: Option<&str>, printer: &mut Printer<W>) -> anyhow::Result<()> {
    let text = match text {
        Some(text) if text != "-" => text.to_owned(),
        None if stdin().is_terminal() => {
            return Err(exit::error(Code::Usage, "give the messages in hexadecimal, or --pcap FILE"));
        }
        _ => io::read_to_string(stdin())
            .map_err(|error| exit::error(Code::Failure, format!("standard input: {error}")))?,
    };
    let bytes = hex::parse(&text).exit_with(Code::Usage)?;
    let mut offset = 0;
    for frame in frames(&bytes) {
        match frame {
            Ok(frame) => {
                printer.message(None, frame.offset as u64, frame.bytes)?;
                offset = frame.offset + frame.bytes.len();
            }
            Err(error) => {
                let rest = bytes.get(offset..).unwrap_or_default();
                printer.malformed(None, offset as u64, rest, &error)?;
            }
        }
    }
    Ok(())
}

fn decode_capture<W: Write>(path: &Path, ports: &[u16], printer: &mut Printer<W>) -> anyhow::Result<()> {
    let read = braid_capture::read(open(path)?, ports, |place, item| printer.item(place, item));
    let read = read.map_err(|error| match error {
        CaptureError::File(error) => anyhow::Error::from(error),
        CaptureError::Taker(error) => anyhow::Error::from(error).context("cannot write"),
    });
    let summary = read.with_context(|| path.display().to_string())?;
    report(&summary);
    let empty = printer.counts() == (0, 0);
    if empty { Err(exit::error(Code::NotFound, nothing(&summary, ports))) } else { Ok(()) }
}

fn open(path: &Path) -> anyhow::Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(stdin()));
    }
    let code = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => Code::NotFound,
        _ => Code::Failure,
    };
    let file = File::open(path);
    Ok(Box::new(file.map_err(|error| exit::error(code(&error), format!("{}: {error}", path.display())))?))
}

/// Reports the parts of the capture that could not be read.
fn report(summary: &Summary) {
    if let Some((link, packets)) = summary.unknown_link {
        warn!("{packets} packets have a link type that is not known ({link}) and were passed over");
    }
    if summary.fragments > 0 {
        warn!("{} fragments of IP packets were passed over", summary.fragments);
    }
    if summary.cut {
        warn!("the capture ends within a packet");
    }
}

fn nothing(summary: &Summary, ports: &[u16]) -> String {
    let ports = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    let Summary { packets, segments, .. } = summary;
    format!(
        "no OpenFlow message: {packets} packets, {segments} TCP segments from or to port {ports}; see --port"
    )
}
