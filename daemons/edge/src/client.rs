use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use braid_openflow::{ErrorCode, GroupId, Hello, Message, Xid, frame_length};
use braid_switch::PathStatistics;
use braid_switch::extension::Extension;

/// Sets the groups of an edge over its listener, as a controller would.
pub struct Tuner {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// Why an edge did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It cannot be reached, or does not answer.
    #[error("the edge at {address}: {source}")]
    Unreachable {
        /// Where it was looked for.
        address: SocketAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// The connection broke.
    #[error("talking to the edge: {0}")]
    Broken(#[from] io::Error),
    /// It said why not.
    #[error("the edge refuses: {0:?}")]
    Refused(ErrorCode),
    /// Its answer cannot be read.
    #[error("the edge's answer: {0}")]
    Answer(#[from] braid_openflow::DecodeError),
}

/// What a group that puts in order has done: names and numbers, in the order of `docs/openflow-extensions.md`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupStatistics(pub Vec<(&'static str, u64)>);

const NAMES: [&str; 23] = [
    "forwarded",
    "held",
    "unknown",
    "stray",
    "old",
    "spurious",
    "gaps_filled",
    "gaps_passed",
    "gaps_timed_out",
    "gaps_over_threshold",
    "gaps_overflowed",
    "gaps_ended",
    "waited_nanos",
    "longest_nanos",
    "flows_now",
    "packets_now",
    "bytes_now",
    "hold_time_nanos",
    "packet_limit",
    "byte_limit",
    "flow_byte_limit",
    "most_packets",
    "most_bytes",
];

impl Tuner {
    /// Connects to the listener of an edge.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unreachable`].
    pub fn connect(address: SocketAddr) -> Result<Self, ClientError> {
        let patience = Duration::from_secs(3);
        let open = || {
            let stream = TcpStream::connect_timeout(&address, patience)?;
            stream.set_read_timeout(Some(patience))?;
            io::Result::Ok(stream)
        };
        let stream = open().map_err(|source| ClientError::Unreachable { address, source })?;
        let mut tuner = Self { stream, unread: Vec::new() };
        tuner.say(&Message::Hello(Hello::V1_3))?;
        Ok(tuner)
    }

    /// Has it set what `extension` says, and waits until it has.
    ///
    /// # Errors
    ///
    /// [`ClientError`], if it refuses or does not answer.
    pub fn set(&mut self, extension: &Extension) -> Result<(), ClientError> {
        self.ask(extension).map(drop)
    }

    /// What a group that puts in order has done.
    ///
    /// # Errors
    ///
    /// As [`Self::set`].
    pub fn statistics(&mut self, group: GroupId) -> Result<GroupStatistics, ClientError> {
        let data = self.ask(&Extension::Statistics { group })?;
        let numbers = data.get(8..).unwrap_or_default().as_chunks::<8>().0;
        let numbers = numbers.iter().map(|bytes| u64::from_be_bytes(*bytes));
        Ok(GroupStatistics(NAMES.into_iter().zip(numbers).collect()))
    }

    /// What the paths of a group that sprays or puts in order have carried.
    ///
    /// # Errors
    ///
    /// As [`Self::set`].
    pub fn paths(&mut self, group: GroupId) -> Result<Vec<PathStatistics>, ClientError> {
        Ok(PathStatistics::decode_all(&self.ask(&Extension::PathStatistics { group })?)?)
    }

    /// What comes before the barrier's reply: an error, or an experimenter message with data.
    fn ask(&mut self, extension: &Extension) -> Result<Vec<u8>, ClientError> {
        let body = extension.body();
        self.say(&Message::Experimenter(extension.message(&body)))?;
        self.say(&Message::BarrierRequest)?;
        let mut answer = Ok(Vec::new());
        loop {
            let bytes = self.hear()?;
            match Message::decode(&bytes)?.1 {
                Message::Error(error) => answer = Err(ClientError::Refused(error.error)),
                Message::Experimenter(reply) => answer = Ok(reply.data.to_vec()),
                Message::BarrierReply => return answer,
                _ => {}
            }
        }
    }

    fn say(&mut self, message: &Message<'_>) -> Result<(), ClientError> {
        let mut bytes = Vec::new();
        message.encode(Xid(1), &mut bytes).map_err(io::Error::other)?;
        Ok(self.stream.write_all(&bytes)?)
    }

    fn hear(&mut self) -> Result<Vec<u8>, ClientError> {
        loop {
            if let Some(length) = frame_length(&self.unread)? {
                return Ok(self.unread.drain(..length).collect());
            }
            let mut buffer = [0; 4_096];
            match self.stream.read(&mut buffer)? {
                0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                length => self.unread.extend_from_slice(buffer.get(..length).unwrap_or_default()),
            }
        }
    }
}
