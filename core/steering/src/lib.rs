//! Transfers, their streams, and the policies that place streams on paths.
//!
//! A *transfer* is one logical movement of data between two hosts; its *streams* are the TCP connections
//! that carry it. [`Transfers`] assigns each stream to its transfer by the packets that open the stream; a
//! [`PlacementPolicy`] chooses the path of each.
//!
//! Out of scope: path search (`braid-paths`), packet parsing (`braid-packet`), and writing rules (`braid-control`).
//!
//! ```
//! use braid_steering::{Limits, Opening, Transfers};
//! use braid_types::{FiveTuple, Time, Token};
//!
//! let [src, dst] = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
//! let first = FiveTuple { src, dst, src_port: 40_000, dst_port: 5_201 };
//! let mut transfers = Transfers::new(Limits::default());
//! transfers.open(Time::ZERO, first, Opening::Capable).unwrap();
//! // The answering host's SYN/ACK contains the token by which further subflows name the connection.
//! transfers.learn_token(&first, Token(7));
//! transfers.open(Time::ZERO, FiveTuple { src_port: 40_001, ..first }, Opening::Join(Token(7))).unwrap();
//! assert_eq!((transfers.transfer_count(), transfers.len()), (1, 2));
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod advice;
mod changes;
mod facts;
mod ids;
mod placement;
mod policy;
mod stream;
mod transfers;

pub use advice::{Advice, AdviceRefusal, AdviceRequest, SubflowEnds};
pub use changes::{Changed, Count};
pub use facts::{ConnectionsFact, KnownTransfer, StreamFact, TransferFact};
pub use ids::{StreamId, TransferId};
pub use placement::{Move, Placement, PlacementPolicy, PlacementRequest, Policy, PolicyError};
pub use policy::{
    Imbalance, Policies, PolicyProblem, PolicyRule, PortRange, Resequence, SprayingError, SteerAs, Steering,
};
pub use stream::{Group, Opening, Route, Stream, Transfer, TransferKind};
pub use transfers::{Ended, Full, Limits, Transfers};
