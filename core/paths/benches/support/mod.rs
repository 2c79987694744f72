//! Networks, and pairs of switches in them.

use std::collections::BTreeSet;

use braid_topology::Blueprint;
use braid_topology::generate::{Links, Spec};
use braid_types::DatapathId;

const SEED: u64 = 1;

/// The network that a [`Spec`] describes.
pub(crate) fn network(spec: &str) -> Blueprint {
    let spec: Spec = spec.parse().expect("a spec");
    spec.generate(Links::default()).expect("sizes that exist")
}

/// Pairs of different switches that have hosts.
pub(crate) fn pairs(network: &Blueprint, count: usize) -> Vec<(DatapathId, DatapathId)> {
    let interfaces = network.hosts().iter().flat_map(|host| &host.interfaces);
    let edge: BTreeSet<_> = interfaces.map(|interface| network.port_at(interface.end).dpid).collect();
    let edge: Vec<_> = edge.into_iter().collect();
    let mut state = SEED;
    let mut below = |limit: usize| (split_mix(&mut state) % limit as u64) as usize;
    let mut pair = || {
        let from = below(edge.len());
        let to = (from + 1 + below(edge.len() - 1)) % edge.len();
        (edge[from], edge[to])
    };
    (0..count).map(|_| pair()).collect()
}

/// The next of a sequence of random numbers. Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014.
const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
