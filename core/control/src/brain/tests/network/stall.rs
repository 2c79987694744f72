//! A controller that does not get to read what switches say.

use std::collections::VecDeque;
use std::time::Duration;

use super::Network;
use crate::event::Event;

impl Network {
    /// Lets time pass in which nothing that switches say is read; then reads all of it. If `knows`, the
    /// controller knows that the delay is its own.
    pub(in crate::brain::tests) fn stall(&mut self, duration: Duration, knows: bool) {
        let (step, end) = (Duration::from_millis(100), self.now + duration);
        self.unread.get_or_insert_default();
        while self.now < end {
            self.now = self.now + step;
            if knows {
                self.tell(&Event::Stalled { time: step, idle: Duration::ZERO });
            }
            self.tell(&Event::Tick);
        }
        let unread: VecDeque<_> = self.unread.take().unwrap_or_default();
        for event in unread {
            self.tell(&event);
        }
    }
}
