//! Networks, and pairs of switches in them.

use std::collections::BTreeSet;

use braid_topology::Blueprint;
use braid_topology::generate::{Links, Spec};
use braid_types::{DatapathId, SplitMix64};

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
    let mut random = SplitMix64::new(SEED);
    // By remainder, so that measurements stay those of the same pairs.
    let mut below = |limit: usize| (random.next_u64() % limit as u64) as usize;
    let mut pair = || {
        let from = below(edge.len());
        let to = (from + 1 + below(edge.len() - 1)) % edge.len();
        (edge[from], edge[to])
    };
    (0..count).map(|_| pair()).collect()
}
