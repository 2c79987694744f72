//! Spraying of a flow between two edges, as the controller would set it up.

use std::sync::Arc;
use std::time::Duration;

use braid_paths::{DelayGate, PathFinder, latency, unknown_delay};
use braid_sim::testbed::Spread;
use braid_spray::{HoldTime, PathWeight, Settings};
use braid_topology::Graph;
use braid_types::{BitsPerSec, DatapathId};

/// As in `core/control`, `brain/spray/plan`: queues hold packets up by so much, and so many paths go together at most.
const QUEUES: Duration = Duration::from_millis(250);
const MOST_PATHS: usize = 64;

/// How the controller sprays a flow between two edges of a network that nobody else uses; nothing if there are no two paths that
/// go together.
pub(super) fn spread(graph: &Arc<Graph>, (from, to): (DatapathId, DatapathId)) -> Option<Spread> {
    let capacity = |edge| graph.state(edge).capacity;
    let flow = PathFinder::by_hops(graph.clone()).max_flow(from, to, MOST_PATHS, capacity);
    let unknown = unknown_delay(graph);
    let known = flow.paths.into_iter();
    let known: Vec<_> =
        known.filter_map(|(path, rate)| Some((latency(&path, graph, unknown)?, rate, path))).collect();
    let pairs: Vec<_> = known.iter().map(|(delay, rate, _)| (*delay, *rate)).collect();
    let kept = DelayGate::default().choose(&pairs);
    let chosen: Vec<_> = kept.indices.iter().filter_map(|index| known.get(*index)).collect();
    let weight = |delay: Duration, rate: BitsPerSec| PathWeight {
        weight: u32::try_from(rate.0 / 1_000).unwrap_or(u32::MAX).max(1),
        rate: Some(rate),
        delay,
    };
    let paths = chosen.iter().map(|(delay, rate, path)| (path.clone(), weight(*delay, *rate))).collect();
    let total: u64 = chosen.iter().map(|(_, rate, _)| rate.0).fold(0, u64::saturating_add);
    let order = kept.resequence.then(|| order(chosen.len(), BitsPerSec(total), kept.difference));
    (chosen.len() > 1).then_some(Spread { paths, order })
}

fn order(paths: usize, total: BitsPerSec, difference: Duration) -> Settings {
    let behind = difference + QUEUES;
    let threshold = (total.as_f64() / 8.0 * behind.as_secs_f64()) as u64;
    let threshold = threshold.clamp(256 << 10, 16 << 20) as u32;
    Settings {
        threshold,
        hold: HoldTime::Measured { least: Duration::from_millis(5), most: behind + difference / 2 },
        paths: u8::try_from(paths).unwrap_or(u8::MAX),
        bytes: u64::from(threshold).saturating_mul(2).clamp(2 << 20, 32 << 20),
        packets: 32_768,
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests {
    use braid_topology::{Link, LinkState};
    use braid_types::{PortNo, SwitchPort};

    use super::*;

    /// Two parallel cables of so many Mbit/s and milliseconds.
    fn two(cables: [(u64, u64); 2]) -> Option<Spread> {
        let links = (1..).zip(cables).flat_map(|(port, (mbit, millis))| {
            let [src, dst] = [1, 2].map(|dpid| SwitchPort::new(DatapathId(dpid), PortNo(port)));
            let delay = Some(Duration::from_millis(millis));
            let state = LinkState { delay, ..LinkState::of_capacity(BitsPerSec(mbit * 1_000_000)) };
            [(Link { src, dst }, state), (Link { src: dst, dst: src }, state)]
        });
        spread(&Arc::new(Graph::new(0, [], links)), (DatapathId(1), DatapathId(2)))
    }

    #[test]
    fn shares_are_those_of_the_rates_and_order_is_restored_where_delays_differ() {
        let unequal = two([(50, 10), (100, 30)]).unwrap();
        let mut weights: Vec<_> =
            unequal.paths.iter().map(|(_, it)| (it.weight, it.delay.as_millis())).collect();
        weights.sort_unstable();
        assert_eq!(weights, [(50_000, 10), (100_000, 30)]);
        assert_eq!(unequal.order.unwrap().paths, 2);
        assert_eq!(two([(10, 20), (10, 20)]).unwrap().order, None);
    }

    #[test]
    fn paths_that_do_not_go_together_are_not_sprayed_over() {
        assert!(two([(10, 1), (10, 300)]).is_none());
    }
}
