//! Spray plans: the paths that carry one flow together, their shares, and the buffer that resequences its packets.

use std::time::Duration;

use braid_paths::{DelayGate, DelayLimits, Path, PathFinder, latency, unknown_delay};
use braid_spray::{HoldTime, PathWeight, Settings};
use braid_steering::{Imbalance, Resequence};
use braid_topology::EdgeIndex;
use braid_types::{BitsPerSec, SwitchPair};

use crate::SprayPolicy;

/// The greatest queueing delay of a packet beyond the delay of its path.
const MAX_QUEUE_DELAY: Duration = Duration::from_millis(250);
/// The least hold time, however equal the measured paths are.
const MIN_HOLD: Duration = Duration::from_millis(5);
/// The greatest number of buckets of a group.
const MAX_MEMBERS: usize = 64;
/// The unit of weights. Any smaller rate has a weight of one; only a rate of zero has none.
const WEIGHT_UNIT: BitsPerSec = BitsPerSec(10_000);

/// Paths that are used together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SprayPlan {
    /// Those of the lowest delay first.
    pub members: Vec<SprayMember>,
    /// Whether their delays are so unequal that packets have to be resequenced.
    pub is_unequal: bool,
    /// Their maximum delay imbalance, from 0 to 0.5.
    pub mdi: f64,
    /// The difference between the greatest and the least delay.
    pub difference: Duration,
}

/// A path of a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct SprayMember {
    /// From the sender's edge to the receiver's.
    pub path: Path,
    /// Its part of the maximum flow.
    pub rate: BitsPerSec,
    /// Its delay with empty queues.
    pub delay: Duration,
}

impl SprayPolicy {
    /// The paths of the maximum flow over the `room` of each link, in bits a second, as far as they are usable and
    /// the delay gate accepts them together. With one path or none, there is nothing to spray over.
    ///
    /// The greatest delay in the graph replaces unknown delays. The policy sets the number of paths, 64 at most.
    ///
    /// Source: Banfi et al. 2016, §III-B.
    #[must_use]
    pub fn plan(
        self,
        finder: &mut PathFinder,
        ends: SwitchPair,
        room: impl Fn(EdgeIndex) -> BitsPerSec,
        is_usable: impl Fn(&Path) -> bool,
    ) -> SprayPlan {
        let flow = finder.max_flow(ends.src, ends.dst, self.k.min(MAX_MEMBERS), room);
        let graph = finder.graph();
        let unknown = unknown_delay(graph);
        let usable = flow.paths.into_iter().filter(|(path, _)| is_usable(path));
        let candidates: Vec<_> = usable
            .filter_map(|(path, rate)| {
                Some(SprayMember { delay: latency(&path, graph, unknown)?, path, rate })
            })
            .collect();
        let pairs: Vec<_> = candidates.iter().map(|it| (it.delay, it.rate)).collect();
        let kept = self.gate().choose(&pairs);
        let members = kept.indices.iter().filter_map(|index| candidates.get(*index).cloned()).collect();
        SprayPlan { members, is_unequal: kept.resequence, mdi: kept.mdi, difference: kept.difference }
    }

    /// The paper's thresholds, except where the policy sets others.
    fn gate(self) -> DelayGate {
        let limits = DelayLimits::default();
        let cutoff = self.max_mdi.map_or(limits.cutoff, Imbalance::share);
        let limit = self.max_delay_difference.unwrap_or(limits.limit);
        // All of these are in range, so the default is never used.
        let (reorder, tolerable) = (limits.reorder.min(cutoff), limits.tolerable.min(limit));
        DelayGate::new(DelayLimits { cutoff, reorder, tolerable, limit, ..limits }).unwrap_or_default()
    }
}

impl SprayPlan {
    /// Whether there are several paths.
    pub fn is_multipath(&self) -> bool {
        self.members.len() > 1
    }

    /// The total rate of all paths.
    pub fn total(&self) -> BitsPerSec {
        BitsPerSec(self.members.iter().map(|it| it.rate.0).fold(0, u64::saturating_add))
    }

    /// The settings of the resequencer; `None` without resequencing. The greatest hold time is 1.5 times the greatest
    /// difference of delays, plus the queueing allowance.
    pub fn resequencing(&self, resequence: Resequence) -> Option<Settings> {
        let wanted = match resequence {
            Resequence::Always => self.is_multipath(),
            Resequence::Unequal => self.is_unequal,
            Resequence::Never => false,
        };
        let paths = u8::try_from(self.members.len()).unwrap_or(u8::MAX);
        let threshold = self.threshold();
        let most = MAX_QUEUE_DELAY + self.difference + self.difference / 2;
        wanted.then(|| Settings {
            threshold,
            hold: HoldTime::Measured { least: MIN_HOLD, most },
            paths,
            flows: 4_096,
            packets: 32_768,
            bytes: u64::from(threshold).saturating_mul(2).clamp(2 << 20, 32 << 20),
            ..Settings::default()
        })
    }

    /// T of the paper, in bytes: the traffic of all paths while the slowest is behind the fastest, by delay and by
    /// queues.
    fn threshold(&self) -> u32 {
        let delays = || self.members.iter().map(|it| it.delay);
        let sum = delays().max().unwrap_or_default() + delays().min().unwrap_or_default();
        // MDI = d_max / (d_max + d_min) − 0.5, so this is d_max − d_min.
        let behind = sum.as_secs_f64() * 2.0 * self.mdi + MAX_QUEUE_DELAY.as_secs_f64();
        let bytes = self.total().as_f64() / 8.0 * behind;
        (bytes as u64).clamp(256 << 10, 16 << 20) as u32
    }
}

impl SprayMember {
    /// The path's properties for the scheduler.
    pub fn weight(&self) -> PathWeight {
        path_weight(self.rate, self.delay)
    }
}

/// The scheduler's properties of a path with this rate: a weight in units of 10 kbit/s, zero only for a rate of zero.
pub fn path_weight(rate: BitsPerSec, delay: Duration) -> PathWeight {
    let weight = rate.0.div_ceil(WEIGHT_UNIT.0).min(u32::MAX.into()) as u32;
    PathWeight { weight, rate: Some(rate), delay }
}

/// The bytes that one path takes in a row, for this total rate: the traffic of 50 µs, and no more than a GSO packet.
///
/// Shorter bursts need less resequencing; longer ones let more frames leave as one GSO packet. Up to 240 Mbit/s each
/// packet is decided by itself.
pub fn burst(total: BitsPerSec) -> u32 {
    (total.0 / 8 / 20_000).min(u16::MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use braid_topology::{Graph, Link, LinkState};
    use braid_types::{DatapathId, PortNo, SwitchPort};

    use super::*;

    fn plan(delays: [u64; 2], mbits: u64) -> SprayPlan {
        let delays = delays.map(Duration::from_millis);
        let path = Path::within(DatapathId(1));
        let member = |delay| SprayMember { path: path.clone(), rate: BitsPerSec(mbits * 1_000_000), delay };
        let difference = delays[1] - delays[0];
        SprayPlan {
            members: delays.map(member).to_vec(),
            is_unequal: true,
            mdi: DelayGate::mdi(&delays),
            difference,
        }
    }

    /// The plan over two parallel links of so many Mbit/s and milliseconds.
    fn two_links(links: [(u64, u64); 2]) -> SprayPlan {
        two_links_within(links, None)
    }

    /// The same with another limit of their difference, and none of their imbalance.
    fn two_links_within(links: [(u64, u64); 2], limit: Option<u64>) -> SprayPlan {
        let links = (1..).zip(links).flat_map(|(port, (mbit, millis))| {
            let [src, dst] = [1, 2].map(|dpid| SwitchPort::new(DatapathId(dpid), PortNo(port)));
            let delay = Some(Duration::from_millis(millis));
            let state = LinkState { delay, ..LinkState::of_capacity(BitsPerSec(mbit * 1_000_000)) };
            [(Link { src, dst }, state), (Link { src: dst, dst: src }, state)]
        });
        let graph = Arc::new(Graph::new(0, [], links));
        let policy = SprayPolicy {
            k: 8,
            resequence: Resequence::Unequal,
            max_mdi: limit.and_then(|_| Imbalance::try_from(0.5).ok()),
            max_delay_difference: limit.map(Duration::from_millis),
        };
        let ends = SwitchPair::new(DatapathId(1), DatapathId(2));
        let capacity = |edge| graph.state(edge).capacity;
        policy.plan(&mut PathFinder::by_hops(graph.clone()), ends, capacity, |_| true)
    }

    #[test]
    fn members_have_the_rates_of_their_paths_and_are_resequenced_where_delays_differ() {
        let unequal = two_links([(50, 10), (100, 30)]);
        let members = unequal.members.iter().map(|it| (it.rate.0 / 1_000_000, it.delay.as_millis()));
        assert_eq!(members.collect::<Vec<_>>(), [(50, 10), (100, 30)]);
        assert_eq!(unequal.resequencing(Resequence::Unequal).expect("unequal delays").paths, 2);
        assert_eq!(two_links([(10, 20), (10, 20)]).resequencing(Resequence::Unequal), None);
    }

    #[test]
    fn paths_of_too_unequal_delays_are_not_used_together() {
        assert_eq!(two_links([(10, 1), (10, 300)]).members.len(), 1);
    }

    #[test]
    fn a_policy_has_paths_of_any_delays_used_together_or_only_equal_ones() {
        let members = |limit| two_links_within([(10, 25), (10, 475)], limit).members.len();
        assert_eq!([None, Some(449), Some(450)].map(members), [1, 1, 2]);
        assert_eq!(two_links_within([(10, 25), (10, 26)], Some(0)).members.len(), 1);
    }

    #[test]
    fn more_is_held_the_more_unequal_and_the_faster_paths_are() {
        let settings =
            |delays, mbits| plan(delays, mbits).resequencing(Resequence::Always).expect("two paths");
        // 200 Mbit/s for 20 ms, and for 250 ms of queues.
        assert_eq!(settings([10, 30], 100).threshold, 6_750_000);
        assert!(settings([10, 10], 100).threshold < settings([10, 30], 100).threshold);
        assert!(settings([10, 30], 50).threshold < settings([10, 30], 100).threshold);
        let HoldTime::Measured { most, .. } = settings([10, 30], 100).hold else { panic!("fixed") };
        assert_eq!(most, Duration::from_millis(280));
        assert!(settings([0, 99], 100_000).check().is_ok());
        assert!(settings([0, 1_000], 100_000).check().is_ok());
    }

    #[test]
    fn what_is_not_to_be_resequenced_is_not() {
        assert_eq!(plan([10, 30], 1).resequencing(Resequence::Never), None);
        let equal = SprayPlan { is_unequal: false, ..plan([10, 10], 1) };
        assert_eq!(equal.resequencing(Resequence::Unequal), None);
        assert!(equal.resequencing(Resequence::Always).is_some());
    }

    #[test]
    fn weights_are_in_proportion_to_rates_and_none_only_of_nothing() {
        let weight = |rate| path_weight(BitsPerSec(rate), Duration::ZERO).weight;
        assert_eq!([0, 1, 50_000_000, 100_000_000].map(weight), [0, 1, 5_000, 10_000]);
    }

    #[test]
    fn the_faster_the_paths_are_the_more_leaves_in_a_row() {
        let burst = |mbits: u64| burst(BitsPerSec(mbits * 1_000_000));
        assert_eq!([200, 2_000, 20_000, u64::MAX / 1_000_000].map(burst), [1_250, 12_500, 65_535, 65_535]);
    }
}
