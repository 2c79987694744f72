//! Bidirectional Forwarding Detection (RFC 5880): whether the neighbour at a link hears this end, and is heard.
//!
//! [`Session`] is one end in asynchronous mode, without authentication and without echo packets. It performs no I/O: time is
//! an argument, and what is to be sent is polled.
//!
//! ```
//! use braid_bfd::{Session, Settings, State};
//! use braid_types::Time;
//!
//! let settings = |discriminator| Settings { discriminator, ..Settings::default() };
//! let (mut a, mut b) = (Session::new(Time::ZERO, settings(1)), Session::new(Time::ZERO, settings(2)));
//! for millis in (0..3_000).step_by(5) {
//!     let now = Time::from_millis(millis);
//!     a.handle_timeout(now);
//!     b.handle_timeout(now);
//!     if let Some(packet) = a.poll_packet(now) {
//!         b.handle_packet(now, &packet);
//!     }
//!     if let Some(packet) = b.poll_packet(now) {
//!         a.handle_packet(now, &packet);
//!     }
//! }
//! assert_eq!([a.state(), b.state()], [State::Up, State::Up]);
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]
// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod packet;
mod session;

pub use packet::{ControlPacket, Diagnostic, State};
pub use session::{Session, Settings};
