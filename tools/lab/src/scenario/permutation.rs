//! Permutation traffic: every host sends to one host and receives from one. Raiciu et al. (2011).

use braid_types::{reduce, shuffle};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Direction, OwnSettings, Topology};

/// The directions of permutation traffic: every host sends to another one and receives from one.
///
/// `None` with less than two hosts, or without addresses of a common family.
pub(super) fn directions(topology: &Topology, seed: u64) -> Option<Vec<Direction>> {
    // The boxes of sites are among the hosts, and send nothing of their own.
    let count = if topology.sites.is_some() { 0 } else { topology.hosts.len() };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let receivers = (count > 1).then(|| derangement(count, &mut random))?;
    let direction = |(from, to)| {
        let (source, destination) = topology.first_pair(from, to)?;
        Some(Direction { from, to, source, destination, own: OwnSettings::default() })
    };
    receivers.into_iter().enumerate().map(direction).collect()
}

/// A random derangement of the numbers below `count`, uniformly distributed.
fn derangement(count: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<_> = (0..count).collect();
    // One in e permutations is a derangement, from two numbers on.
    loop {
        shuffle(&mut order, |bound| reduce(random.next_u64(), bound));
        if order.iter().enumerate().all(|(place, number)| place != *number) {
            return order;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn nobody_sends_to_itself_and_everybody_receives_once() {
        for count in 2..40 {
            for seed in 0..20 {
                let order = derangement(count, &mut ChaCha8Rng::seed_from_u64(seed));
                assert!(order.iter().enumerate().all(|(place, number)| place != *number));
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn each_of_the_nine_orders_of_four_is_about_as_likely() {
        let mut seen: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        (0..9_000).for_each(|_| *seen.entry(derangement(4, &mut random)).or_default() += 1);
        assert_eq!(seen.len(), 9);
        assert!(seen.values().all(|count| (850..1_150).contains(count)), "{seen:?}");
    }
}
