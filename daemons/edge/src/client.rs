//! A client of an edge's OpenFlow listener that sets groups and reads their telemetry.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use braid_edge_protocol::extension::{BRAID, Extension};
use braid_edge_protocol::telemetry::{Report, TELEMETRY, decode};
use braid_openflow::{
    Bytes, ErrorCode, Experimenter, GroupId, Hello, Message, MultipartFlags, MultipartReply,
    MultipartRequest, ReplyBody, RequestBody, Xid, frame_length,
};

/// A client that sets the groups of an edge over its OpenFlow listener, as a controller does.
pub struct GroupClient {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// Errors of requests to an edge.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The edge cannot be reached, or does not answer.
    #[error("cannot reach the edge at {address}: {source}")]
    Unreachable {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The connection failed.
    #[error("the connection to the edge failed: {0}")]
    Broken(#[from] io::Error),
    /// The edge refused the request.
    #[error("the edge refused the request: {0:?}")]
    Refused(ErrorCode),
    /// The reply is malformed.
    #[error("malformed reply of the edge: {0}")]
    Answer(#[from] braid_openflow::DecodeError),
}

impl GroupClient {
    /// Connects to the listener of an edge.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unreachable`].
    pub fn connect(address: SocketAddr) -> Result<Self, ClientError> {
        let timeout = Duration::from_secs(3);
        let open = || {
            let stream = TcpStream::connect_timeout(&address, timeout)?;
            stream.set_read_timeout(Some(timeout))?;
            io::Result::Ok(stream)
        };
        let stream = open().map_err(|source| ClientError::Unreachable { address, source })?;
        let mut client = Self { stream, unread: Vec::new() };
        client.say(&Message::Hello(Hello::V1_3))?;
        Ok(client)
    }

    /// Sends `extension` and waits until the edge has applied it.
    ///
    /// # Errors
    ///
    /// [`ClientError`] if the edge refuses or does not answer.
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

    /// The telemetry of a spraying or resequencing group; `None` if there is no such group.
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
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(length) => self.unread.extend_from_slice(buffer.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
