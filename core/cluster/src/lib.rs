//! Several controllers: which one leads, in which term, and when a standby takes over. Performs no I/O.
//!
//! A [`Member`] is one controller. The store (etcd) decides who leads: its `leader` key exists as long as the leader's
//! lease, and its `term` is raised in the transaction that wins. Members send each other heartbeats, so that a standby
//! notices a dead leader before the lease ends, and takes its place. Switches fence an old leader by the term. Members also
//! say how many switches they reach, and a leader that reaches fewer than a standby steps aside. A switch that only a standby
//! reaches is served through it: see [`Presence`].
//!
//! [`Intents`] are what API calls were answered for: the leader has the store keep them before it answers, and whoever leads
//! next reads them.
//!
//! Not included: sockets, clocks, the store's client, what standbys copy of the leader's state.
//!
//! After any `handle_*`, drain [`poll_store`](Member::poll_store), [`poll_message`](Member::poll_message) and
//! [`poll_event`](Member::poll_event), then call [`handle_timeout`](Member::handle_timeout) at
//! [`poll_timeout`](Member::poll_timeout).
//!
//! ```
//! use braid_cluster::{
//!     Event, Identity, Member, MemberId, RunId, Settings, StoreAnswer, StoreRequest, StoreView, TermStamp,
//! };
//! use braid_types::{Term, Time};
//!
//! let id = MemberId::new("a");
//! let stamp = TermStamp::new("default", &id);
//! let identity = Identity { id, run: RunId(1), stamp, first_term: Term(0), seed: 7 };
//! let (now, mut member) = (Time::ZERO, Member::new(Time::ZERO, identity, Settings::default()));
//! // An empty store, which does what it is asked.
//! while let Some((id, request)) = member.poll_store() {
//!     let answer = match request {
//!         StoreRequest::Read => StoreAnswer::View(StoreView::default()),
//!         StoreRequest::Campaign { .. } => StoreAnswer::Won,
//!         _ => StoreAnswer::Done,
//!     };
//!     member.handle_store(now, id, Some(answer));
//!     if member.leads() { break }
//! }
//! assert_eq!(member.poll_event(), Some(Event::Elected { term: stamp.above(Term(0)) }));
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod calls;
mod hearing;
mod intents;
mod member;
mod message;
mod presence;
mod reach;
mod settings;
mod store;
mod terms;

pub use intents::{
    Entries, IntentAnswer, IntentError, IntentEvent, IntentId, IntentRequest, IntentSettings, IntentView,
    Intents,
};
pub use member::{Event, HandOverError, Identity, Member, TakeOverError};
pub use message::{ConnectionId, MemberId, Message, Outgoing, RunId};
pub use presence::Presence;
pub use reach::Reach;
pub use settings::Settings;
pub use store::{LeaderRecord, LeaseId, RequestId, StoreAnswer, StoreRequest, StoreView};
pub use terms::TermStamp;
