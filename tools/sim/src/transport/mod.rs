//! The two ends of a TCP connection or MPTCP subflow: state and decisions. Nothing here depends on links or events.

mod alarm;
mod control;
mod receiver;
mod recovery;
mod reordering;
mod rtt;
mod sender;

pub(crate) use alarm::Alarm;
pub use control::Control;
pub(crate) use control::{Governor, Kin};
pub(crate) use receiver::{Answer, Receiver};
pub(crate) use sender::{Heard, Progress, Sender};
