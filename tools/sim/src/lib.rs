//! A packet-level simulator of networks that the shipped steering code spreads transfers over.
//!
//! [`engine`] has links, TCP and MPTCP on a clock of picoseconds, and knows neither files nor threads: the same calls
//! give the same run.

pub mod engine;
mod transport;

pub use transport::Control;
