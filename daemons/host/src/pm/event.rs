//! Events of MPTCP connections, decoded from netlink.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use braid_api::SubflowEnds;
use serde::Serialize;

use super::subflow::Token;
use crate::netlink::{Attribute, Attributes, Body, Messages, NetlinkError, Socket, generic};

/// An event of an MPTCP connection.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A connection was created.
    Created(Connection),
    /// A connection is established and may have subflows.
    Established(Connection),
    /// A connection has ended.
    Closed {
        /// The connection.
        token: Token,
    },
    /// The peer announced an address (ADD_ADDR).
    Announced {
        /// The connection.
        token: Token,
        /// The peer's address id.
        id: u8,
        /// The address.
        address: IpAddr,
        /// The port, if it differs from the connection's.
        #[serde(skip_serializing_if = "Option::is_none")]
        port: Option<u16>,
    },
    /// The peer withdrew an address (REMOVE_ADDR).
    Removed {
        /// The connection.
        token: Token,
        /// The peer's address id.
        id: u8,
    },
    /// An additional subflow is established.
    SubflowEstablished(Subflow),
    /// A subflow was closed.
    SubflowClosed(Subflow),
    /// A subflow's backup flag changed.
    SubflowPriority(Subflow),
    /// The kernel listens for subflows of the peer.
    ListenerCreated {
        /// The local address.
        local: SocketAddr,
    },
    /// The kernel stopped listening.
    ListenerClosed {
        /// The local address.
        local: SocketAddr,
    },
}

/// A connection, by its first subflow.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Connection {
    /// Its token.
    pub token: Token,
    /// The ends of the first subflow.
    #[serde(flatten)]
    pub ends: SubflowEnds,
    /// Whether the peer opened the connection.
    pub server_side: bool,
}

/// A subflow of an event.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Subflow {
    /// The connection.
    pub token: Token,
    /// Its ends.
    #[serde(flatten)]
    pub ends: SubflowEnds,
    /// The address ids of its two ends, the local one first.
    pub ids: [u8; 2],
    /// Whether it carries data only without other subflows.
    pub backup: bool,
    /// The errno with which it ended; 0: no error.
    pub error: u8,
}

impl Event {
    /// Decodes the event of `command`; `None` if it is unknown or incomplete.
    #[must_use]
    pub fn decode(command: u8, attributes: Attributes<'_>) -> Option<Self> {
        let fields = Fields(attributes);
        Some(match command {
            1 => Self::Created(fields.connection()?),
            2 => Self::Established(fields.connection()?),
            3 => Self::Closed { token: fields.token()? },
            6 => Self::Announced {
                token: fields.token()?,
                id: fields.u8(REM_ID)?,
                address: fields.address([DADDR4, DADDR6])?,
                port: fields.port(DPORT).filter(|port| *port != 0),
            },
            7 => Self::Removed { token: fields.token()?, id: fields.u8(REM_ID)? },
            10 => Self::SubflowEstablished(fields.subflow()?),
            11 => Self::SubflowClosed(fields.subflow()?),
            13 => Self::SubflowPriority(fields.subflow()?),
            15 => Self::ListenerCreated { local: fields.local()? },
            16 => Self::ListenerClosed { local: fields.local()? },
            _ => return None,
        })
    }
}

const TOKEN: u16 = 1;
const LOC_ID: u16 = 3;
const REM_ID: u16 = 4;
const SADDR4: u16 = 5;
const SADDR6: u16 = 6;
const DADDR4: u16 = 7;
const DADDR6: u16 = 8;
const SPORT: u16 = 9;
const DPORT: u16 = 10;
const BACKUP: u16 = 11;
const ERROR: u16 = 12;
const FLAGS: u16 = 13;
const SERVER_SIDE: u16 = 18;
/// The server side as a flag, of Linux 6.16 and later.
const FLAG_SERVER_SIDE: u16 = 1 << 1;

struct Fields<'a>(Attributes<'a>);

impl<'a> Fields<'a> {
    fn get<T>(&self, kind: u16, read: impl Fn(&Attribute<'a>) -> Option<T>) -> Option<T> {
        read(&self.0.find(kind)?)
    }

    fn u8(&self, kind: u16) -> Option<u8> {
        self.get(kind, Attribute::u8)
    }

    fn port(&self, kind: u16) -> Option<u16> {
        self.get(kind, Attribute::be16)
    }

    fn token(&self) -> Option<Token> {
        self.get(TOKEN, Attribute::u32).map(Token)
    }

    /// An address of either family; IPv4-mapped IPv6 becomes IPv4.
    fn address(&self, kinds: [u16; 2]) -> Option<IpAddr> {
        let address = kinds.into_iter().find_map(|kind| self.get(kind, Attribute::address));
        address.map(|address| address.to_canonical())
    }

    fn local(&self) -> Option<SocketAddr> {
        Some((self.address([SADDR4, SADDR6])?, self.port(SPORT)?).into())
    }

    fn ends(&self) -> Option<SubflowEnds> {
        let remote = (self.address([DADDR4, DADDR6])?, self.port(DPORT)?).into();
        Some(SubflowEnds { local: self.local()?, remote })
    }

    fn connection(&self) -> Option<Connection> {
        let flagged = self.get(FLAGS, Attribute::u16).is_some_and(|flags| flags & FLAG_SERVER_SIDE != 0);
        let server_side = flagged || self.u8(SERVER_SIDE).is_some_and(|it| it != 0);
        Some(Connection { token: self.token()?, ends: self.ends()?, server_side })
    }

    fn subflow(&self) -> Option<Subflow> {
        Some(Subflow {
            token: self.token()?,
            ends: self.ends()?,
            ids: [self.u8(LOC_ID)?, self.u8(REM_ID)?],
            backup: self.u8(BACKUP).is_some_and(|it| it != 0),
            error: self.u8(ERROR).unwrap_or(0),
        })
    }
}

const ENOBUFS: i32 = 105;

/// A stream of events.
#[derive(Debug)]
pub struct Events {
    socket: Socket,
    family: u16,
    waiting: VecDeque<Event>,
}

impl Events {
    pub(super) const fn new(socket: Socket, family: u16) -> Self {
        Self { socket, family, waiting: VecDeque::new() }
    }

    /// Sets the timeout of waiting for an event.
    ///
    /// # Errors
    ///
    /// The time is zero.
    pub fn set_receive_timeout(&self, timeout: Duration) -> Result<(), NetlinkError> {
        self.socket.set_receive_timeout(timeout)
    }

    /// Waits for the next event.
    ///
    /// # Errors
    ///
    /// No event within the timeout, or the socket failed. Events lost in a full buffer are logged.
    pub fn wait(&mut self) -> Result<Event, NetlinkError> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(event);
            }
            let datagram = match self.socket.receive() {
                Err(NetlinkError::Socket(error)) if error.raw_os_error() == Some(ENOBUFS) => {
                    tracing::warn!("events came faster than they were read, and some are lost");
                    continue;
                }
                received => received?,
            };
            self.waiting.extend(Messages(&datagram).filter_map(|message| match message.body {
                Body::Data { kind, payload } if kind == self.family => {
                    let (command, attributes) = generic(payload)?;
                    Event::decode(command, attributes)
                }
                _ => None,
            }));
        }
    }
}
