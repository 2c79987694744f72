//! What the two ends of a TCP connection or MPTCP subflow remember and decide. Nothing here knows links or events.

mod control;
mod receiver;
mod recovery;
mod rtt;
mod sender;

pub use control::Control;
pub(crate) use control::{Governor, Kin};
pub(crate) use receiver::{Answer, Receiver};
pub(crate) use sender::Sender;
