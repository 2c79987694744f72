//! Echoes: whether the switch is there, and how long a message takes to it and back.

use std::time::Duration;

use braid_openflow::{Bytes, Echo, EncodeError, Message, Xid};
use braid_types::Time;

/// Between two requests: a little less than the second in which the session is called.
const INTERVAL: Duration = Duration::from_millis(900);
/// A request that was not answered for this long is not waited for any more.
const PATIENCE: Duration = Duration::from_secs(4);

/// The echo request that is under way, which carries the time at which it was sent.
#[derive(Debug, Default)]
pub(super) struct EchoTimer {
    sent_at: Option<Time>,
    waiting: bool,
}

impl EchoTimer {
    /// Sends a request if one is due.
    pub(super) fn ask(&mut self, now: Time, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let pause = if self.waiting { PATIENCE } else { INTERVAL };
        if self.sent_at.is_some_and(|sent_at| now.since(sent_at) < pause) {
            return Ok(());
        }
        (self.sent_at, self.waiting) = (Some(now), true);
        let data = now.as_nanos().to_be_bytes();
        Message::EchoRequest(Echo { data: Bytes(&data) }).encode(Xid(0), out)
    }

    /// When the request was sent to which this is the answer, if it is one and the first.
    pub(super) fn answered(&mut self, echo: &Echo<'_>) -> Option<Time> {
        let sent_at = self.sent_at.filter(|_| self.waiting)?;
        let ours = echo.data.0 == sent_at.as_nanos().to_be_bytes();
        self.waiting &= !ours;
        ours.then_some(sent_at)
    }
}
