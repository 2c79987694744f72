//! Schedulers, which choose a path for each packet. One file a policy; the common parts are here.

mod delay_aware;
mod weighted;

use std::time::Duration;

use braid_types::{BitsPerSec, Time};
use delay_aware::DelayAware;
use serde::{Deserialize, Serialize};
use weighted::Weighted;

/// A path's properties for the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PathWeight {
    /// Its share of the traffic is this divided by the sum of all weights; 0: it carries none.
    pub weight: u32,
    /// Its capacity, for [`Policy::DelayAware`]; `None`: the weight in Mbit/s.
    pub rate: Option<BitsPerSec>,
    /// Its delay with empty queues, for [`Policy::DelayAware`].
    pub delay: Duration,
}

/// The choice of paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Weighted round robin: so many bytes on one path, then the path furthest behind its share.
    Weighted {
        /// The bytes on one path in a row, for 2 ms at most; 0: each packet is decided by itself.
        burst: u32,
    },
    /// Each packet takes the path on which it arrives first, given the backlog of earlier packets.
    DelayAware,
}

/// Chooses a path for each packet. Performs no I/O.
///
/// Paths are numbered as they were given. Each choice costs O(n) in the number of paths; a burst, O(1) a packet.
/// A packet may be a GSO packet: its bytes count.
///
/// ```
/// use braid_spray::{PathWeight, Policy, Scheduler};
/// use braid_types::Time;
///
/// let weights = [2, 1].map(|weight| PathWeight { weight, ..PathWeight::default() });
/// let mut scheduler = Scheduler::new(Policy::Weighted { burst: 0 }, &weights);
/// let paths: Vec<_> = (0..6).filter_map(|_| scheduler.pick(Time::ZERO, 1_500)).collect();
/// assert_eq!(paths, [0, 1, 0, 0, 1, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct Scheduler {
    paths: Vec<PathWeight>,
    policy: Chooser,
}

#[derive(Clone, Debug)]
enum Chooser {
    Weighted(Weighted),
    DelayAware(DelayAware),
}

impl Default for Policy {
    fn default() -> Self {
        // Eight full frames: a burst of TCP's own, and half a millisecond at 200 Mbit/s.
        Self::Weighted { burst: 12_000 }
    }
}

impl Scheduler {
    /// A scheduler for `paths`, none of which has carried anything yet.
    pub fn new(policy: Policy, paths: &[PathWeight]) -> Self {
        let policy = match policy {
            Policy::Weighted { burst } => Chooser::Weighted(Weighted::new(burst, paths.len())),
            Policy::DelayAware => Chooser::DelayAware(DelayAware::new(paths.len())),
        };
        Self { paths: paths.to_vec(), policy }
    }

    /// The path for a packet of `bytes`; `None` if no path has a weight.
    pub fn pick(&mut self, now: Time, bytes: u32) -> Option<usize> {
        match &mut self.policy {
            Chooser::Weighted(weighted) => weighted.pick(&self.paths, now, bytes),
            Chooser::DelayAware(aware) => aware.pick(&self.paths, now, bytes),
        }
    }

    /// Changes a path's properties from the next packet on; returns whether the path exists.
    ///
    /// A path without traffic so far starts level with the others and has no deficit to make up.
    pub fn set(&mut self, path: usize, value: PathWeight) -> bool {
        let Some(old) = self.paths.get_mut(path) else { return false };
        let begins = old.weight == 0;
        *old = value;
        if let Chooser::Weighted(weighted) = &mut self.policy
            && begins
        {
            weighted.reweigh(&self.paths, path);
        }
        true
    }

    /// The policy.
    pub const fn policy(&self) -> Policy {
        match &self.policy {
            Chooser::Weighted(weighted) => Policy::Weighted { burst: weighted.burst() },
            Chooser::DelayAware(_) => Policy::DelayAware,
        }
    }

    /// The properties of each path.
    pub fn paths(&self) -> &[PathWeight] {
        &self.paths
    }
}
