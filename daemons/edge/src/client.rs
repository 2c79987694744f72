//! A client of the edge's listener that sets groups and reads their reports.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use braid_edge_protocol::extension::{BRAID, Extension};
use braid_edge_protocol::telemetry::{Report, TELEMETRY, decode};
use braid_openflow::{
    Bytes, ErrorCode, Experimenter, GroupId, Hello, Message, MultipartFlags, MultipartReply,
    MultipartRequest, ReplyBody, RequestBody, Xid, frame_length,
};

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
        let body = extension.body();
        self.say(&Message::Experimenter(extension.message(&body)))?;
        self.say(&Message::BarrierRequest)?;
        let mut answer = Ok(());
        loop {
            let bytes = self.hear()?;
            match Message::decode(&bytes)?.1 {
                Message::Error(error) => answer = Err(ClientError::Refused(error.error)),
                Message::BarrierReply => return answer,
                _ => {}
            }
        }
    }

    /// What a group that sprays or puts in order has done; `None` if there is no such group.
    ///
    /// # Errors
    ///
    /// As [`Self::set`].
    pub fn report(&mut self, group: GroupId) -> Result<Option<Report>, ClientError> {
        let request = Experimenter { experimenter: BRAID, exp_type: TELEMETRY, data: Bytes(&[]) };
        let (flags, body) = (MultipartFlags::NONE, RequestBody::Experimenter(request));
        self.say(&Message::MultipartRequest(MultipartRequest { flags, body }))?;
        let mut found = None;
        loop {
            let bytes = self.hear()?;
            match Message::decode(&bytes)?.1 {
                Message::Error(error) => return Err(ClientError::Refused(error.error)),
                Message::MultipartReply(MultipartReply { flags, body: ReplyBody::Experimenter(part) }) => {
                    let mut reports = decode(&part)?.into_iter();
                    found = found.or(reports.find(|(id, _)| *id == group).map(|(_, it)| it));
                    if !flags.contains(MultipartFlags::MORE) {
                        return Ok(found);
                    }
                }
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
