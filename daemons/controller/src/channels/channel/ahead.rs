//! Control messages of one switch are handled before packets of hosts that came earlier.

use braid_types::Time;

use super::{Channel, ChannelError, TURN_BUDGET};
use crate::channels::{MAX_MESSAGE, READ_CHUNK};
use crate::engine::Engine;

/// Bytes from which on control messages are handled before packets of hosts: more than a turn may take.
const CONTROL_FIRST_THRESHOLD: usize = 8 << 10;

/// Unhandled bytes beyond which packets of hosts stay in the switch's socket, or are shed.
const MAX_AHEAD: usize = 16 << 10;

/// What becomes of packets of hosts that arrive before earlier ones are handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::channels) enum Excess {
    /// They wait in the switch's socket, and what comes after them as well.
    Waits,
    /// They are dropped, so that the controller hears of what comes after them.
    IsShed,
}

impl Excess {
    /// The unhandled bytes from which on nothing more is read.
    const fn limit(self) -> usize {
        match self {
            Self::Waits => MAX_AHEAD,
            Self::IsShed => MAX_MESSAGE,
        }
    }
}

/// Whether so much came at once that control messages go first.
pub(super) const fn is_long(stream: &[u8]) -> bool {
    stream.len() >= CONTROL_FIRST_THRESHOLD
}

impl Channel {
    /// Reads once and handles the control messages alone; the others wait for a later [`Self::read`]. Returns whether
    /// there are such that did not wait before.
    pub(in crate::channels) fn read_ahead(
        &mut self,
        engine: &mut Engine,
        inbox: &mut [u8],
        excess: Excess,
    ) -> Result<bool, ChannelError> {
        if self.joined.is_none() || self.rest.len() >= excess.limit() || !self.wants().read {
            return Ok(false);
        }
        let rest = self.rest.len();
        inbox[..rest].copy_from_slice(&self.rest);
        let read = match self.receive(&mut inbox[rest..rest + READ_CHUNK]) {
            // The next read says so again, once all before it is handled.
            Err(ChannelError::Closed | ChannelError::ClosedInMessage) => 0,
            read => read?,
        };
        if read == 0 {
            return Ok(false);
        }
        let stream = &mut inbox[..rest + read];
        let taken = self.take_control(engine, engine.now(), stream);
        let (kept, shed) = match excess {
            Excess::Waits => (stream.len(), 0),
            Excess::IsShed => self.control.shed(stream, MAX_AHEAD),
        };
        engine.note_shed(shed);
        self.keep(&stream[..kept]);
        taken.map(|()| !std::mem::replace(&mut self.is_behind, true))
    }

    /// Handles the control messages of the stream that were not handled yet, within the turn's budget.
    pub(super) fn take_control(
        &mut self,
        engine: &mut Engine,
        arrived_at: Time,
        stream: &[u8],
    ) -> Result<(), ChannelError> {
        while self.joined.is_some()
            && engine.now().since(arrived_at) < TURN_BUDGET
            && let Some(message) = self.control.next(stream)
        {
            self.take_message(engine, arrived_at, message)?;
        }
        Ok(())
    }
}
