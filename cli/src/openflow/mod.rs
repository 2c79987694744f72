//! OpenFlow messages as text.

pub(crate) mod hex;
mod outline;
mod printer;

pub(crate) use printer::{Printer, Style};
