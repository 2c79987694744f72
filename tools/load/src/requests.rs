//! What hosts send, how much of it, and what came of it.

use std::time::Duration;

use crate::switch::Received;

/// What hosts at one switch send, as messages of one length.
#[derive(Clone, Debug)]
pub struct Requests {
    bytes: Vec<u8>,
    pub(crate) length: usize,
    next: usize,
}

/// What came of a load.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Requests that were sent.
    pub sent: u64,
    /// Packets that the controller sent in answer.
    pub packets: u64,
    /// Rules that it installed.
    pub rules: u64,
    /// How long all of it took.
    pub took: Duration,
}

/// How a load is made.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Requests that each switch has under way.
    pub window: usize,
    /// For how long requests are sent.
    pub time: Duration,
    /// How many each switch sends at most.
    pub most: usize,
    /// Streams that are there at a time: of more, the oldest end.
    pub streams: usize,
    /// Requests a second, if not as many as are answered.
    pub rate: Option<f64>,
}

impl Load {
    /// How many more may be sent now.
    pub(crate) fn room(&self, elapsed: Duration, sent: u64) -> usize {
        let may = |rate: f64| ((rate * elapsed.as_secs_f64()) as u64).saturating_sub(sent) as usize;
        if elapsed < self.time { self.rate.map_or(usize::MAX, may) } else { 0 }
    }
}

impl Outcome {
    pub(crate) fn add(&mut self, received: &Received) {
        self.packets += received.packets;
        self.rules += received.rules.iter().sum::<u64>();
    }
}

impl Requests {
    /// Messages that are sent one after the other, and then from the first again.
    ///
    /// # Panics
    ///
    /// If there are none, or of different lengths.
    pub fn new(messages: &[Vec<u8>]) -> Self {
        let length = messages[0].len();
        assert!(messages.iter().all(|message| message.len() == length), "of one length");
        Self { bytes: messages.concat(), length, next: 0 }
    }

    /// The next ones, as many as there are up to the last; then they begin anew.
    pub(crate) fn take(&mut self, count: usize) -> &[u8] {
        let start = self.next;
        let end = self.bytes.len().min(start + count * self.length);
        self.next = end % self.bytes.len();
        &self.bytes[start..end]
    }
}
