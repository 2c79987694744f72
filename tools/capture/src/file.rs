//! The file: packets as they were captured.

use std::io::Read;

use pcap_parser::pcapng::Block;
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{
    InterfaceDescriptionBlock, LegacyPcapBlock, Linktype, PcapBlockOwned, PcapError, PcapHeader,
    create_reader,
};

use crate::Timestamp;

/// Bytes that are read at once, at first.
const CAPACITY: usize = 1 << 18;
/// No packet is longer; who says so is damaged.
const MAX_CAPACITY: usize = 1 << 25;

/// A packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    /// When, if the capture says.
    pub(super) time: Option<Timestamp>,
    /// What its first header is.
    pub(super) link: Linktype,
    /// What was captured of it.
    pub(super) bytes: &'a [u8],
}

/// A capture that is read packet by packet.
pub(super) struct CaptureFile {
    reader: Box<dyn PcapReaderIterator + Send>,
    capacity: usize,
    interfaces: Interfaces,
}

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is something else.
    #[error("this is not a capture: neither pcap nor pcapng")]
    NotACapture,
    /// What is there contradicts the format.
    #[error("the capture is damaged after {0} bytes")]
    Damaged(usize),
    /// The operating system cannot read it.
    #[error("the capture cannot be read")]
    Read,
}

impl CaptureFile {
    /// Reads the header of the capture `source`.
    pub(super) fn open(source: Box<dyn Read + Send>) -> Result<Self, FileError> {
        let reader = create_reader(CAPACITY, source).map_err(|error| match error {
            PcapError::ReadError => FileError::Read,
            _ => FileError::NotACapture,
        })?;
        Ok(Self { reader, capacity: CAPACITY, interfaces: Interfaces::default() })
    }

    /// Passes every packet on; at the end, tells whether the file ends within a packet.
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
            Trouble::TooSmall if self.capacity < MAX_CAPACITY => {
                self.capacity *= 2;
                self.reader.grow(self.capacity);
            }
            _ => return Err(damaged),
        }
        self.reader.refill().map_err(|_| FileError::Read)
    }
}

/// What keeps the reader from the next block, apart from the bytes that it borrows.
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

/// What the capture says of the interfaces at which packets were captured.
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
    /// Takes in what the block says; the packet, if it is one of a known interface.
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
        let seconds = (units / self.per_second).saturating_add_signed(self.offset);
        Timestamp::new(seconds, units % self.per_second, self.per_second)
    }
}

/// The link type without the bits above it, which tell of frame check sequences.
const fn known_bits(link: Linktype) -> Linktype {
    Linktype(link.0 & 0xffff)
}

/// Units in a second: a power of ten, or of two where the highest bit is set. pcapng §4.2, if_tsresol.
fn resolution(code: u8) -> u64 {
    let (base, exponent) = if code & 0x80 == 0 { (10, code) } else { (2, code & 0x7f) };
    u64::checked_pow(base, exponent.into()).unwrap_or(u64::MAX)
}
