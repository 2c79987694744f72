//! OpenFlow messages in captured packets: the file, the link layer, TCP's order, and the messages in the stream.
//!
//! It reads pcap and pcapng, of which it trusts nothing, and brings each direction of a connection into order however its
//! segments were captured. It says where bytes are missing and goes on with the next message; what a message says is for
//! `braid_openflow` to tell. IP fragments are passed over.
//!
//! ```
//! use braid_capture::{CaptureError, FileError, read};
//!
//! let what_is_no_capture = Box::new([0; 24].as_slice());
//! let read = read(what_is_no_capture, &[6653], |_, _| Ok::<(), std::io::Error>(()));
//! assert!(matches!(read, Err(CaptureError::File(FileError::NotACapture))));
//! ```

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod connections;
mod file;
mod framing;
mod reassembly;
mod segment;
mod timestamp;

use std::io::Read;
use std::net::SocketAddr;

use serde::Serialize;

use connections::Connections;
use file::CaptureFile;
use segment::{Segment, SegmentError};

pub use file::FileError;
pub use framing::Item;
pub use timestamp::Timestamp;

/// Where in a capture bytes come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    /// When the last of the bytes was captured, where the capture says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// The sender.
    pub src: SocketAddr,
    /// The receiver.
    pub dst: SocketAddr,
}

/// The summary of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Packets in all.
    pub packets: u64,
    /// TCP segments among them from or to the ports.
    pub segments: u64,
    /// Fragments of IP packets among them, which are passed over.
    pub fragments: u64,
    /// The last link type that is not known, and how many packets have one.
    pub unknown_link: Option<(i32, u64)>,
    /// The file ends within a packet.
    pub cut: bool,
}

/// Why a capture could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError<E> {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The receiver of items stopped.
    #[error(transparent)]
    Taker(E),
}

/// Passes on what is in streams from or to one of `ports` in the capture `source`, pcap or pcapng.
///
/// # Errors
///
/// The capture cannot be read to its end, or `take` fails.
pub fn read<E>(
    source: Box<dyn Read + Send>,
    ports: &[u16],
    mut take: impl FnMut(&Place, Item) -> Result<(), E>,
) -> Result<Summary, CaptureError<E>> {
    let file = CaptureFile::open(source)?;
    let mut connections = Connections::default();
    let mut summary = Summary::default();
    let cut = file.each(|packet| {
        summary.packets = summary.packets.saturating_add(1);
        match Segment::read(packet) {
            Ok(Some(segment)) if segment.concerns(ports) => {
                summary.segments = summary.segments.saturating_add(1);
                connections.receive(&segment, packet.time, &mut take).map_err(CaptureError::Taker)?;
            }
            Ok(_) => {}
            Err(error) => summary.count(error),
        }
        Ok::<(), CaptureError<E>>(())
    })?;
    connections.finish(&mut take).map_err(CaptureError::Taker)?;
    Ok(Summary { cut, ..summary })
}

impl Summary {
    fn count(&mut self, error: SegmentError) {
        match error {
            SegmentError::Fragment => self.fragments = self.fragments.saturating_add(1),
            SegmentError::LinkType(link) => {
                let count = self.unknown_link.map_or(0, |(_, count)| count);
                self.unknown_link = Some((link, count.saturating_add(1)));
            }
        }
    }
}
