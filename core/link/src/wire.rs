//! Frames in flight on a link, in order of arrival, without sorting.

use std::collections::VecDeque;

use braid_types::Time;

/// Frames in flight, each with its arrival time.
///
/// Two lists in order of arrival: frames that keep their order, and frames that overtake them. So no sorting is needed.
#[derive(Clone, Debug)]
pub(crate) struct Wire<F> {
    in_order: VecDeque<Flying<F>>,
    overtaking: VecDeque<Flying<F>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Flying<F> {
    pub(crate) arrival: Time,
    pub(crate) bytes: u32,
    pub(crate) overtakes: bool,
    pub(crate) frame: F,
}

impl<F> Wire<F> {
    pub(crate) const fn new() -> Self {
        Self { in_order: VecDeque::new(), overtaking: VecDeque::new() }
    }

    /// Adds a frame that arrives no earlier than earlier ones of its list.
    pub(crate) fn push(&mut self, frame: Flying<F>) {
        let list = if frame.overtakes { &mut self.overtaking } else { &mut self.in_order };
        list.push_back(frame);
    }

    /// The arrival time of the next frame.
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        let first = |list: &VecDeque<Flying<F>>| list.front().map(|it| it.arrival);
        match (first(&self.in_order), first(&self.overtaking)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The next frame, if it has arrived by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<Flying<F>> {
        let due = self.next_arrival().filter(|arrival| *arrival <= now)?;
        let overtaken = self.overtaking.front().is_some_and(|it| it.arrival == due);
        if overtaken { self.overtaking.pop_front() } else { self.in_order.pop_front() }
    }
}
