//! Paths as they are asked for and shown on a command line.

mod mode;
pub(crate) mod report;
pub(crate) mod search;

pub(crate) use mode::ModeParser;
