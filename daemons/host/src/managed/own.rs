//! Advice that the agent gives itself when no controller answers.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_api::{Advice, AdviceRequest, SubflowEnds};
use braid_types::ADVISED_PORTS;

/// The agent's own advice without a controller: `subflows` in total, the first one included, the same number between
/// every pair of addresses as far as possible.
///
/// Open subflows stay, even if there are more: a controller that is silent for a moment costs none. What has failed is not
/// tried again from the same port.
#[must_use]
pub fn advise(request: &AdviceRequest, subflows: usize) -> Advice {
    let wanted = subflows.saturating_sub(1).min(request.max_subflows);
    let mut advised: Vec<_> = request.subflows.iter().take(request.max_subflows).copied().collect();
    let mut ports = free_ports(request);
    while advised.len() < wanted {
        let least = pairs(request).min_by_key(|pair| uses(request, &advised, pair));
        let (Some(mut ends), Some(port)) = (least, ports.next()) else { break };
        ends.local.set_port(port);
        advised.push(ends);
    }
    Advice { subflows: advised, ask_again_after: None }
}

/// Every local address with every remote one that it can reach; that of the first subflow comes first.
fn pairs(request: &AdviceRequest) -> impl Iterator<Item = SubflowEnds> {
    let remotes = request.remote_addresses.iter();
    let others = remotes.flat_map(|remote| {
        let locals = request.local_addresses.iter().filter(move |local| is_way(**local, remote.ip()));
        locals.map(move |local| SubflowEnds { local: (*local, 0).into(), remote: *remote })
    });
    std::iter::once(request.connection).chain(others)
}

/// A host's way to its own address is not one over the network.
fn is_way(local: IpAddr, remote: IpAddr) -> bool {
    local != remote && local.is_ipv4() == remote.is_ipv4()
}

/// How many subflows are between the addresses of `pair`.
fn uses(request: &AdviceRequest, advised: &[SubflowEnds], pair: &SubflowEnds) -> usize {
    let is_between = |it: &&SubflowEnds| it.local.ip() == pair.local.ip() && it.remote == pair.remote;
    std::iter::once(&request.connection).chain(advised).filter(is_between).count()
}

/// Starting anywhere, so that connections seldom get in each other's way: by the connection's own port.
fn free_ports(request: &AdviceRequest) -> impl Iterator<Item = u16> {
    let known = request.subflows.iter().chain(&request.failed);
    let taken: BTreeSet<u16> = known.map(|ends| ends.local.port()).collect();
    let count = ADVISED_PORTS.len();
    let start = usize::from(request.connection.local.port()).wrapping_mul(31) % count;
    ADVISED_PORTS.cycle().skip(start).take(count).filter(move |port| !taken.contains(port))
}
