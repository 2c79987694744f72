//! Capture files (pcap, pcapng) as a sequence of packets.

use std::io::Read;
use std::num::NonZero;

use pcap_parser::pcapng::Block;
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{
    InterfaceDescriptionBlock, LegacyPcapBlock, Linktype, PcapBlockOwned, PcapError, PcapHeader,
    create_reader,
};

use crate::Timestamp;

/// The initial size of the read buffer in bytes.
const INITIAL_BUFFER: usize = 1 << 18;
/// The largest read buffer; a file with a longer packet is damaged.
const MAX_BUFFER: usize = 1 << 25;

/// A captured packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    /// Its timestamp, if the capture has one.
    pub(super) time: Option<Timestamp>,
    /// The link type of its first header.
    pub(super) link: Linktype,
    /// The captured bytes.
    pub(super) bytes: &'a [u8],
}

/// A reader of a capture, packet by packet.
pub(super) struct CaptureFile {
    reader: Box<dyn PcapReaderIterator + Send>,
    capacity: usize,
    interfaces: Interfaces,
}

/// Errors of reading a capture.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The input is not a capture.
    #[error("this is not a capture: give a pcap or pcapng file")]
    NotACapture,
    /// The content violates the format.
    #[error("the capture is damaged after {0} bytes")]
    Damaged(usize),
    /// The operating system cannot read it.
    #[error("the capture cannot be read")]
    Read,
}

impl CaptureFile {
    /// Reads the header of the capture `source`.
    pub(super) fn open(source: Box<dyn Read + Send>) -> Result<Self, FileError> {
        let reader = create_reader(INITIAL_BUFFER, source).map_err(|error| match error {
            PcapError::ReadError => FileError::Read,
            _ => FileError::NotACapture,
        })?;
        Ok(Self { reader, capacity: INITIAL_BUFFER, interfaces: Interfaces::default() })
    }

    /// Passes on every packet. Returns whether the file ends within a packet.
    pub(super) fn each<E: From<FileError>>(
        mut self,
        mut receive: impl FnMut(&Packet<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        loop {
            let read = match self.reader.next() {
                Ok((used, block)) => {
                    self.interfaces.read(&block).map_or(Ok(()), |packet| receive(&packet))?;
                    Ok(used)
                }
                Err(error) => Err(Trouble::from(error)),
            };
            match read {
                Ok(used) => self.reader.consume(used),
                Err(Trouble::End) => return Ok(false),
                Err(Trouble::Cut) => return Ok(true),
                Err(trouble) => self.refill(&trouble)?,
            }
        }
    }

    fn refill(&mut self, trouble: &Trouble) -> Result<(), FileError> {
        let damaged = FileError::Damaged(self.reader.consumed());
        match trouble {
            Trouble::Incomplete => {}
            Trouble::TooSmall if self.capacity < MAX_BUFFER => {
                self.capacity = self.capacity.saturating_mul(2);
                self.reader.grow(self.capacity);
            }
            _ => return Err(damaged),
        }
        self.reader.refill().map_err(|_| FileError::Read)
    }
}

/// The reader's errors without the bytes that they borrow.
enum Trouble {
    End,
    Cut,
    Incomplete,
    TooSmall,
    Damaged,
}

impl From<PcapError<&[u8]>> for Trouble {
    fn from(error: PcapError<&[u8]>) -> Self {
        match error {
            PcapError::Eof => Self::End,
            PcapError::UnexpectedEof => Self::Cut,
            PcapError::Incomplete(_) => Self::Incomplete,
            PcapError::BufferTooSmall => Self::TooSmall,
            _ => Self::Damaged,
        }
    }
}

/// The interfaces of the capture.
#[derive(Debug, Default)]
struct Interfaces(Vec<Interface>);

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: Linktype,
    /// Units of its timestamps in a second.
    per_second: u64,
    /// Seconds to add to its timestamps.
    offset: i64,
}

impl Interfaces {
    /// Handles a block. Returns the packet, if it is one of a known interface.
    fn read<'a>(&mut self, block: &'a PcapBlockOwned<'a>) -> Option<Packet<'a>> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => self.0 = vec![Interface::of_file(header)],
            PcapBlockOwned::Legacy(packet) => return self.0.first().map(|at| at.legacy(packet)),
            PcapBlockOwned::NG(Block::SectionHeader(_)) => self.0.clear(),
            PcapBlockOwned::NG(Block::InterfaceDescription(block)) => self.0.push(Interface::of_block(block)),
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let at = self.0.get(usize::try_from(packet.if_id).ok()?)?;
                let time = Some(at.time(u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low)));
                return Some(Packet { time, link: at.link, bytes: packet.packet_data() });
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                let at = self.0.first()?;
                return Some(Packet { time: None, link: at.link, bytes: packet.packet_data() });
            }
            PcapBlockOwned::NG(_) => {}
        }
        None
    }
}

impl Interface {
    fn of_file(header: &PcapHeader) -> Self {
        let per_second = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
        Self { link: known_bits(header.network), per_second, offset: 0 }
    }

    fn of_block(block: &InterfaceDescriptionBlock<'_>) -> Self {
        Self {
            link: known_bits(block.linktype),
            per_second: resolution(block.if_tsresol),
            offset: block.if_tsoffset,
        }
    }

    fn legacy<'a>(&self, packet: &LegacyPcapBlock<'a>) -> Packet<'a> {
        let time = Timestamp::new(packet.ts_sec.into(), packet.ts_usec.into(), self.per_second);
        Packet { time: Some(time), link: self.link, bytes: packet.data }
    }

    fn time(&self, units: u64) -> Timestamp {
        let per_second = NonZero::new(self.per_second).unwrap_or(NonZero::<u64>::MIN);
        let seconds = (units / per_second).saturating_add_signed(self.offset);
        Timestamp::new(seconds, units % per_second, per_second.get())
    }
}

/// The link type without the upper bits, which describe frame check sequences.
const fn known_bits(link: Linktype) -> Linktype {
    Linktype(link.0 & 0xffff)
}

/// Units in a second: a power of ten, or of two where the highest bit is set. pcapng §4.2, if_tsresol.
fn resolution(code: u8) -> u64 {
    let (base, exponent) = if code & 0x80 == 0 { (10, code) } else { (2, code & 0x7f) };
    u64::checked_pow(base, exponent.into()).unwrap_or(u64::MAX)
}
