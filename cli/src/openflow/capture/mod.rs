//! Captured packets: the file, the link layer, TCP's order, and the messages in the stream.

mod connections;
mod file;
mod framing;
mod reassembly;
mod segment;

use std::io::{self, Read, Write};

use super::Printer;
use connections::Connections;
use file::{CaptureFile, FileError};
use segment::{Segment, SegmentError};

/// What was in a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Summary {
    /// Packets in all.
    pub(crate) packets: u64,
    /// TCP segments among them from or to the ports.
    pub(crate) segments: u64,
    /// Fragments of IP packets among them, which are passed over.
    pub(crate) fragments: u64,
    /// The last link type that is not known, and how many packets have one.
    pub(crate) unknown_link: Option<(i32, u64)>,
    /// The file ends within a packet.
    pub(crate) cut: bool,
}

/// Why a capture could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaptureError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The output.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

/// Prints the OpenFlow messages of the capture `source`, pcap or pcapng, in streams from or to one of `ports`.
pub(crate) fn print<W: Write>(
    source: Box<dyn Read + Send>,
    ports: &[u16],
    printer: &mut Printer<W>,
) -> Result<Summary, CaptureError> {
    let file = CaptureFile::open(source)?;
    let mut connections = Connections::default();
    let mut summary = Summary::default();
    let cut = file.each(|packet| {
        summary.packets += 1;
        match Segment::read(packet) {
            Ok(Some(segment)) if segment.concerns(ports) => {
                summary.segments += 1;
                connections.receive(&segment, packet.time, printer)?;
            }
            Ok(_) => {}
            Err(error) => summary.count(error),
        }
        Ok::<(), CaptureError>(())
    })?;
    connections.finish(printer)?;
    Ok(Summary { cut, ..summary })
}

impl Summary {
    fn count(&mut self, error: SegmentError) {
        match error {
            SegmentError::Fragment => self.fragments += 1,
            SegmentError::LinkType(link) => {
                let count = self.unknown_link.map_or(0, |(_, count)| count);
                self.unknown_link = Some((link, count + 1));
            }
        }
    }
}
