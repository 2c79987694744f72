//! Which paths go together, what each has to spare, and how much has to be held to put their packets in order.

use std::time::Duration;

use braid_paths::{DelayGate, DelayLimits, Path, latency, unknown_delay};
use braid_spray::{HoldTime, Settings};
use braid_steering::Resequence;
use braid_types::BitsPerSec;

use super::{BundleKey, Spray, SprayPolicy};
use crate::context::Context;

/// Queues may hold a packet up by so much beyond the delay of its path.
const QUEUES: Duration = Duration::from_millis(250);
/// A group has no more buckets.
const MOST_PATHS: usize = 64;

/// Paths that go together.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Plan {
    /// Those of the lowest delay first.
    pub(super) paths: Vec<Planned>,
    /// Whether their delays are so unequal that packets have to be put in order.
    pub(super) is_unequal: bool,
    /// How unequal they are.
    pub(super) mdi: f64,
    /// How much the greatest delay is above the least.
    pub(super) difference: Duration,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Planned {
    pub(super) path: Path,
    pub(super) rate: BitsPerSec,
    pub(super) delay: Duration,
}

impl Spray {
    /// The paths of the greatest flow over what others leave of the links, as far as their delays go together.
    ///
    /// Source: Banfi et al. 2016, §III-B.
    pub(super) fn plan(&self, cx: &Context<'_>, BundleKey { ends, policy }: BundleKey) -> Plan {
        let graph = cx.paths.graph();
        let room = |edge| self.cross_traffic.room(graph.link(edge), graph.state(edge).capacity);
        let flow = cx.paths.max_flow(ends, policy.k.min(MOST_PATHS), room);
        let unknown = unknown_delay(graph);
        let usable = flow.paths.into_iter().filter(|(path, _)| !cx.paths.is_suspended(path, cx.now));
        let candidates: Vec<_> = usable
            .filter_map(|(path, rate)| Some(Planned { delay: latency(&path, graph, unknown)?, path, rate }))
            .collect();
        let pairs: Vec<_> = candidates.iter().map(|it| (it.delay, it.rate)).collect();
        let kept = gate(policy).choose(&pairs);
        let paths = kept.indices.iter().filter_map(|index| candidates.get(*index).cloned()).collect();
        Plan { paths, is_unequal: kept.resequence, mdi: kept.mdi, difference: kept.difference }
    }
}

/// What the paper's thresholds are by default, but for what a policy says.
fn gate(policy: SprayPolicy) -> DelayGate {
    let limits = DelayLimits::default();
    let cutoff = policy.max_mdi.map_or(limits.cutoff, braid_steering::Imbalance::share);
    // All of these are in range, so that the default is never needed.
    DelayGate::new(DelayLimits { cutoff, reorder: limits.reorder.min(cutoff), ..limits }).unwrap_or_default()
}

impl Plan {
    /// What all paths have to spare.
    pub(super) fn total(&self) -> BitsPerSec {
        BitsPerSec(self.paths.iter().map(|it| it.rate.0).fold(0, u64::saturating_add))
    }

    /// How packets are put in order; `None` if they are not.
    pub(super) fn order(&self, resequence: Resequence) -> Option<Settings> {
        let wanted = match resequence {
            Resequence::Always => self.paths.len() > 1,
            Resequence::Unequal => self.is_unequal,
            Resequence::Never => false,
        };
        let paths = u8::try_from(self.paths.len()).unwrap_or(u8::MAX);
        let threshold = self.threshold();
        let most = QUEUES + self.difference + self.difference / 2;
        wanted.then(|| Settings {
            threshold,
            hold: HoldTime::Measured { least: Duration::from_millis(5), most },
            paths,
            flows: 4_096,
            packets: 32_768,
            bytes: u64::from(threshold).saturating_mul(2).clamp(2 << 20, 32 << 20),
            ..Settings::default()
        })
    }

    /// T of the paper: what all paths carry while the slowest one is behind the fastest, by delay and by queues.
    fn threshold(&self) -> u32 {
        let delays = || self.paths.iter().map(|it| it.delay);
        let sum = delays().max().unwrap_or_default() + delays().min().unwrap_or_default();
        // MDI = d_max / (d_max + d_min) − 0.5, so that this is d_max − d_min.
        let behind = sum.as_secs_f64() * 2.0 * self.mdi + QUEUES.as_secs_f64();
        let bytes = self.total().as_f64() / 8.0 * behind;
        (bytes as u64).clamp(256 << 10, 16 << 20) as u32
    }
}

#[cfg(test)]
mod tests {
    use braid_types::DatapathId;

    use super::*;

    fn plan(delays: [u64; 2], mbits: u64) -> Plan {
        let delays = delays.map(Duration::from_millis);
        let path = Path::within(DatapathId(1));
        let planned = |delay| Planned { path: path.clone(), rate: BitsPerSec(mbits * 1_000_000), delay };
        let difference = delays[1] - delays[0];
        Plan {
            paths: delays.map(planned).to_vec(),
            is_unequal: true,
            mdi: DelayGate::mdi(&delays),
            difference,
        }
    }

    #[test]
    fn more_is_held_the_more_unequal_and_the_faster_paths_are() {
        let settings = |delays, mbits| plan(delays, mbits).order(Resequence::Always).expect("two paths");
        // 200 Mbit/s for 20 ms, and for 250 ms of queues.
        assert_eq!(settings([10, 30], 100).threshold, 6_750_000);
        assert!(settings([10, 10], 100).threshold < settings([10, 30], 100).threshold);
        assert!(settings([10, 30], 50).threshold < settings([10, 30], 100).threshold);
        let HoldTime::Measured { most, .. } = settings([10, 30], 100).hold else { panic!("fixed") };
        assert_eq!(most, Duration::from_millis(280));
        assert!(settings([0, 99], 100_000).check().is_ok());
    }

    #[test]
    fn what_is_not_to_be_put_in_order_is_not() {
        assert_eq!(plan([10, 30], 1).order(Resequence::Never), None);
        let equal = Plan { is_unequal: false, ..plan([10, 10], 1) };
        assert_eq!(equal.order(Resequence::Unequal), None);
        assert!(equal.order(Resequence::Always).is_some());
    }
}
