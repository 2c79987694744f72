//! What a controller that takes over cannot read from switches about transfers.

use braid_types::{FiveTuple, Token};
use serde::{Deserialize, Serialize};

use crate::ids::TransferId;
use crate::stream::Opening;

/// What is known of an MPTCP connection beyond the rules of its streams.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TransferFact {
    /// Its number at the controller that says this.
    pub id: TransferId,
    /// The token of joining subflows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// The token of subflows that the answering host opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opener_token: Option<Token>,
    /// Its subflows.
    pub streams: Vec<StreamFact>,
}

impl TransferFact {
    /// All of its tokens, to be replaced where they must not be shown.
    pub fn tokens_mut(&mut self) -> impl Iterator<Item = &mut Token> {
        let of_streams = self.streams.iter_mut().filter_map(|stream| match &mut stream.opening {
            Opening::Join(token) => Some(token),
            _ => None,
        });
        self.token.iter_mut().chain(&mut self.opener_token).chain(of_streams)
    }
}

/// Plain TCP connections that carry one transfer: those that an application announced, or that were recognised as parallel,
/// or one that edges spray.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ConnectionsFact {
    /// The transfer's number at the controller that says this.
    pub id: TransferId,
    /// What they have in common.
    pub opening: Opening,
    /// The connections, each from the opening host.
    pub tuples: Vec<FiveTuple>,
}

/// What is known of a transfer, by the way it is carried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KnownTransfer {
    /// An MPTCP connection.
    Mptcp(TransferFact),
    /// Plain TCP connections.
    Plain(ConnectionsFact),
}

/// What is known of a subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StreamFact {
    /// Its connection, from the opening host.
    pub tuple: FiveTuple,
    /// The information in its first packet.
    pub opening: Opening,
    /// Whether its handshake is complete.
    pub established: bool,
}
