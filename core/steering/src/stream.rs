//! Streams, the transfers that they belong to, and their routes.

use std::fmt;

use braid_paths::Path;
use braid_types::{BitsPerSec, FiveTuple, Time, Token};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::ids::{StreamId, TransferId};

/// The way a transfer is carried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferKind {
    /// Several subflows of one MPTCP connection.
    Mptcp,
    /// Several TCP connections between two hosts.
    Parallel,
    /// One TCP connection whose packets edges spray over several paths, and resequence.
    Spray,
}

/// The common property of TCP connections that carry one transfer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// An application announced that they belong together, under this number.
    Announced(u64),
}

/// The information in a stream's first packet about its transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opening {
    /// MP_CAPABLE: a new connection.
    Capable,
    /// MP_JOIN: one more subflow of the connection that has this token at the receiver.
    Join(Token),
    /// None, but it belongs to this group.
    Parallel(Group),
    /// None, and its packets may take several paths at once.
    Sprayed,
    /// None: it was not seen, and an earlier controller placed the stream.
    Unseen,
    /// It has not arrived yet, or was not seen: the host was advised to open the stream.
    Advised,
}

impl Opening {
    /// Whether the answer to its first packet will be seen, and shows whether the stream is established.
    pub const fn awaits_answer(self) -> bool {
        matches!(self, Self::Capable | Self::Join(_))
    }
}

/// The route of a stream through the network, for each direction of its packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// From the opening host's switch to the answering host's.
    pub forward: Path,
    /// The same links in reverse.
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
    /// The information in its first packet.
    pub opening: Opening,
    /// Whether its handshake is complete, as far as seen: otherwise it may still be refused.
    pub established: bool,
    /// Its route; `None` while it follows the default path.
    pub route: Option<Route>,
    /// When its first packet was seen.
    pub opened_at: Time,
    /// Bytes of frames counted from the opening host, and towards it.
    pub bytes: [u64; 2],
    /// Its rate in each direction, between the last two counts.
    pub rates: [BitsPerSec; 2],
    /// The last count used for a rate, and its time.
    pub counted: [(Time, u64); 2],
}

/// A transfer and the streams that carry it, in the order in which they opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Its number.
    pub id: TransferId,
    /// The way it is carried.
    pub kind: TransferKind,
    /// The token of joining subflows, once the answering host has sent it.
    pub token: Option<Token>,
    /// The token of subflows that the answering host opens, once it has opened one.
    pub opener_token: Option<Token>,
    /// The common property of its streams, if their packets do not show it.
    pub group: Option<Group>,
    /// When its first stream opened.
    pub opened_at: Time,
    /// Its streams.
    pub streams: SmallVec<[StreamId; 8]>,
    /// Whether it changed since the last copy.
    pub(crate) is_changed: bool,
    /// Whether other controllers were told of it.
    pub(crate) is_told: bool,
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
