//! The delay gate: the paths that are similar enough in delay to carry one stream. Banfi et al. (2016).

use std::time::Duration;

use braid_types::BitsPerSec;

/// Limits beyond which paths are too unequal in delay to carry one stream together.
///
/// Imbalances are *maximum delay imbalances* (MDI), see [`DelayGate::mdi`]. They are relative: the authors found that
/// thresholds for delays of tens of milliseconds suit no others. So absolute differences count too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DelayLimits {
    /// Above this imbalance packets need resequencing. 0.15: beyond it, the resequencing buffer wins in the
    /// measurements of Banfi et al. (fig. 3).
    pub reorder: f64,
    /// Above this difference packets need resequencing too, however small the imbalance. 2 ms: TCP counts packets, not
    /// ratios, and at 20 Mb/s these are its three duplicate acknowledgements. `Duration::MAX` leaves it to the imbalance.
    ///
    /// No difference is small enough to make resequencing needless where the imbalance is large: at 10 Gb/s, 4 µs are
    /// three packets, and an idle resequencer costs next to nothing.
    pub reorder_above: Duration,
    /// Above this imbalance paths are not used together. 0.4: beyond it, two paths were slower than one in the
    /// measurements of Banfi et al. (fig. 3), which had 25 ms on the faster one.
    pub cutoff: f64,
    /// Up to this difference paths are used together, however large the imbalance. 2 ms: a queue adds as much, a
    /// controller measures no delay much better, and in a data centre 20 µs and 400 µs are an imbalance of 0.45.
    pub tolerable: Duration,
    /// Above this difference paths are not used together, however small the imbalance. 100 ms: a change from a fast to a
    /// slow path can delay acknowledgements by as much, and Linux takes a segment for lost that is 200 ms later than the
    /// round-trip time. Half of these are left to queues.
    pub limit: Duration,
}

impl Default for DelayLimits {
    fn default() -> Self {
        Self {
            reorder: 0.15,
            reorder_above: Duration::from_millis(2),
            cutoff: 0.4,
            tolerable: Duration::from_millis(2),
            limit: Duration::from_millis(100),
        }
    }
}

/// Contradictory limits.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum DelayLimitsError {
    /// An imbalance outside its range.
    #[error("{what} is {value}, but must be an imbalance from 0 to 0.5")]
    NoImbalance {
        /// Its name.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Paths would be kept apart before they would be resequenced.
    #[error("reorder is {reorder}, but must not be above cutoff, {cutoff}")]
    ReorderAboveCutoff {
        /// The imbalance above which packets need resequencing.
        reorder: f64,
        /// The imbalance above which paths are not used together.
        cutoff: f64,
    },
    /// The same difference would both join paths and keep them apart.
    #[error("tolerable is {tolerable:?}, but must not be above limit, {limit:?}")]
    TolerableAboveLimit {
        /// The difference up to which paths are used together.
        tolerable: Duration,
        /// The difference above which they are not.
        limit: Duration,
    },
}

/// Whether some paths can carry one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They can.
    Together {
        /// Whether packets must be resequenced at the end of the paths.
        resequence: bool,
    },
    /// They would be slower together than one of them alone.
    Apart,
}

/// The paths that are kept of some candidates.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kept {
    /// Positions among the candidates, those of the lowest delay first.
    pub indices: Vec<usize>,
    /// Whether packets must be resequenced at the end of the paths.
    pub resequence: bool,
    /// The imbalance of the delays that were kept.
    pub mdi: f64,
    /// The difference between the greatest and the least of these delays.
    pub difference: Duration,
}

/// Decides by delay which paths can carry one stream together.
///
/// Source: D. Banfi, O. Mehani, G. Jourjon, L. Schwaighofer, R. Holz, Endpoint-Transparent Multipath Transport with
/// Software-Defined Networks, 2016, §III-B and §V.1.
///
/// ```
/// # use std::time::Duration;
/// # use braid_paths::{DelayGate, Verdict};
/// # use braid_types::BitsPerSec;
/// let gate = DelayGate::default();
/// let [near, far, satellite] = [25, 50, 300].map(Duration::from_millis);
/// assert_eq!(gate.verdict(&[near, far]), Verdict::Together { resequence: true });
/// assert_eq!(gate.verdict(&[near, far, satellite]), Verdict::Apart);
///
/// let rate = BitsPerSec(10_000_000);
/// let kept = gate.choose(&[(satellite, rate), (near, rate), (far, rate)]);
/// assert_eq!(kept.indices, [1, 2]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DelayGate(DelayLimits);

impl DelayGate {
    /// A gate of these limits.
    ///
    /// # Errors
    /// [`DelayLimitsError`].
    pub fn new(limits: DelayLimits) -> Result<Self, DelayLimitsError> {
        let DelayLimits { reorder, cutoff, tolerable, limit, .. } = limits;
        for (what, value) in [("reorder", reorder), ("cutoff", cutoff)] {
            if !(0.0..=0.5).contains(&value) {
                return Err(DelayLimitsError::NoImbalance { what, value });
            }
        }
        if reorder > cutoff {
            return Err(DelayLimitsError::ReorderAboveCutoff { reorder, cutoff });
        }
        if tolerable > limit {
            return Err(DelayLimitsError::TolerableAboveLimit { tolerable, limit });
        }
        Ok(Self(limits))
    }

    /// The maximum delay imbalance, d_max / (d_max + d_min) − 0.5: from 0, for equal delays and for none, to 0.5, where
    /// the least is negligible. (Eq. 1 of the source.)
    pub fn mdi(delays: &[Duration]) -> f64 {
        Spread::of(delays.iter().copied()).mdi()
    }

    /// Whether paths of these delays can carry one stream.
    pub fn verdict(&self, delays: &[Duration]) -> Verdict {
        self.judge(Spread::of(delays.iter().copied()))
    }

    /// The paths, by their delays and rates, that can be used together with the greatest total rate; of several such
    /// sets, the one of the lowest delays.
    ///
    /// A single path always passes, so the set is at least as fast as the best single path. Paths of rate zero only widen
    /// the spread: none of them is kept, unless there are no others; then it is the one of the lowest delay.
    ///
    /// O(n log n).
    pub fn choose(&self, candidates: &[(Duration, BitsPerSec)]) -> Kept {
        let window = self.best_window(candidates);
        let spread = Spread::of(window.iter().map(|index| candidates[*index].0));
        let resequence = self.judge(spread) == Verdict::Together { resequence: true };
        Kept { resequence, mdi: spread.mdi(), difference: spread.difference(), indices: window }
    }

    fn judge(&self, spread: Spread) -> Verdict {
        let (mdi, difference) = (spread.mdi(), spread.difference());
        if difference > self.0.limit || (mdi > self.0.cutoff && difference > self.0.tolerable) {
            return Verdict::Apart;
        }
        Verdict::Together { resequence: mdi > self.0.reorder || difference > self.0.reorder_above }
    }

    /// Only the extremes matter, so the best set is all paths between two delays. A spread that passes still passes
    /// when it shrinks. So as the upper delay rises, the lower one never has to fall.
    fn best_window(&self, candidates: &[(Duration, BitsPerSec)]) -> Vec<usize> {
        let mut order: Vec<_> = (0..candidates.len()).collect();
        order.sort_by_key(|index| (candidates[*index].1.0 == 0, candidates[*index].0));
        let delay = |at: usize| candidates[order[at]].0;
        let rate = |at: usize| u128::from(candidates[order[at]].1.0);
        let (mut first, mut total) = (0, 0);
        let (mut best, mut most) = (0..order.len().min(1), 0);
        for last in (0..order.len()).take_while(|last| rate(*last) > 0) {
            total += rate(last);
            while self.judge(Spread { min: delay(first), max: delay(last) }) == Verdict::Apart {
                total -= rate(first);
                first += 1;
            }
            if total > most {
                (best, most) = (first..last + 1, total);
            }
        }
        order[best].to_vec()
    }
}

/// The extremes of some delays.
#[derive(Debug, Clone, Copy)]
struct Spread {
    min: Duration,
    max: Duration,
}

impl Spread {
    fn of(delays: impl Iterator<Item = Duration> + Clone) -> Self {
        Self { min: delays.clone().min().unwrap_or_default(), max: delays.max().unwrap_or_default() }
    }

    fn difference(self) -> Duration {
        self.max.saturating_sub(self.min)
    }

    // The formula with one fraction: exact for equal delays.
    fn mdi(self) -> f64 {
        let sum = self.max.as_nanos() + self.min.as_nanos();
        if sum == 0 { 0.0 } else { self.difference().as_nanos() as f64 / (2.0 * sum as f64) }
    }
}
