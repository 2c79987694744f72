//! OpenFlow messages as text, from hexadecimal digits or from captured packets.

pub(crate) mod capture;
pub(crate) mod hex;
mod outline;
mod printer;
mod timestamp;

pub(crate) use printer::{Place, Printer, Style};
pub(crate) use timestamp::Timestamp;
