//! Path queries and answers on the command line.

mod mode;
pub(crate) mod report;
pub(crate) mod search;

pub(crate) use mode::ModeParser;
