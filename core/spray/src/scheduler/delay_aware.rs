//! The delay-aware scheduler: each packet takes the path on which it arrives first.

use std::time::Duration;

use braid_types::Time;

use super::PathWeight;

/// Beyond this the model of the queues is no better than the configured rates.
const MAX_BACKLOG: Duration = Duration::from_millis(200);

/// Earliest delivery path first: a packet occupies its path for as long as the path's rate implies, and the next packet
/// takes the path on which it arrives first behind that.
#[derive(Clone, Debug)]
pub(super) struct DelayAware {
    /// By path, when it has sent everything assigned to it.
    free: Vec<Time>,
}

impl DelayAware {
    pub(super) fn new(paths: usize) -> Self {
        Self { free: vec![Time::ZERO; paths] }
    }

    pub(super) fn pick(&mut self, paths: &[PathWeight], now: Time, bytes: u32) -> Option<usize> {
        self.forgive(paths, now);
        let sent = |(path, free): (&PathWeight, &Time)| (*free).max(now) + sending_time(path, bytes);
        let usable = paths.iter().zip(&self.free).enumerate();
        let usable = usable.filter(|(_, (path, _))| path.weight > 0);
        let (best, sent) = usable
            .map(|(index, pair)| (index, sent(pair)))
            .min_by_key(|(index, sent)| paths.get(*index).map(|path| *sent + path.delay))?;
        *self.free.get_mut(best)? = sent;
        Some(best)
    }

    // Where the offered load exceeds all paths, all queues of the model grow alike; the real ones overflow.
    fn forgive(&mut self, paths: &[PathWeight], now: Time) {
        let usable = paths.iter().zip(&self.free).filter(|(path, _)| path.weight > 0);
        let Some(least) = usable.map(|(_, free)| free.since(now)).min() else { return };
        if let Some(excess) = least.checked_sub(MAX_BACKLOG) {
            self.free.iter_mut().for_each(|free| *free = *free - excess);
        }
    }
}

fn sending_time(path: &PathWeight, bytes: u32) -> Duration {
    let rate = path.rate.map_or_else(|| u64::from(path.weight) * 1_000_000, |rate| rate.0).max(1);
    Duration::from_nanos(u64::from(bytes).saturating_mul(8_000_000_000).checked_div(rate).unwrap_or(u64::MAX))
}
