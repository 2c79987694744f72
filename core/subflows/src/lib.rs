//! Which subflows of an MPTCP connection carry data. A transfer on all its paths must not carry less than on the best
//! one: a subflow that looks bad is suspended for a moment, and stays suspended if the connection carries as much without
//! it. It is tried again later, with growing pauses.
//!
//! The host that sends decides, from counters of its own TCP ([`Reading`]). [`Trials`] performs no I/O: it takes readings
//! and the time, and orders [`Change`]s. It neither opens nor closes subflows, and places none on paths.
//!
//! ```
//! use std::time::Duration;
//! use braid_subflows::{Reading, Settings, Subflow, Trials};
//! use braid_types::Time;
//!
//! let mut trials = Trials::new(Settings::default());
//! let subflow = |id| {
//!     let rtt = Duration::from_millis(20);
//!     Subflow { id, acknowledged: 0, sent: 0, retransmitted: 0, rtt, is_drained: true }
//! };
//! let idle = Reading { acknowledged: 0, is_greedy: false, subflows: vec![subflow(1), subflow(2)] };
//! // A connection that waits for its application is left alone.
//! assert_eq!(trials.observe(Time::ZERO, &idle), None);
//! assert_eq!(trials.poll_verdict(), None);
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod reading;
mod settings;
mod suspicion;
mod trials;
mod verdict;
mod window;

pub use reading::{Reading, Subflow};
pub use settings::Settings;
pub use suspicion::Suspicion;
pub use trials::{Change, Trials};
pub use verdict::{Outcome, Verdict};
