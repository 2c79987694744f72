//! A model of a connection: a rate for each set of subflows that carry data, with noise.

use std::collections::BTreeSet;
use std::time::Duration;

use braid_subflows::{Change, Reading, Settings, Subflow, Trials, Verdict};
use braid_types::{SplitMix64, Time};

const STEP: Duration = Duration::from_millis(100);
/// The greatest deviation of the rate in one step.
const NOISE: f64 = 0.1;

/// One subflow as the model has it.
#[derive(Clone, Copy)]
pub(crate) struct Path {
    /// What it delivers, in Mbit/s.
    pub(crate) mbps: f64,
    pub(crate) rtt: Duration,
    pub(crate) loss: f64,
}

pub(crate) const fn path(mbps: f64, rtt: u64) -> Path {
    Path { mbps, rtt: Duration::from_millis(rtt), loss: 0.0 }
}

pub(crate) struct Connection {
    pub(crate) trials: Trials<u8>,
    pub(crate) paths: Vec<Path>,
    /// What the connection loses while so many subflows carry data, as a part of their sum.
    pub(crate) harm: f64,
    pub(crate) is_greedy: bool,
    pub(crate) verdicts: Vec<Verdict<u8>>,
    pub(crate) changes: Vec<Change<u8>>,
    reading: Reading<u8>,
    suspended: BTreeSet<u8>,
    random: SplitMix64,
    now: Time,
}

impl Connection {
    pub(crate) fn new(paths: &[Path], seed: u64) -> Self {
        Self {
            trials: Trials::new(Settings::default()),
            paths: paths.to_vec(),
            harm: 0.0,
            is_greedy: true,
            verdicts: Vec::new(),
            changes: Vec::new(),
            reading: Reading { acknowledged: 0, is_greedy: true, subflows: Vec::new() },
            suspended: BTreeSet::new(),
            random: SplitMix64::new(seed),
            now: Time::ZERO,
        }
    }

    pub(crate) fn with_harm(self, harm: f64) -> Self {
        Self { harm, ..self }
    }

    /// Runs for so many seconds, and returns the mean rate in Mbit/s.
    pub(crate) fn run(&mut self, seconds: u32) -> f64 {
        let before = self.reading.acknowledged;
        self.steps(seconds * 10);
        8.0 * (self.reading.acknowledged - before) as f64 / f64::from(seconds) / 1e6
    }

    /// Runs for so many tenths of a second.
    pub(crate) fn steps(&mut self, count: u32) {
        (0..count).for_each(|_| self.step());
    }

    fn step(&mut self) {
        self.now = self.now + STEP;
        let harm = if self.suspended.is_empty() { self.harm } else { 0.0 };
        let ids: Vec<u8> = (0..).take(self.paths.len()).collect();
        let before = std::mem::take(&mut self.reading.subflows);
        for (id, path) in ids.into_iter().zip(&self.paths) {
            let noise = 1.0 + NOISE * (self.random.below(2_001) as f64 / 1_000.0 - 1.0);
            let is_active = !self.suspended.contains(&id);
            let rate = if is_active { path.mbps * (1.0 - harm) * noise } else { 0.0 };
            let bytes = (rate * 1e6 / 8.0 * STEP.as_secs_f64()) as u64;
            let old = before.iter().find(|it| it.id == id);
            let (sent, lost) = old.map_or((0, 0), |it| (it.sent, it.retransmitted));
            let acknowledged = old.map_or(0, |it| it.acknowledged) + bytes;
            let retransmitted = lost + (bytes as f64 * path.loss) as u64;
            let sent = sent + bytes + (retransmitted - lost);
            self.reading.acknowledged += bytes;
            self.reading.subflows.push(Subflow {
                id,
                acknowledged,
                sent,
                retransmitted,
                rtt: path.rtt,
                is_drained: !is_active,
            });
        }
        self.reading.is_greedy = self.is_greedy;
        match self.trials.observe(self.now, &self.reading) {
            Some(change @ Change::Suspend(id)) => {
                assert!(self.suspended.insert(id), "it carried data");
                self.changes.push(change);
            }
            Some(change @ Change::Resume(id)) => {
                assert!(self.suspended.remove(&id), "it was suspended");
                self.changes.push(change);
            }
            None => {}
        }
        self.verdicts.extend(std::iter::from_fn(|| self.trials.poll_verdict()));
    }
}

impl Connection {
    /// Takes back the last change, which was one of suspension.
    pub(crate) fn refuse(&mut self) {
        let change = *self.changes.last().unwrap();
        self.trials.handle_refusal(change);
        self.suspended.clear();
    }
}
