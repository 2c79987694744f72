//! Control messages go before the packets of hosts of all channels while a round of reading takes several turns.

use std::io;
use std::time::Duration;

use super::Channels;
use super::channel::Excess;
use super::outbox::Slot;

/// A round that takes longer is one of an overloaded controller: packets of hosts are shed, as an OpenFlow switch does whose
/// queue for the controller is full.
const SHED_AFTER: Duration = Duration::from_millis(100);

impl Channels {
    /// Handles the control messages that have arrived since the round began. Costs one system call for all channels, and one
    /// for each that is ready.
    pub(super) fn read_control(&mut self) -> io::Result<()> {
        let mut ready = Vec::new();
        self.poller.look(&mut ready)?;
        let is_long = self.now().since(self.round.began) >= SHED_AFTER;
        let excess = if is_long { Excess::IsShed } else { Excess::Waits };
        for slot in ready {
            self.read_ahead(slot, excess);
        }
        Ok(())
    }

    fn read_ahead(&mut self, slot: Slot, excess: Excess) {
        let Some(channel) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        let read = channel.read_ahead(&mut self.engine.borrow_mut(), &mut self.inbox, excess);
        match read {
            Ok(has_new) => {
                self.list_unsent(slot);
                if has_new {
                    self.behind.push(slot);
                }
            }
            Err(why) => self.close(slot, &why),
        }
    }
}
