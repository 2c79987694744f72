//! How long control traffic takes: echo requests of the switches, a few at a time, behind what they have sent before.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::network::Network;

/// The pause between two requests.
const PAUSE: Duration = Duration::from_millis(5);

/// How long echo requests took, in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct EchoTimes {
    /// How many were sent.
    pub count: usize,
    /// Half took no longer.
    pub p50: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
    /// None took longer.
    pub max: f64,
}

/// Echo requests of one switch after the other, one at a time each.
pub(super) struct Echoes {
    asked: Vec<Option<Instant>>,
    next: usize,
    last: Instant,
    times: Vec<Duration>,
}

impl Echoes {
    pub(super) fn new(switches: usize) -> Self {
        Self { asked: vec![None; switches], next: 0, last: Instant::now(), times: Vec::new() }
    }

    /// Has the next switch ask, if it is time.
    pub(super) fn ask(&mut self, network: &mut Network) {
        if self.last.elapsed() < PAUSE {
            return;
        }
        let index = self.next;
        self.next = (index + 1) % self.asked.len();
        if self.asked[index].is_none() && network.switches[index].is_up {
            (self.asked[index], self.last) = (Some(Instant::now()), Instant::now());
            network.ask(index);
        }
    }

    /// Has every switch ask that does not wait for an answer.
    pub(super) fn ask_all(&mut self, network: &mut Network) {
        for (index, asked) in self.asked.iter_mut().enumerate() {
            if asked.is_none() && network.switches[index].is_up {
                *asked = Some(Instant::now());
                network.ask(index);
            }
        }
    }

    /// A switch has got so many answers.
    pub(super) fn heard(&mut self, index: usize, answers: u64) {
        if answers > 0 {
            self.times.extend(self.asked[index].take().map(|asked| asked.elapsed()));
        }
    }

    pub(super) fn are_answered(&self) -> bool {
        self.asked.iter().all(Option::is_none)
    }

    /// The times so far; what is not answered has taken until now.
    pub(super) fn times(&self) -> EchoTimes {
        let open = self.asked.iter().flatten().map(Instant::elapsed);
        let mut times: Vec<_> = self.times.iter().copied().chain(open).collect();
        times.sort_unstable();
        let Some(last) = times.len().checked_sub(1) else { return EchoTimes::default() };
        let at = |percent: usize| times[last * percent / 100].as_secs_f64();
        EchoTimes { count: times.len(), p50: at(50), p99: at(99), max: at(100) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_answered_counts_with_its_age() {
        let mut echoes = Echoes::new(2);
        let ago = Instant::now().checked_sub(Duration::from_secs(3)).expect("an earlier time");
        echoes.asked = vec![Some(Instant::now()), Some(ago)];
        echoes.heard(0, 1);
        let times = echoes.times();
        assert_eq!(times.count, 2);
        assert!(times.p50 < 1.0 && times.max >= 3.0, "{times:?}");
    }
}
