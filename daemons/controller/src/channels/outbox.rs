//! The outbox of a switch: bytes that the engine appends and the switch's connection writes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use braid_openflow::{MultipartType, Xid};
use tokio::sync::Notify;

/// A switch that leaves more than this unread is cut off.
const MAX_UNREAD: usize = 64 << 20;
/// Memory that is kept for what is written next.
const KEPT: usize = 32 << 10;

/// Names a channel among those that are open.
pub(crate) type Place = usize;

/// Bytes on their way to one switch, filled by the engine and emptied by the switch's channel.
#[derive(Debug)]
pub(crate) struct Outbox {
    bytes: RefCell<Vec<u8>>,
    /// The multipart requests among them.
    requests: RefCell<Vec<Request>>,
    closed: Cell<bool>,
    place: Place,
    filled: Rc<Filled>,
}

/// A multipart request: its transaction, and what it asks for.
pub(crate) type Request = (Xid, MultipartType);

/// The channels with something new in their outboxes.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    places: RefCell<Vec<Place>>,
    /// Whether somebody waits to hear of it; one who looks by himself need not be woken.
    awaited: Cell<bool>,
    some: Notify,
}

impl Outbox {
    /// Empty; `filled` hears when it is not any more.
    pub(crate) fn new(place: Place, filled: &Rc<Filled>) -> Rc<Self> {
        let (bytes, requests, closed) = (RefCell::default(), RefCell::default(), Cell::default());
        Rc::new(Self { bytes, requests, closed, place, filled: filled.clone() })
    }

    /// Lets `write` append messages.
    pub(crate) fn append(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.bytes.borrow_mut();
        if bytes.is_empty() {
            self.filled.note(self.place);
        }
        write(&mut bytes);
    }

    /// The messages have this request among them, whose answer the channel must expect.
    pub(crate) fn note_request(&self, request: Request) {
        self.requests.borrow_mut().push(request);
    }

    /// The requests that are new.
    pub(crate) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.borrow_mut())
    }

    /// Moves everything to the end of `pending`.
    pub(crate) fn drain_into(&self, pending: &mut Vec<u8>) {
        let mut bytes = self.bytes.borrow_mut();
        if pending.is_empty() {
            // What a burst took is given back.
            pending.shrink_to(KEPT);
            std::mem::swap(&mut *bytes, pending);
        } else {
            pending.append(&mut bytes);
        }
    }

    pub(crate) fn is_overfull(&self, pending: usize) -> bool {
        self.bytes.borrow().len().saturating_add(pending) > MAX_UNREAD
    }

    /// Asks the channel to send what is there and close.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.filled.note(self.place);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }
}

impl Filled {
    fn note(&self, place: Place) {
        self.places.borrow_mut().push(place);
        if self.awaited.get() {
            self.some.notify_one();
        }
    }

    /// Moves the channels that have something new to the end of `places`; one may be there twice.
    pub(crate) fn take_into(&self, places: &mut Vec<Place>) {
        places.append(&mut self.places.borrow_mut());
    }

    /// Waits until there are some.
    pub(crate) async fn some(&self) {
        self.awaited.set(true);
        if self.places.borrow().is_empty() {
            self.some.notified().await;
        }
    }

    /// Nobody waits any more.
    pub(crate) fn looked_at(&self) {
        self.awaited.set(false);
    }
}
