//! The simulated network of a scenario, with the links that the lab would give it.

use std::time::Duration;

use braid_lab::Scenario;
use braid_lab::scenario::End;
use braid_link_model::{Delay, Parameters};
use braid_sim::network::{LinkDefaults, Network};
use braid_sim::testbed::Testbed;
use braid_types::{PortNo, SwitchPort};

use crate::CompareError;

/// The delay of a hop in a lab on one machine, where its link has no delay of its own.
const HOP: Duration = Duration::from_micros(50);

/// The network of the scenario, with the lab's properties of every link. Links that are emulated beside the hosts have
/// queues of their own, so that senders do not see when these are full.
///
/// # Errors
///
/// [`CompareError`] if it cannot be drawn, or not simulated.
pub fn lay_out(scenario: &Scenario) -> Result<Testbed, CompareError> {
    let topology = &scenario.topology;
    let queue = Parameters::default().queue;
    let network =
        Network::new(&scenario.blueprint()?, &LinkDefaults { queue, delay: HOP, hold_senders: false })?;
    let mut testbed = Testbed::new(network);
    let mut ports = vec![0; topology.switches.len()];
    let mut next = |switch: usize| {
        ports[switch] += 1;
        SwitchPort::new(topology.switches[switch].dpid, PortNo(ports[switch]))
    };
    for link in &topology.links {
        let [there, back] = link.directions.map(with_hop);
        let ends = link.ends.map(|end| match end {
            End::Switch(switch) => (None, Some(next(switch))),
            End::Host { host, interface } => (Some((host, interface)), None),
        });
        let network = testbed.network();
        let plug = |(host, interface): (usize, usize)| network.hosts().get(host)?.get(interface).copied();
        let up: Vec<_> = ends.iter().filter_map(|end| end.0.and_then(plug)).map(|it| it.up).collect();
        let ids = match ends {
            [(None, Some(a)), (None, Some(b))] => [network.link_at(a), network.link_at(b)],
            [(Some(host), _), _] => plug(host).map_or([None; 2], |it| [Some(it.up), Some(it.down)]),
            [_, (Some(host), _)] => plug(host).map_or([None; 2], |it| [Some(it.down), Some(it.up)]),
            _ => [None; 2],
        };
        for (id, way) in ids.into_iter().zip([there, back]) {
            testbed.set_link(id.ok_or(CompareError::NoLink)?, way);
        }
        // The host's own interface then has the rate, and its TCP waits for it.
        if !link.emulated {
            up.into_iter().for_each(|id| testbed.hold_senders(id));
        }
    }
    Ok(testbed)
}

fn with_hop(way: Parameters) -> Parameters {
    if way.delay.duration().is_zero() {
        Parameters { delay: Delay::new(HOP).unwrap_or_default(), ..way }
    } else {
        way
    }
}
