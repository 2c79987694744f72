//! What the controller and this process use of the machine.

use std::time::{Duration, Instant};

use super::report::{Cost, Progress, Reading};
use crate::network::Network;
use crate::usage::Usage;

/// The interval of progress reports.
const INTERVAL: Duration = Duration::from_secs(1);

/// What the controller and this process have used since some time.
pub(super) struct Meter {
    process: Option<u32>,
    start: Instant,
    phase: Mark,
    last: Mark,
}

#[derive(Clone, Copy)]
struct Mark {
    at: Instant,
    frames: u64,
    theirs: Option<Duration>,
    own: Duration,
}

impl Mark {
    fn now(process: Option<u32>, frames: u64) -> Self {
        let theirs = process.and_then(Usage::of).map(|usage| usage.on_core);
        Self { at: Instant::now(), frames, theirs, own: Usage::own().on_core }
    }

    fn until(&self, later: &Self) -> Cost {
        let seconds = later.at.duration_since(self.at).as_secs_f64().max(1e-9);
        let cores =
            |earlier: Duration, later: Duration| later.saturating_sub(earlier).as_secs_f64() / seconds;
        Cost {
            seconds,
            frames_per_second: (later.frames - self.frames) as f64 / seconds,
            cores: self.theirs.zip(later.theirs).map(|(earlier, later)| cores(earlier, later)),
            own_cores: cores(self.own, later.own),
        }
    }
}

impl Meter {
    pub(super) fn new(process: Option<u32>) -> Self {
        let mark = Mark::now(process, 0);
        Self { process, start: mark.at, phase: mark, last: mark }
    }

    pub(super) fn is_due(&self) -> bool {
        self.last.at.elapsed() >= INTERVAL
    }

    /// The cost since the last call.
    pub(super) fn cost(&mut self, network: &Network) -> Cost {
        let now = Mark::now(self.process, network.frames);
        std::mem::replace(&mut self.phase, now).until(&now)
    }

    pub(super) fn progress(&mut self, network: &Network, reading: Option<Reading>) -> Progress {
        let now = Mark::now(self.process, network.frames);
        let cost = std::mem::replace(&mut self.last, now).until(&now);
        Progress {
            seconds: self.start.elapsed().as_secs_f64(),
            switches: network.switches.iter().filter(|switch| switch.is_up).count(),
            probed_links: network.probed_links,
            frames: cost.frames_per_second.round() as u64,
            reading,
            cores: cost.cores,
            memory: self.process.and_then(Usage::of).map(|usage| usage.memory),
            own_cores: cost.own_cores,
        }
    }
}
