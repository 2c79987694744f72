//! What the leader knows, sent to its standbys as it changes: a snapshot first, then changes. The leader waits for nobody.
//!
//! ```text
//!  engine's thread          publisher's thread              a thread for each standby        a standby
//!  Feed ── bounded channel ──▶ Publication ── bounded queue ──▶ serve ── TLS ──▶ Following, until it leads
//! ```
//!
//! Where a channel is full, the brain keeps what has changed, each fact once. Where a queue is full, its standby is dropped,
//! and begins again with a snapshot.

mod feed;
mod follow;
mod publication;
mod serve;
mod wire;

pub(super) use feed::Feed;
pub(super) use follow::{FollowView, Following, Leading};
pub(super) use publication::Publication;
pub(super) use serve::serve;

#[cfg(test)]
mod tests;
