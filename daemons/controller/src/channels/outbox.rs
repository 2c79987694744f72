//! The outbox of a switch: bytes that the engine appends and the switch's connection writes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use braid_cluster::MemberId;
use braid_openflow::{MultipartType, Xid};
use braid_types::Term;
use tokio::sync::Notify;

use super::spare::SpareBuffers;

/// Bytes that may wait for a switch; beyond them it is disconnected.
const MAX_UNSENT: usize = 64 << 20;

/// The index of an open channel.
pub(crate) type Slot = usize;

/// Bytes on their way to one switch, filled by the engine and emptied by the switch's channel.
#[derive(Debug)]
pub(crate) struct Outbox {
    bytes: RefCell<Vec<u8>>,
    /// The multipart requests among the messages.
    requests: RefCell<Vec<Request>>,
    closed: Cell<bool>,
    role_wish: Cell<Option<RoleWish>>,
    slot: Slot,
    /// The standby through which the switch is reached, if this member does not reach it itself.
    via: Option<MemberId>,
    filled: Rc<Filled>,
}

/// The role that a channel shall ask its switch for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RoleWish {
    /// MASTER, in this term.
    Claim(Term),
    /// SLAVE, for the leader of this term.
    Release(Term),
}

/// A multipart request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    /// One of the brain's, with its type.
    Brain(Xid, MultipartType),
    /// For rules that somebody wants to see.
    Rules(Xid),
}

/// The channels with new bytes in their outboxes, and buffers for those that get some.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    slots: RefCell<Vec<Slot>>,
    /// Whether the serving task sleeps and has to be woken.
    awaited: Cell<bool>,
    some: Notify,
    spare: SpareBuffers,
}

impl Outbox {
    /// An empty outbox that reports to `filled` when it gets bytes.
    pub(crate) fn new(slot: Slot, filled: &Rc<Filled>) -> Rc<Self> {
        Self::through(None, slot, filled)
    }

    /// The same of a switch that is reached through a standby.
    pub(crate) fn through(via: Option<MemberId>, slot: Slot, filled: &Rc<Filled>) -> Rc<Self> {
        let (bytes, requests) = (RefCell::default(), RefCell::default());
        let (closed, role_wish) = (Cell::default(), Cell::default());
        Rc::new(Self { bytes, requests, closed, role_wish, slot, via, filled: filled.clone() })
    }

    /// The standby through which the switch is reached.
    pub(crate) const fn via(&self) -> Option<&MemberId> {
        self.via.as_ref()
    }

    /// The channel that writes what is in it.
    pub(crate) const fn slot(&self) -> Slot {
        self.slot
    }

    /// Appends the messages that `write` encodes.
    pub(crate) fn append(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.bytes.borrow_mut();
        if bytes.is_empty() {
            self.filled.note(self.slot);
        }
        if bytes.capacity() == 0 {
            *bytes = self.filled.spare.take();
        }
        write(&mut bytes);
    }

    /// Notes a multipart request among the messages, so that the channel accepts its reply.
    pub(crate) fn note_request(&self, request: Request) {
        self.requests.borrow_mut().push(request);
    }

    /// Takes the new multipart requests.
    pub(crate) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.borrow_mut())
    }

    /// Moves all bytes to the end of `pending`.
    pub(crate) fn drain_into(&self, pending: &mut Vec<u8>) {
        let mut bytes = self.bytes.take();
        if pending.is_empty() {
            std::mem::swap(&mut bytes, pending);
        } else {
            pending.append(&mut bytes);
        }
        self.filled.spare.give_back(bytes);
    }

    /// Gives a buffer away whose bytes are sent.
    pub(crate) fn release(&self, sent: &mut Vec<u8>) {
        self.filled.spare.give_back(std::mem::take(sent));
    }

    /// Drops what was not taken yet.
    pub(crate) fn discard(&self) {
        self.bytes.take();
        self.requests.borrow_mut().clear();
    }

    /// Asks the channel to change its role. The last wish counts.
    pub(crate) fn ask(&self, wish: RoleWish) {
        self.role_wish.set(Some(wish));
        self.filled.note(self.slot);
    }

    pub(crate) fn take_role_wish(&self) -> Option<RoleWish> {
        self.role_wish.take()
    }

    pub(crate) fn is_overfull(&self, pending: usize) -> bool {
        self.bytes.borrow().len().saturating_add(pending) > MAX_UNSENT
    }

    /// Asks the channel to send the remaining bytes and close.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.filled.note(self.slot);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }
}

impl Filled {
    fn note(&self, slot: Slot) {
        self.slots.borrow_mut().push(slot);
        if self.awaited.get() {
            self.some.notify_one();
        }
    }

    /// Moves the channels with new bytes to the end of `slots`; duplicates are possible.
    pub(crate) fn take_into(&self, slots: &mut VecDeque<Slot>) {
        slots.extend(self.slots.borrow_mut().drain(..));
    }

    /// Waits until a channel has new bytes.
    pub(crate) async fn some(&self) {
        self.awaited.set(true);
        if self.slots.borrow().is_empty() {
            self.some.notified().await;
        }
    }

    /// The serving task is awake.
    pub(crate) fn looked_at(&self) {
        self.awaited.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_order_and_their_memory_is_shared_by_all_once_they_are_sent() {
        let filled = Rc::default();
        let [one, other] = [Outbox::new(0, &filled), Outbox::new(1, &filled)];
        let mut pending = vec![1];
        one.append(|out| out.resize(20 << 10, 2));
        one.drain_into(&mut pending);
        assert_eq!((pending.len(), &pending[..3]), ((20 << 10) + 1, &[1, 2, 2][..]));
        assert_eq!(one.bytes.borrow().capacity(), 0);
        one.release(&mut pending);
        assert_eq!(pending.capacity(), 0);
        other.append(|out| out.push(3));
        other.drain_into(&mut pending);
        assert_eq!(pending, [3]);
        assert!(pending.capacity() >= 20 << 10);
    }
}
