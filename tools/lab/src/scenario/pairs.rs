//! Address pairs between which a connection may have subflows.

use std::net::IpAddr;

use super::{Cidr, Direction, EndpointFlag, Host, Topology};

/// Two addresses between which a subflow may run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AddressPair {
    /// The address of the connecting host.
    pub source: IpAddr,
    /// The address of the accepting host.
    pub destination: IpAddr,
}

impl Topology {
    /// The first address of the sender, and the receiver's first of the same family.
    pub(super) fn first_pair(&self, from: usize, to: usize) -> Option<(IpAddr, IpAddr)> {
        let addresses = |host: usize| {
            let interfaces = self.hosts.get(host).into_iter().flat_map(|host| &host.interfaces);
            interfaces.flat_map(|interface| &interface.addresses).map(|cidr| cidr.address)
        };
        let mut pairs =
            addresses(from).flat_map(|source| addresses(to).map(move |destination| (source, destination)));
        pairs.find(|(source, destination)| source.is_ipv4() == destination.is_ipv4())
    }

    /// The address pairs of the subflows that a connection in `direction` may have, its first subflow's first.
    ///
    /// The client connects from its own endpoints to the server's first address, and from the address that shares
    /// a subnet to each address that the server announces.
    pub fn address_pairs(&self, direction: &Direction) -> Vec<AddressPair> {
        let (client, server) = (&self.hosts[direction.from], &self.hosts[direction.to]);
        let mut pairs = vec![AddressPair { source: direction.source, destination: direction.destination }];
        if client.mptcp.subflows > 0 {
            let own = endpoints(client, |flag| flag != EndpointFlag::Signal);
            pairs.extend(own.map(|source| AddressPair { source, destination: direction.destination }));
        }
        if client.mptcp.accept_addresses > 0 {
            let announced = endpoints(server, |flag| flag == EndpointFlag::Signal);
            let source = |destination| neighbour(client, destination).unwrap_or(direction.source);
            pairs.extend(
                announced.map(|destination| AddressPair { source: source(destination), destination }),
            );
        }
        pairs.retain(|pair| pair.source.is_ipv4() == pair.destination.is_ipv4());
        pairs
    }
}

fn endpoints(host: &Host, wanted: impl Fn(EndpointFlag) -> bool) -> impl Iterator<Item = IpAddr> {
    let endpoints = host.mptcp.endpoints.iter();
    endpoints.filter(move |it| it.flags.iter().any(|flag| wanted(*flag))).map(|it| it.address)
}

fn neighbour(host: &Host, address: IpAddr) -> Option<IpAddr> {
    let mut addresses = host.interfaces.iter().flat_map(|interface| &interface.addresses);
    addresses.find(|cidr: &&Cidr| cidr.contains(address)).map(|cidr| cidr.address)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::scenario::Scenario;

    fn pairs(scenario: &str) -> Vec<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{scenario}.yaml"));
        let scenario = Scenario::load(&path).unwrap();
        let direction = &scenario.traffic.as_ref().unwrap().directions[0];
        let pairs = scenario.topology.address_pairs(direction).into_iter();
        pairs.map(|pair| format!("{} > {}", pair.source, pair.destination)).collect()
    }

    #[test]
    fn announced_addresses_are_reached_from_their_own_subnet() {
        assert_eq!(pairs("ams-gva"), ["10.0.1.1 > 10.0.1.2", "10.0.2.1 > 10.0.2.2"]);
    }

    #[test]
    fn own_endpoints_connect_to_the_first_address_of_the_server() {
        assert_eq!(pairs("two-paths"), ["10.0.0.1 > 10.0.0.2", "10.0.0.11 > 10.0.0.2"]);
    }
}
