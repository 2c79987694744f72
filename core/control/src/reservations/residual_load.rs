//! Residual load: what announced streams carried that have ended, which the load of links shows for a while longer.

use std::collections::VecDeque;
use std::time::Duration;

use braid_steering::{Route, Stream};
use braid_topology::Link;
use braid_types::{BitsPerSec, Time};

/// Until load, which is smoothed and told with a delay, has forgotten a stream.
const RESIDUAL_LOAD_TIME: Duration = Duration::from_secs(10);
/// Of more, the oldest are forgotten.
const MAX_STREAMS: usize = 1_024;

/// Streams that have ended a moment ago.
#[derive(Debug, Default)]
pub(super) struct ResidualLoad {
    now: Time,
    streams: VecDeque<Gone>,
}

#[derive(Debug)]
struct Gone {
    at: Time,
    route: Route,
    rates: [BitsPerSec; 2],
}

impl ResidualLoad {
    /// Forgets what load does not show any more; called once a tick.
    pub(super) fn tick(&mut self, now: Time) {
        self.now = now;
        while self.streams.front().is_some_and(|gone| now.since(gone.at) >= RESIDUAL_LOAD_TIME) {
            self.streams.pop_front();
        }
    }

    /// A stream has ended.
    pub(super) fn add(&mut self, stream: &Stream) {
        let Some(route) = stream.route.clone().filter(|_| stream.rates.iter().any(|rate| rate.0 > 0)) else {
            return;
        };
        if self.streams.len() >= MAX_STREAMS {
            self.streams.pop_front();
        }
        self.streams.push_back(Gone { at: self.now, route, rates: stream.rates });
    }

    /// What they carried over a link.
    pub(super) fn on(&self, link: &Link) -> u64 {
        self.streams.iter().filter_map(|gone| carried(link, &gone.route, gone.rates)).sum()
    }
}

/// What a stream carries over a link, if it goes there.
pub(super) fn carried(link: &Link, route: &Route, rates: [BitsPerSec; 2]) -> Option<u64> {
    let at = [&route.forward, &route.reverse].iter().position(|path| path.links().contains(link))?;
    Some(rates[at].0)
}
