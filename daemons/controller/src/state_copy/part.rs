//! A part of one list: a number of items that follow a key, copied in the order of their keys.

use std::time::Duration;

use braid_types::Time;
use tokio::sync::oneshot;

use super::Piecewise;
use crate::engine::Engine;
use crate::names::Names;

/// An item of a list.
pub(crate) trait Keyed: Sized {
    /// What the item is known by; it also orders the list.
    type Key: Ord;

    fn key(&self) -> Self::Key;
}

/// An item of a list that is copied piece by piece.
pub(crate) trait Copied: Keyed {
    /// Items of a piece: so many that it takes some microseconds.
    const PIECE: usize;
    /// Items of a part, a whole number of pieces: about as many as a page has.
    const PART: usize = 1_024;

    /// The items after a key, or all.
    fn following(engine: &Engine, after: Option<Self::Key>) -> impl Iterator<Item = Self>;
}

/// A copy of items that follow each other in a list.
#[derive(Debug)]
pub(crate) struct Part<T> {
    /// The part includes all events up to this time.
    pub(crate) now: Time,
    pub(crate) items: Vec<T>,
    /// No item follows them.
    pub(crate) is_last: bool,
    pub(crate) names: Names,
    /// The engine's time spent on the part.
    pub(crate) took: Duration,
}

/// A request for a part: what the engine begins with it.
pub(crate) type PartRequest = Box<dyn FnOnce(&Engine) -> Box<dyn Piecewise> + Send>;

/// A request for the part after a key, or the first, and where it arrives.
pub(crate) fn request_part<T>(after: Option<T::Key>) -> (PartRequest, oneshot::Receiver<Part<T>>)
where
    T: Copied<Key: Send> + Send + 'static,
{
    let (answer, answered) = oneshot::channel();
    let begin = |engine: &Engine| {
        let (now, names) = (engine.now(), engine.names().clone());
        let part = Part { now, items: Vec::new(), is_last: false, names, took: Duration::ZERO };
        Box::new(PartInProgress { after, part, answer }) as Box<dyn Piecewise>
    };
    (Box::new(begin), answered)
}

struct PartInProgress<T: Copied> {
    /// Where it begins, until it has items.
    after: Option<T::Key>,
    part: Part<T>,
    answer: oneshot::Sender<Part<T>>,
}

impl<T: Copied> Piecewise for PartInProgress<T> {
    fn step(&mut self, engine: &mut Engine) -> bool {
        let items = &mut self.part.items;
        self.part.is_last = extend(items, self.after.take(), engine, T::PIECE);
        self.part.is_last || items.len() >= T::PART
    }

    fn finish(mut self: Box<Self>, took: Duration) {
        self.part.took = took;
        // The requester may be gone.
        drop(self.answer.send(self.part));
    }
}

/// Appends one piece, of what follows the items or else this key; whether nothing follows it.
pub(super) fn extend<T: Copied>(
    items: &mut Vec<T>,
    after: Option<T::Key>,
    engine: &Engine,
    piece: usize,
) -> bool {
    let (before, after) = (items.len(), items.last().map(T::key).or(after));
    items.extend(T::following(engine, after).take(piece));
    items.len() - before < piece
}
