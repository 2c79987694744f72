//! The model of one direction of a link: queue, serialisation, delay, loss and reordering, driven by `offer` and `poll_arrival`.

use std::collections::VecDeque;

use braid_types::Time;

use crate::counters::{Amount, Counters, Gauge};
use crate::loss::Losses;
use crate::parameters::{Change, ParameterError, Parameters};
use crate::random::Random;
use crate::wire::{Flying, Wire};

/// One direction of a link, for frames of the type `F`. Performs no I/O.
///
/// ```text
///            full               lost
///             ▲                   ▲
///  offer ─────┴──▶ queue ──▶ sending ──▶ on the way ──▶ poll_arrival
///                          (one frame)
/// ```
///
/// Loss and arrival time of a frame are decided when it starts to be sent. So a change of parameters loses no frame:
/// frames in flight keep their arrival times, queued ones are sent at the new rate, and a queue that became too short
/// accepts nothing until it fits. A shorter delay reorders nothing; only [`Parameters::reorder`] does.
///
/// Frames are offered in order of time. They may be offered late, after a poll for a later time: an idle link then sends
/// them as if offered in time. Every operation is O(1) for each frame that it moves.
#[derive(Clone, Debug)]
pub struct OneWay<F> {
    parameters: Parameters,
    random: Random,
    losses: Losses,
    queue: VecDeque<Queued<F>>,
    queued: Amount,
    sending: Option<Sending<F>>,
    wire: Wire<F>,
    flying: Amount,
    /// The time at which the last frame was sent.
    free: Time,
    /// The arrival time of the last frame that keeps its order.
    last_arrival: Time,
    counters: Counters,
}

#[derive(Clone, Debug)]
struct Queued<F> {
    frame: F,
    bytes: u32,
}

#[derive(Clone, Debug)]
struct Sending<F> {
    sent: Time,
    lost: bool,
    flying: Flying<F>,
}

/// The result of offering a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The frame was accepted; it may still be lost.
    Taken,
    /// The queue has no room for it.
    Overflowed,
}

impl<F> OneWay<F> {
    /// An empty link direction; the same `seed` gives the same losses and jitter.
    pub fn new(parameters: Parameters, seed: u64) -> Self {
        Self {
            parameters,
            random: Random::new(seed),
            losses: Losses::default(),
            queue: VecDeque::new(),
            queued: Amount::default(),
            sending: None,
            wire: Wire::new(),
            flying: Amount::default(),
            free: Time::ZERO,
            last_arrival: Time::ZERO,
            counters: Counters::default(),
        }
    }

    /// Offers a frame of `bytes`, which is constructed only if it is accepted.
    pub fn offer(&mut self, now: Time, bytes: u32, frame: impl FnOnce() -> F) -> Fate {
        self.advance(now);
        self.counters.offered.add(bytes);
        if self.sending.is_none() {
            self.send(now.max(self.free), frame(), bytes);
            self.advance(now);
            return Fate::Taken;
        }
        if !self.has_room(bytes) {
            self.counters.overflowed.add(bytes);
            return Fate::Overflowed;
        }
        self.queued.add(bytes);
        self.queue.push_back(Queued { frame: frame(), bytes });
        Fate::Taken
    }

    /// The next frame that has arrived by `now`; call it until `None`.
    pub fn poll_arrival(&mut self, now: Time) -> Option<F> {
        self.advance(now);
        let Flying { bytes, overtakes, frame, .. } = self.wire.pop(now)?;
        self.flying.remove(bytes);
        self.counters.delivered.add(bytes);
        self.counters.reordered += u64::from(overtakes);
        Some(frame)
    }

    /// The time of the next call of [`Self::poll_arrival`]; `None` while no frame is inside.
    ///
    /// At this time a frame arrives, or is found lost.
    pub fn next_event(&self) -> Option<Time> {
        let sending = self.sending.as_ref();
        let sending = sending.map(|it| if it.lost { it.sent } else { it.flying.arrival });
        match (self.wire.next_arrival(), sending) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Applies `change` from `now` on, without losing frames inside.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] if the parameters are invalid; then nothing changes.
    pub fn change(&mut self, now: Time, change: &Change) -> Result<(), ParameterError> {
        let parameters = self.parameters.with(change);
        parameters.check()?;
        self.advance(now);
        self.parameters = parameters;
        Ok(())
    }

    /// The current parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The counters, as of the last call with a time.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The frames inside, as of the last call with a time.
    pub fn gauge(&self) -> Gauge {
        Gauge { queued: self.queued, flying: self.flying }
    }

    fn has_room(&self, bytes: u32) -> bool {
        use crate::values::QueueLimit::{Bytes, Packets};
        match self.parameters.queue {
            Packets(limit) => self.queued.frames < limit,
            Bytes(limit) => self.queued.bytes.saturating_add(bytes.into()) <= limit,
        }
    }

    /// Advances the link to `now`: each frame is sent after the one before it.
    fn advance(&mut self, now: Time) {
        while let Some(Sending { sent, lost, flying }) = self.sending.take_if(|it| it.sent <= now) {
            self.free = sent;
            if lost {
                self.flying.remove(flying.bytes);
                self.counters.lost.add(flying.bytes);
            } else {
                self.wire.push(flying);
            }
            if let Some(Queued { frame, bytes }) = self.queue.pop_front() {
                self.queued.remove(bytes);
                self.send(sent, frame, bytes);
            }
        }
    }

    /// Starts to send a frame at `start`, and decides its loss and arrival time.
    fn send(&mut self, start: Time, frame: F, bytes: u32) {
        let sent = start + self.parameters.sending_time(bytes);
        let lost = self.losses.next(&self.parameters, &mut self.random);
        let overtakes = self.random.happens(self.parameters.reorder.share());
        let arrival = if overtakes || lost { sent } else { self.arrival(sent) };
        self.flying.add(bytes);
        self.sending = Some(Sending { sent, lost, flying: Flying { arrival, bytes, overtakes, frame } });
    }

    // Jitter and a delay that became shorter move a frame up to the one before it, not past it.
    fn arrival(&mut self, sent: Time) -> Time {
        let arrival = sent + self.parameters.travel_time(&mut self.random);
        self.last_arrival = self.last_arrival.max(arrival);
        self.last_arrival
    }
}
