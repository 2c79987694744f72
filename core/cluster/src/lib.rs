//! Several controllers: which one leads, in which term, and when a standby takes over. Performs no I/O.
//!
//! A [`Member`] is one controller. The store (etcd) decides who leads: its `leader` key exists as long as the leader's
//! lease, and its `term` is raised in the transaction that wins. Members send each other heartbeats, so that a standby
//! notices a dead leader before the lease ends, and revokes it. Switches fence an old leader by the term.
//!
//! Not included: sockets, clocks, the store's client, what standbys copy of the leader's state.
//!
//! After any `handle_*`, drain [`poll_store`](Member::poll_store), [`poll_message`](Member::poll_message) and
//! [`poll_event`](Member::poll_event), then call [`handle_timeout`](Member::handle_timeout) at
//! [`poll_timeout`](Member::poll_timeout).
//!
//! ```
//! use braid_cluster::{Event, Identity, Member, MemberId, Settings, StoreAnswer, StoreRequest, StoreView};
//! use braid_types::{Term, Time};
//!
//! let identity = Identity { id: MemberId::new("a"), tag: 1, first_term: Term(0), seed: 7 };
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
//! assert_eq!(member.poll_event(), Some(Event::Elected { term: Term(0x1_0001) }));
//! ```

mod calls;
mod hearing;
mod member;
mod message;
mod settings;
mod store;

pub use member::{Event, HandOverError, Identity, Member};
pub use message::{MemberId, Message, Outgoing};
pub use settings::Settings;
pub use store::{LeaderRecord, LeaseId, RequestId, StoreAnswer, StoreRequest, StoreView};
