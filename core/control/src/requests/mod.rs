//! Requests of applications and host agents: assignments, announced streams, advice on subflows.

mod advice;
mod assignments;
mod confirmations;

use braid_steering::StreamId;
use braid_types::Time;

use crate::barrier::Barrier;
use crate::facts::Memory;
use crate::streams::{StreamDeps, StreamEvent, Streams};
use advice::Advising;
use confirmations::Confirmations;

/// Requests whose answers wait for switches. `handle_request` is in `assignments`.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    advising: Advising,
    confirmations: Confirmations,
}

/// The machines below, while an event is handled.
pub(crate) struct RequestDeps<'a> {
    pub(crate) deps: StreamDeps<'a>,
    pub(crate) streams: &'a mut Streams,
    pub(crate) memory: &'a Memory,
}

impl Requests {
    /// When [`Self::handle_timeout`] has work next, if that is known. O(1).
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.next_answer()
    }

    /// A switch has processed every message before a barrier that is not the fabric's.
    pub(crate) fn handle_barrier(&mut self, on: &mut RequestDeps<'_>, barrier: Barrier) {
        self.confirm_stream(on, barrier);
    }

    /// Answers requests that are due. Called once a tick and at [`Self::wake_at`].
    pub(crate) fn handle_timeout(&mut self, on: &mut RequestDeps<'_>) {
        self.expire_confirmations(on);
        self.tick_advice(on);
        self.remove_lingering(on);
    }

    /// Stops requests that wait for an ended stream.
    pub(crate) fn handle_stream(&mut self, on: &mut RequestDeps<'_>, event: StreamEvent) {
        let StreamEvent::Ended(id) = event;
        self.stop_expecting(on, id);
        self.stop_confirming(on, id);
    }

    fn end_stream(&mut self, on: &mut RequestDeps<'_>, id: StreamId) {
        on.streams.end(&mut on.deps, id);
        self.drain_streams(on);
    }

    fn drain_streams(&mut self, on: &mut RequestDeps<'_>) {
        while let Some(event) = on.streams.poll_event() {
            self.handle_stream(on, event);
        }
    }
}
