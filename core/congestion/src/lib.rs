//! Coupled congestion control of MPTCP: the increase of a subflow's window for acknowledged data, and its decrease after
//! a loss, given the windows and round-trip times of all subflows of the connection.
//!
//! LIA (RFC 6356), OLIA (Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05), BALIA (Peng, Walid,
//! Hwang, Low, ToN 2016; draft-walid-mptcp-congestion-control-04), and uncoupled TCP (RFC 5681) as the reference.
//! [`Algorithm`] has the published formulas; [`fixed`] computes them in integers, operation by operation as the BPF
//! programs of `braid-host` do in the kernel.
//!
//! Slow start, loss detection and pacing are TCP's.
//!
//! With `W` = the segments that the whole connection has under way in a round trip of the subflow, the sum over all
//! subflows k of w_k·rtt/rtt_k, every published increase is a multiple of w/W²:
//!
//! ```
//! use std::time::Duration;
//! use braid_congestion::{Algorithm, Connection, Subflow};
//!
//! let subflow = Subflow { cwnd: 10, srtt: Duration::from_millis(100), run: 0 };
//! let connection = Connection { own: subflow, others: &[subflow] };
//! // Two equal subflows: W is 20, and 10/20² a quarter of what one TCP flow with this window would add.
//! assert_eq!(Algorithm::Lia.increase(connection), 0.025);
//! assert_eq!(Algorithm::Uncoupled.increase(connection), 0.1);
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod algorithm;
mod balia;
pub mod fixed;
mod lia;
mod olia;
mod subflow;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use subflow::{Connection, Subflow};
