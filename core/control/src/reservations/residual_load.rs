//! Residual load: ended streams that measured loads still include.

use std::collections::VecDeque;
use std::time::Duration;

use braid_steering::{Route, Stream};
use braid_topology::Link;
use braid_types::{BitsPerSec, Time};

/// The time until measured load, which is smoothed and delayed, does not include a stream any more.
const RESIDUAL_LOAD_TIME: Duration = Duration::from_secs(10);
/// Ended streams that are remembered.
const MAX_STREAMS: usize = 1_024;

/// Streams that ended recently.
#[derive(Debug, Default)]
pub(super) struct ResidualLoad {
    now: Time,
    streams: VecDeque<EndedStream>,
}

#[derive(Debug)]
struct EndedStream {
    at: Time,
    route: Route,
    rates: [BitsPerSec; 2],
}

impl ResidualLoad {
    /// Forgets streams that loads no longer include. Called once a tick.
    pub(super) fn tick(&mut self, now: Time) {
        self.now = now;
        while self.streams.front().is_some_and(|gone| now.since(gone.at) >= RESIDUAL_LOAD_TIME) {
            self.streams.pop_front();
        }
    }

    /// Adds a stream that has ended.
    pub(super) fn add(&mut self, stream: &Stream) {
        let Some(route) = stream.route.clone().filter(|_| stream.rates.iter().any(|rate| rate.0 > 0)) else {
            return;
        };
        if self.streams.len() >= MAX_STREAMS {
            self.streams.pop_front();
        }
        self.streams.push_back(EndedStream { at: self.now, route, rates: stream.rates });
    }

    /// The rate that these streams had over a link, in bits a second.
    pub(super) fn on(&self, link: &Link) -> u64 {
        self.streams.iter().filter_map(|gone| carried(link, &gone.route, gone.rates)).sum()
    }
}

/// The rate of a stream over a link, in bits a second; `None` if the stream does not use it.
pub(super) fn carried(link: &Link, route: &Route, rates: [BitsPerSec; 2]) -> Option<u64> {
    let at = [&route.forward, &route.reverse].iter().position(|path| path.links().contains(link))?;
    Some(rates[at].0)
}
