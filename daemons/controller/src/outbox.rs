use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::sync::Notify;

/// A switch that leaves more than this unread is cut off.
const MAX_UNREAD: usize = 64 << 20;

/// Bytes on their way to one switch, filled by the engine and emptied by the switch's channel.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    bytes: RefCell<Vec<u8>>,
    filled: Notify,
    closed: Cell<bool>,
}

impl Outbox {
    pub(crate) fn new() -> Rc<Self> {
        Rc::default()
    }

    /// Lets `write` append messages and wakes the channel.
    pub(crate) fn append(&self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes.borrow_mut());
        self.filled.notify_one();
    }

    /// Moves everything to the end of `pending`.
    pub(crate) fn drain_into(&self, pending: &mut Vec<u8>) {
        let mut bytes = self.bytes.borrow_mut();
        if pending.is_empty() {
            std::mem::swap(&mut *bytes, pending);
        } else {
            pending.append(&mut bytes);
        }
    }

    /// Waits until there is something to send or the channel is to close.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    pub(crate) fn is_overfull(&self, pending: usize) -> bool {
        self.bytes.borrow().len().saturating_add(pending) > MAX_UNREAD
    }

    /// Asks the channel to send what is there and close.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.filled.notify_one();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }
}
