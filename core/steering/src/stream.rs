//! Streams, the transfers that they belong to, and their routes.

use std::fmt;

use braid_paths::Path;
use braid_types::{BitsPerSec, FiveTuple, Time, Token};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::ids::{StreamId, TransferId};

/// How a transfer is carried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferKind {
    /// Several subflows of one MPTCP connection.
    Mptcp,
    /// Several TCP connections between two hosts.
    Parallel,
    /// One TCP connection whose packets edges spread over several paths, and put back in order.
    Spray,
}

/// What TCP connections that carry one transfer have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// An application said that they belong together, under this number.
    Announced(u64),
}

/// What the packet that opens a stream says of the transfer it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// MP_CAPABLE: a new connection.
    Capable,
    /// MP_JOIN: one more subflow of the connection that the receiver knows by this token.
    Join(Token),
    /// Nothing, but it is one of these.
    Parallel(Group),
    /// Nothing, and its packets may take several paths at once.
    Sprayed,
    /// Nothing: it was not seen, an earlier controller has placed the stream.
    Unseen,
    /// It has not come yet, or passed unseen: the host was told to open the stream.
    Advised,
}

impl Opening {
    /// Whether the answer to its first packet will be seen, and says whether the stream comes about.
    pub const fn awaits_answer(self) -> bool {
        matches!(self, Self::Capable | Self::Join(_))
    }
}

/// The way of a stream through the network, for each direction of its packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// From the opening host's switch to the answering host's.
    pub forward: Path,
    /// The same links the other way.
    pub reverse: Path,
}

/// One TCP connection of a transfer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// Its number.
    pub id: StreamId,
    /// The transfer that it carries.
    pub transfer: TransferId,
    /// Its connection, from the opening host.
    pub tuple: FiveTuple,
    /// What its first packet said.
    pub opening: Opening,
    /// Whether its handshake is complete, as far as it was seen: one that is not may be refused yet.
    pub established: bool,
    /// Its way; `None` while it follows the default route.
    pub route: Option<Route>,
    /// When its first packet was seen.
    pub opened_at: Time,
    /// Bytes of frames counted from the opening host, and towards it.
    pub bytes: [u64; 2],
    /// What it carries in each direction, between the last two counts.
    pub rates: [BitsPerSec; 2],
    /// The last count of which a rate was taken, and its time.
    pub counted: [(Time, u64); 2],
}

/// A transfer and the streams that carry it, in the order in which they opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Its number.
    pub id: TransferId,
    /// How it is carried.
    pub kind: TransferKind,
    /// What joining subflows call it, once the answering host has said so.
    pub token: Option<Token>,
    /// What the answering host calls it when it opens subflows itself, once it has.
    pub opener_token: Option<Token>,
    /// What its streams have in common, if they do not say it themselves.
    pub group: Option<Group>,
    /// When its first stream opened.
    pub opened_at: Time,
    /// Its streams.
    pub streams: SmallVec<[StreamId; 8]>,
    /// Whether it is among the changes that a copy of it lacks.
    pub(crate) is_changed: bool,
}

impl fmt::Display for TransferKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mptcp => "mptcp",
            Self::Parallel => "parallel",
            Self::Spray => "spray",
        })
    }
}
