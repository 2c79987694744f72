//! The link model: rate, queue, delay, jitter, loss and reordering of one direction of a link.
//!
//! [`OneWay`] decides when each frame arrives at the other end, or that it is lost. It performs no I/O and has no clock:
//! time is an argument, and the same seed gives the same losses. So the lab drives it with the real clock, and a
//! simulator with a virtual one. The type of frames is the caller's; the model uses only their lengths.
//!
//! It does not change frames, know protocols or mark congestion (ECN).
//!
//! ```
//! use braid_link_model::{Delay, OneWay, Parameters};
//! use braid_types::{BitsPerSec, Time};
//!
//! let parameters = Parameters {
//!     rate: Some(BitsPerSec(12_000_000)),
//!     delay: Delay::from_millis(20),
//!     ..Parameters::default()
//! };
//! let mut link = OneWay::new(parameters, 1);
//! link.offer(Time::ZERO, 1_500, || "frame");
//! // 1 ms to send 12,000 bits, and 20 ms on the way.
//! assert_eq!(link.next_event(), Some(Time::from_millis(21)));
//! assert_eq!(link.poll_arrival(Time::from_millis(20)), None);
//! assert_eq!(link.poll_arrival(Time::from_millis(21)), Some("frame"));
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod counters;
mod loss;
mod one_way;
mod parameters;
mod random;
mod values;
mod wire;

pub use counters::{Amount, Counters, Gauge};
pub use one_way::{Fate, OneWay};
pub use parameters::{Change, MAX_RATE, MIN_RATE, ParameterError, Parameters};
pub use values::{Delay, Distribution, Probability, QueueLimit};
