//! Echo requests, for liveness and the round trip of messages.

use std::time::Duration;

use braid_openflow::{Bytes, Echo, EncodeError, Message, Xid};
use braid_types::Time;

/// The time between two requests: slightly less than the second between calls of the session.
const ECHO_INTERVAL: Duration = Duration::from_millis(900);
/// An unanswered request is given up after this long.
const ECHO_TIMEOUT: Duration = Duration::from_secs(4);

/// The outstanding echo request, which carries its send time.
#[derive(Debug, Default)]
pub(super) struct EchoTimer {
    sent_at: Option<Time>,
    waiting: bool,
}

impl EchoTimer {
    /// Sends a request if one is due.
    pub(super) fn ask(&mut self, now: Time, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let pause = if self.waiting { ECHO_TIMEOUT } else { ECHO_INTERVAL };
        if self.sent_at.is_some_and(|sent_at| now.since(sent_at) < pause) {
            return Ok(());
        }
        (self.sent_at, self.waiting) = (Some(now), true);
        let data = now.as_nanos().to_be_bytes();
        Message::EchoRequest(Echo { data: Bytes(&data) }).encode(Xid(0), out)
    }

    /// The send time of the request, if this is its first reply.
    pub(super) fn answered(&mut self, echo: &Echo<'_>) -> Option<Time> {
        let sent_at = self.sent_at.filter(|_| self.waiting)?;
        let ours = echo.data.0 == sent_at.as_nanos().to_be_bytes();
        self.waiting &= !ours;
        ours.then_some(sent_at)
    }
}
