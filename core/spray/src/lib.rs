//! Spraying of one flow over several paths, and resequencing of its packets.
//!
//! [`Scheduler`] chooses a path for each packet at the sending edge: weighted round robin in bursts, or the path on which
//! it arrives first. [`Resequencer`] is the receiving edge's buffer. It holds early segments of each TCP flow. It gives a
//! gap up as soon as the missing packet is known to be lost, so that the sender learns of the loss: every path has
//! delivered something later, a time-out that follows the measured skew of the paths is over, or the flow's share of the
//! buffer is full. After algorithm 1 of Banfi et al., "Endpoint-transparent Multipath Transport with Software-defined
//! Networks" (2016), which lacks the first two.
//!
//! [`Feedback`] learns from probes what each path carries, and adjusts the shares. [`Lateness`] tells paths that are silent from
//! those that are late. [`FlowNumbers`] numbers the packets of flows that
//! have no sequence numbers of their own.
//!
//! None of them performs I/O or reads a clock. The caller defines what a packet is: the buffer keeps it and returns it.
//! Nothing is ever dropped or changed; packets that cannot be resequenced pass through.
//!
//! ```
//! use braid_spray::{Fate, PathId, Resequencer, Segment, SeqNo, Settings};
//! use braid_types::{FiveTuple, Time};
//!
//! let flow = FiveTuple {
//!     src: "10.0.0.1".parse()?, dst: "10.0.0.2".parse()?, src_port: 40000, dst_port: 5201,
//! };
//! let mut buffer = Resequencer::new(Settings::default(), 1);
//! let mut offer = |millis, seq, path| {
//!     let segment = Segment { seq: SeqNo(seq), payload: 100, ..Segment::default() };
//!     buffer.offer(Time::from_millis(millis), &flow, segment, PathId(path), 154, || seq)
//! };
//! assert_eq!(offer(0, 1_000, 0), Fate::Forward);
//! assert_eq!(offer(1, 1_200, 1), Fate::Taken); // 1,100 is still on the way
//! assert_eq!(offer(2, 1_100, 0), Fate::Forward);
//! assert_eq!(buffer.poll_packet(), Some(1_200));
//! assert_eq!(buffer.poll_packet(), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod feedback;
mod numbering;
mod resequencer;
mod scheduler;
mod segment;
mod segment_counts;

pub use feedback::{AnsweredProbe, Feedback, Lateness, PathReport, Probe, ProbeSettings, Probes, SentProbe};
pub use numbering::{FlowNumbers, Numbered};
pub use resequencer::{
    Counters, Fate, Gauge, HoldHistogram, HoldTime, PathCounters, PathId, Resequencer, Settings,
    SettingsError,
};
pub use scheduler::{PathWeight, Policy, Scheduler};
pub use segment::{Segment, SeqNo};
pub use segment_counts::SegmentCounts;
