//! A packet-level simulator of networks that the shipped steering code spreads transfers over.
//!
//! [`engine`] has links, TCP and MPTCP on a clock of picoseconds, and knows neither files nor threads: the same calls
//! give the same run. [`network`] lays it out from a drawing, [`steering`] chooses the paths of subflows with the
//! controller's own code, [`experiment`] puts both together and runs it with many seeds, side by side.

pub mod engine;
pub mod experiment;
pub mod network;
pub mod steering;
pub mod traffic;
mod transport;

pub use transport::Control;
