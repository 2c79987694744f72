//! The delay gate's verdict on a set of paths, as users see it.

use braid_topology::Graph;
use braid_types::BitsPerSec;

use super::PathView;
use super::latency::{known_latency, micros};
use crate::{DelayGate, Path, Verdict};

/// Whether the paths can carry one stream together, by their delays; see [`DelayGate`].
#[derive(Debug, Clone, PartialEq)]
pub struct SprayingView {
    /// The verdict.
    pub verdict: SprayVerdict,
    /// The maximum delay imbalance, 0 to 0.5.
    pub mdi: f64,
    /// The difference between the greatest and the least delay, in microseconds.
    pub delay_difference_us: f64,
    /// The indices, from 0, of the paths that can be used together and have the most available capacity in total.
    pub best_paths: Vec<usize>,
}

/// The ways in which paths can carry one stream together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SprayVerdict {
    /// Without resequencing.
    InOrder,
    /// If its packets are resequenced at the end of the paths.
    Resequenced,
    /// They would be slower than one of them.
    Unsuitable,
}

impl SprayingView {
    /// Judges two paths or more, if all their delays are known.
    pub(super) fn of(graph: &Graph, paths: &[Path], views: &[PathView]) -> Option<Self> {
        let rates = views.iter().map(|view| BitsPerSec(view.rate_bps.unwrap_or(u64::MAX)));
        let figures = paths.iter().zip(rates).map(|(path, rate)| Some((known_latency(path, graph)?, rate)));
        let figures: Vec<_> = figures.collect::<Option<_>>()?;
        let delays: Vec<_> = figures.iter().map(|(delay, _)| *delay).collect();
        let difference = delays.iter().max()?.saturating_sub(*delays.iter().min()?);
        let gate = DelayGate::default();
        let mut best_paths = gate.choose(&figures).indices;
        best_paths.sort_unstable();
        (views.len() > 1).then(|| Self {
            verdict: gate.verdict(&delays).into(),
            mdi: DelayGate::mdi(&delays),
            delay_difference_us: micros(difference),
            best_paths,
        })
    }
}

impl From<Verdict> for SprayVerdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Together { resequence: false } => Self::InOrder,
            Verdict::Together { resequence: true } => Self::Resequenced,
            Verdict::Apart => Self::Unsuitable,
        }
    }
}
