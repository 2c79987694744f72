//! Address pairs and local ports that an advised subflow can use.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use braid_types::{ADVISED_PORTS, common_prefix};

use super::{AdviceRequest, SubflowEnds};

/// Address pairs beyond these are not considered.
const MAX_PAIRS: usize = 64;

impl AdviceRequest {
    /// The pairs of addresses for subflows, best first; the local port is 0.
    ///
    /// The connection's own pair comes first. Then follow those with the longest common prefix, which is also the
    /// order of hosts (RFC 6724, rule 8 of section 5): a host often has no route from one subnet to another. A pair
    /// on which all subflows failed recently is omitted.
    pub fn pairs(&self) -> Vec<SubflowEnds> {
        let own = SubflowEnds { local: (self.connection.local.ip(), 0).into(), ..self.connection };
        let remotes: BTreeSet<SocketAddr> = self.remote_addresses.iter().copied().collect();
        let locals: BTreeSet<IpAddr> = self.local_addresses.iter().copied().collect();
        let pair = |local: &IpAddr, remote: &SocketAddr| SubflowEnds {
            local: SocketAddr::new(*local, 0),
            remote: *remote,
        };
        let all = locals.iter().flat_map(|local| remotes.iter().map(move |remote| pair(local, remote)));
        let mut pairs: Vec<_> = all.filter(|it| is_way(it) && *it != own && self.is_hopeful(it)).collect();
        pairs.sort_by_key(|it| Reverse(common_prefix(it.local.ip(), it.remote.ip())));
        pairs.truncate(MAX_PAIRS - 1);
        if self.is_hopeful(&own) {
            pairs.insert(0, own);
        }
        pairs
    }

    /// Local ports for subflows from an address, each free as far as the request shows.
    ///
    /// The first one depends on the connection's own port, so that connections seldom want the same.
    pub fn free_ports(&self, local: IpAddr) -> impl Iterator<Item = u16> {
        let known = self.subflows.iter().chain(&self.failed).filter(move |it| it.local.ip() == local);
        let taken: BTreeSet<u16> = known.map(|ends| ends.local.port()).collect();
        let count = ADVISED_PORTS.len();
        let start = usize::from(self.connection.local.port()).wrapping_mul(31) % count;
        ADVISED_PORTS.cycle().skip(start).take(count).filter(move |port| !taken.contains(port))
    }

    /// Whether no subflow between these addresses failed recently, or others exist there.
    fn is_hopeful(&self, pair: &SubflowEnds) -> bool {
        let is_between = |it: &SubflowEnds| it.local.ip() == pair.local.ip() && it.remote == pair.remote;
        let first_lives = is_between(&self.connection) && !self.failed.contains(&self.connection);
        first_lives || self.subflows.iter().any(is_between) || !self.failed.iter().any(is_between)
    }
}

fn is_way(pair: &SubflowEnds) -> bool {
    let (local, remote) = (pair.local.ip(), pair.remote.ip());
    local != remote && local.is_ipv4() == remote.is_ipv4() && pair.remote.port() != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(local: &str, remote: &str) -> SubflowEnds {
        SubflowEnds { local: local.parse().unwrap(), remote: remote.parse().unwrap() }
    }

    fn multihomed() -> AdviceRequest {
        AdviceRequest {
            connection: ends("10.0.1.1:40000", "10.0.1.2:5201"),
            local_addresses: ["10.0.1.1", "10.0.2.1", "fd00::1"].map(|it| it.parse().unwrap()).to_vec(),
            remote_addresses: ["10.0.1.2:5201", "10.0.2.2:5201"].map(|it| it.parse().unwrap()).to_vec(),
            subflows: Vec::new(),
            failed: Vec::new(),
            most: 16,
        }
    }

    #[test]
    fn pairs_of_one_subnet_come_before_others_and_the_connection_s_own_first() {
        let pairs = multihomed().pairs();
        assert_eq!(pairs[0], ends("10.0.1.1:0", "10.0.1.2:5201"));
        assert_eq!(pairs[1], ends("10.0.2.1:0", "10.0.2.2:5201"));
        assert_eq!(pairs.len(), 4);
    }

    #[test]
    fn a_pair_that_failed_is_left_alone_unless_a_subflow_of_it_lives() {
        let mut request = multihomed();
        request.failed =
            vec![ends("10.0.2.1:61000", "10.0.2.2:5201"), ends("10.0.1.1:61001", "10.0.1.2:5201")];
        assert!(!request.pairs().contains(&ends("10.0.2.1:0", "10.0.2.2:5201")));
        assert!(request.pairs().contains(&ends("10.0.1.1:0", "10.0.1.2:5201")));
        request.subflows = vec![ends("10.0.2.1:61002", "10.0.2.2:5201")];
        assert!(request.pairs().contains(&ends("10.0.2.1:0", "10.0.2.2:5201")));
    }

    #[test]
    fn ports_in_use_and_ports_that_failed_are_not_free() {
        let mut request = multihomed();
        let local = request.connection.local.ip();
        let first: Vec<_> = request.free_ports(local).take(2).collect();
        let [a, b] = [0, 1].map(|it| ends(&format!("10.0.1.1:{}", first[it]), "10.0.1.2:5201"));
        (request.subflows, request.failed) = (vec![a], vec![b]);
        assert!(request.free_ports(local).all(|port| !first.contains(&port)));
        assert_eq!(request.free_ports(local).count(), ADVISED_PORTS.len() - 2);
        assert_eq!(request.free_ports("10.0.2.1".parse().unwrap()).count(), ADVISED_PORTS.len());
    }

    #[test]
    fn thousands_of_pairs_are_bounded() {
        let mut request = multihomed();
        request.local_addresses = (0..256_u32).map(|it| IpAddr::V4((0x0a01_0000 + it).into())).collect();
        request.remote_addresses =
            (0..256_u32).map(|it| SocketAddr::new(IpAddr::V4((0x0a02_0000 + it).into()), 80)).collect();
        assert_eq!(request.pairs().len(), MAX_PAIRS);
    }
}
