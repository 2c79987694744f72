//! A scenario's network as a blueprint, with the ports that a lab uses.

use std::collections::BTreeMap;

use braid_link_model::Parameters;
use braid_topology::LinkState;
use braid_topology::blueprint::{Blueprint, BlueprintError, NewInterface, NewSwitch, Plug, Position};
use braid_types::{BitsPerSec, PortNo};

use super::{End, Scenario, Topology, Tunnel};

impl Scenario {
    /// The network as a blueprint, with the switches' port numbers in a lab: from 1, in the order of the file's links.
    ///
    /// # Errors
    ///
    /// [`BlueprintError`] if the network is too large, or the scenario was not checked.
    pub fn blueprint(&self) -> Result<Blueprint, BlueprintError> {
        let topology = &self.topology;
        let mut builder = Blueprint::builder(&self.name);
        for switch in &topology.switches {
            let dpid = Some(switch.dpid);
            let position = switch.place.and_then(|[latitude, longitude]| Position::new(latitude, longitude));
            let group = switch.group.clone();
            builder.switch(NewSwitch { dpid, position, group, ..NewSwitch::named(&switch.name) })?;
        }
        let mut ports = Ports(vec![0; topology.switches.len()]);
        let mut attached: Vec<Vec<_>> = topology.hosts.iter().map(|_| Vec::new()).collect();
        let mut uplinks = BTreeMap::new();
        for (place, link) in topology.links.iter().enumerate() {
            let [there, back] = link.directions.map(state);
            match link.ends {
                [End::Switch(switch), End::Host { host, .. }]
                | [End::Host { host, .. }, End::Switch(switch)]
                    if topology.hosts[host].router =>
                {
                    uplinks.insert(place, ports.next(switch));
                }
                [End::Switch(a), End::Switch(b)] => {
                    builder.directed_link([ports.next(a), ports.next(b)], [Some(there), Some(back)])?;
                }
                [End::Host { host, interface }, End::Switch(switch)] => {
                    attached[host].push((interface, ports.attach(switch, [there, back])));
                }
                [End::Switch(switch), End::Host { host, interface }] => {
                    attached[host].push((interface, ports.attach(switch, [back, there])));
                }
                // A checked scenario has no link between two hosts.
                [End::Host { .. }, End::Host { .. }] => {}
            }
        }
        for tunnel in &topology.tunnels {
            let plugs = tunnel.links.map(|link| uplinks.get(&link).copied());
            if let [Some(a), Some(b)] = plugs {
                builder.directed_link([a, b], topology.tunnel_states(tunnel).map(Some))?;
            }
        }
        for (host, mut interfaces) in topology.hosts.iter().zip(attached).filter(|(host, _)| !host.router) {
            interfaces.sort_by_key(|(place, _)| *place);
            builder.host_with(&host.name, interfaces.into_iter().map(|(_, it)| it).collect())?;
        }
        Ok(builder.build())
    }
}

impl Topology {
    /// The state of both directions of a tunnel, from its two uplinks, as the routers between them are unknown.
    fn tunnel_states(&self, tunnel: &Tunnel) -> [LinkState; 2] {
        // The directions out of and into the edge.
        let [near, far] = tunnel.links.map(|link| {
            let [there, back] = self.links[link].directions;
            let is_out = matches!(self.links[link].ends[0], End::Switch(_));
            if is_out { (there, back) } else { (back, there) }
        });
        [joined(near.0, far.1), joined(far.0, near.1)]
    }
}

fn joined(first: Parameters, then: Parameters) -> LinkState {
    let (first, then) = (state(first), state(then));
    let delay = match (first.delay, then.delay) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or_default() + b.unwrap_or_default()),
    };
    LinkState { delay, ..LinkState::of_capacity(first.capacity.min(then.capacity)) }
}

/// The last used port of each switch.
struct Ports(Vec<u32>);

impl Ports {
    fn next(&mut self, switch: usize) -> Plug {
        self.0[switch] += 1;
        Plug { switch, port: Some(PortNo(self.0[switch])) }
    }

    fn attach(&mut self, switch: usize, states: [LinkState; 2]) -> NewInterface {
        NewInterface { plug: self.next(switch), states }
    }
}

/// The delay of a link without a configured delay is unknown.
fn state(direction: Parameters) -> LinkState {
    let delay = Some(direction.delay.duration()).filter(|delay| !delay.is_zero());
    LinkState { delay, ..LinkState::of_capacity(direction.rate.unwrap_or(BitsPerSec(u64::MAX))) }
}

#[cfg(test)]
mod tests {
    use braid_topology::blueprint::Position;
    use braid_types::{BitsPerSec, DatapathId};

    use crate::Scenario;

    #[test]
    fn tunnels_are_drawn_in_the_place_of_uplinks_and_routers_are_not() {
        let text = "{scenario: t, topology: {hosts: [{name: r, router: true, interfaces: [\
             {name: e0, addresses: [192.0.2.1/30]}, {name: e1, addresses: [192.0.2.65/30]}]}], edges: [s, t], links: [\
             {between: [r.e1, t], rate: 7Mbit, reverse_rate: 6Mbit, delay: 3ms, uplink: [192.0.2.66/30]}, \
             {between: [s, r.e0], rate: 5Mbit, reverse_rate: 9Mbit, delay: 2ms, uplink: [192.0.2.2/30]}], \
             tunnels: [{between: [192.0.2.2, 192.0.2.66]}]}}";
        let scenario = Scenario::parse(text, "t.yaml").unwrap_or_else(|error| panic!("{error}"));
        let network = scenario.blueprint().unwrap();
        assert!(network.hosts().is_empty());
        let link = network.links()[0];
        assert_eq!(link.ends.map(|end| (end.switch, end.port.0)), [(0, 1), (1, 1)]);
        assert_eq!(link.states.map(|state| state.unwrap().capacity.0), [5_000_000, 6_000_000]);
        assert_eq!(link.states[0].unwrap().delay, Some(std::time::Duration::from_millis(5)));
    }

    #[test]
    fn drawing_has_the_ports_and_rates_of_the_lab() {
        let text = "{scenario: t, topology: {hosts: [{name: a, interfaces: [{name: e0}, {name: e1}]}], \
             switches: [s, t@77], locations: {t: [52.4, 4.9]}, links: [{between: [t, a.e1], rate: 3Mbit, reverse_rate: 4Mbit}, \
             {between: [s, t], rate: 1Mbit, reverse_rate: 2Mbit}, {between: [a.e0, s], rate: 5Mbit}]}}";
        let network = Scenario::parse(text, "t.yaml").unwrap().blueprint().unwrap();
        assert_eq!(network.switches()[1].dpid, DatapathId(0x77));
        assert_eq!(network.switches()[1].position, Position::new(52.4, 4.9));
        let link = network.links()[0];
        assert_eq!(link.ends.map(|end| (end.switch, end.port.0)), [(0, 1), (1, 2)]);
        assert_eq!(link.states.map(|state| state.unwrap().capacity.0), [1_000_000, 2_000_000]);
        let [e0, e1] = network.hosts()[0].interfaces[..] else { panic!("{:?}", network.hosts()) };
        assert_eq!([e0, e1].map(|it| (it.end.switch, it.end.port.0)), [(0, 2), (1, 1)]);
        let rates = [e0, e1].map(|it| it.states.map(|state| state.capacity));
        assert_eq!(rates, [[5, 5], [4, 3]].map(|rates| rates.map(|mega| BitsPerSec(mega * 1_000_000))));
    }
}
