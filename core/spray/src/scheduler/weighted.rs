//! The weighted scheduler: round robin in bursts, by virtual time.

use std::cmp::Reverse;
use std::time::Duration;

use braid_types::Time;

use super::PathWeight;

/// The fraction in which bytes are counted, so that a division by a weight loses little.
const PARTS: u64 = 1 << 16;
/// A burst ends after this time, however little was sent: all packets of a slow flow would take one path for many round trips,
/// and none of them would arrive if that path had failed.
const MAX_BURST_TIME: Duration = Duration::from_millis(2);

/// Weighted round robin in bursts, by virtual time: a path's virtual time is its bytes divided by its weight, and the
/// path with the least gets the next burst.
#[derive(Clone, Debug)]
pub(super) struct Weighted {
    burst: u32,
    virtual_times: Vec<u64>,
    current: Option<Burst>,
}

/// The burst that goes on.
#[derive(Clone, Copy, Debug)]
struct Burst {
    path: usize,
    began: Time,
    bytes_left: u32,
}

impl Weighted {
    pub(super) fn new(burst: u32, paths: usize) -> Self {
        Self { burst, virtual_times: vec![0; paths], current: None }
    }

    pub(super) const fn burst(&self) -> u32 {
        self.burst
    }

    pub(super) fn pick(&mut self, paths: &[PathWeight], now: Time, bytes: u32) -> Option<usize> {
        let goes_on = self.current.take().filter(|burst| {
            let has_weight = paths.get(burst.path).is_some_and(|path| path.weight > 0);
            burst.bytes_left > 0 && has_weight && now.since(burst.began) < MAX_BURST_TIME
        });
        let burst = match goes_on {
            Some(burst) => burst,
            None => Burst { path: self.behind(paths)?, began: now, bytes_left: self.burst },
        };
        let path = burst.path;
        let weight = u64::from(paths.get(path)?.weight).max(1);
        let time = self.virtual_times.get_mut(path)?;
        let taken = u64::from(bytes).saturating_mul(PARTS).checked_div(weight)?;
        *time = time.saturating_add(taken);
        self.current = Some(Burst { bytes_left: burst.bytes_left.saturating_sub(bytes), ..burst });
        self.rebase();
        Some(path)
    }

    /// Applies a changed weight: the path has its new share from now on, and nothing to make up for.
    pub(super) fn reweigh(&mut self, paths: &[PathWeight], path: usize) {
        let others = paths.iter().zip(&self.virtual_times).enumerate();
        let others = others.filter(|(other, (value, _))| *other != path && value.weight > 0);
        let Some(least) = others.map(|(_, (_, time))| *time).min() else { return };
        if let Some(time) = self.virtual_times.get_mut(path) {
            *time = least;
        }
    }

    fn behind(&self, paths: &[PathWeight]) -> Option<usize> {
        let usable = paths.iter().zip(&self.virtual_times).enumerate();
        let usable = usable.filter(|(_, (path, _))| path.weight > 0);
        // Of equals, the heaviest: its burst takes the least virtual time.
        usable.min_by_key(|(_, (path, time))| (**time, Reverse(path.weight))).map(|(index, _)| index)
    }

    // Virtual times are relative to the least, before they overflow.
    fn rebase(&mut self) {
        const LATE: u64 = 1 << 62;
        if self.virtual_times.iter().all(|time| *time < LATE) {
            return;
        }
        let least = self.virtual_times.iter().copied().filter(|time| *time > 0).min().unwrap_or(0);
        self.virtual_times.iter_mut().for_each(|time| *time = time.saturating_sub(least).min(LATE / 2));
    }
}
