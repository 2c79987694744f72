//! Requests of the switches: as many as are answered, or one at a time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{Network, PROGRESS_TIMEOUT};
use crate::error::LoadError;
use crate::requests::{Load, Outcome, Requests};

impl Network {
    /// Keeps so many requests under way at each switch until the time is over, and waits for all answers.
    ///
    /// # Errors
    /// The controller does not answer.
    pub fn load(
        &mut self,
        requests: &mut BTreeMap<usize, Requests>,
        load: Load,
    ) -> Result<Outcome, LoadError> {
        let (mut outcome, start) = (Outcome::default(), Instant::now());
        let mut owed = vec![0; self.switches.len()];
        let mut left: Vec<usize> = vec![load.most; self.switches.len()];
        for (index, requests) in &mut *requests {
            left[*index] -= load.window;
            outcome.sent += self.request(*index, requests, load.window);
        }
        self.flush()?;
        while (outcome.packets < outcome.sent || load.rate.is_some() && start.elapsed() < load.time)
            && start.elapsed() < load.time + PROGRESS_TIMEOUT
        {
            self.check()?;
            self.serve(|index, received| {
                outcome.add(&received);
                owed[index] += received.packets as usize;
            })?;
            for (index, requests) in &mut *requests {
                let room = load.room(start.elapsed(), outcome.sent);
                let count = owed[*index].min(left[*index]).min(room);
                (owed[*index], left[*index]) = (owed[*index] - count, left[*index] - count);
                outcome.sent += self.request(*index, requests, count);
            }
            self.end_streams(load.streams);
            self.flush()?;
        }
        outcome.took = start.elapsed();
        // What belongs to a request may come by another channel.
        for _ in 0..2 {
            self.settle(|received| outcome.add(received))?;
        }
        Ok(outcome)
    }

    /// The times from the write of one request to the read of the last message that answers it: a packet and
    /// so many rules.
    ///
    /// # Errors
    /// The controller does not answer.
    pub fn time(
        &mut self,
        index: usize,
        requests: &mut Requests,
        (count, rules): (usize, u64),
        streams: usize,
    ) -> Result<Vec<Duration>, LoadError> {
        let mut times = Vec::with_capacity(count);
        for number in 0..count {
            let (start, mut seen) = (Instant::now(), (0, 0));
            self.request(index, requests, 1);
            self.flush()?;
            while seen.0 < 1 || seen.1 < rules {
                self.check()?;
                if start.elapsed() > PROGRESS_TIMEOUT {
                    return Err(LoadError::Stuck {
                        what: format!("answer to request {number}"),
                        after: PROGRESS_TIMEOUT,
                    });
                }
                self.serve(|_, received| {
                    seen.0 += received.packets;
                    seen.1 += received.rules.iter().sum::<u64>();
                })?;
                times.extend((seen.0 >= 1 && seen.1 >= rules).then(|| start.elapsed()));
                self.flush()?;
            }
            self.end_streams(streams);
            self.flush()?;
        }
        Ok(times)
    }

    /// Ends the oldest streams, so that no more than `most` are there.
    pub fn end_streams(&mut self, most: usize) {
        let over = self.streams.len().saturating_sub(most);
        for (index, cookie) in self.streams.drain(..over) {
            self.switches[index].expire(cookie);
            self.filled.push(index);
        }
    }

    fn request(&mut self, index: usize, requests: &mut Requests, count: usize) -> u64 {
        let (mut left, length) = (count, requests.length);
        while left > 0 {
            let bytes = requests.take(left);
            left -= bytes.len() / length;
            self.switches[index].send(bytes);
            self.filled.push(index);
        }
        count as u64
    }
}
