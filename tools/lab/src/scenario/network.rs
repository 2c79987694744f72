//! A scenario made from a network of another format: its switches and links, with hosts at some of them.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::str::FromStr;

use braid_topology::LinkState;
use braid_topology::blueprint::{Blueprint, Link};
use braid_types::{BitsPerSec, exact_time};
use serde_json::{Value, json};

use super::generate::{address, device};
use super::{Scenario, ScenarioError};

/// The rate of a host at a switch without links.
const LONE_RATE: BitsPerSec = BitsPerSec(1_000_000_000);
/// The length of a name, which leaves room for a number: with it, an interface's name has 15.
const NAME_LENGTH: usize = 12;

/// The switches that get a host each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostsAt {
    /// So many, spread over the network in the order of its file.
    Count(usize),
    /// Those of these names.
    Switches(Vec<String>),
}

/// A scenario, and what its names were in the network.
#[derive(Clone, PartialEq, Debug)]
pub struct FromNetwork {
    /// The scenario, without traffic.
    pub scenario: Scenario,
    /// The network's name of each switch that is called differently in a lab, by its name there.
    pub renamed: BTreeMap<String, String>,
}

/// Why a network is no lab.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Nothing could send.
    #[error("network {0} has no hosts: give --hosts NUMBER, or --hosts with names of switches")]
    NoHosts(String),
    /// A host is to be at a switch that does not exist.
    #[error("network {network} has no switch {switch:?}: `braid topology show FILE --switches` lists them")]
    NoSwitch {
        /// The network.
        network: String,
        /// The name.
        switch: String,
    },
    /// It is not a valid scenario, for instance since a link is too fast for a lab.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

impl FromStr for HostsAt {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let names = || text.split(',').map(|name| name.trim().to_owned()).collect();
        Ok(text.parse().map_or_else(|_| Self::Switches(names()), Self::Count))
    }
}

impl Scenario {
    /// The network as a scenario without traffic. Without `hosts`, those of the network.
    ///
    /// # Errors
    ///
    /// [`NetworkError`]: there are no hosts, or the network is not one that a lab can build.
    pub fn of_network(network: &Blueprint, hosts: Option<&HostsAt>) -> Result<FromNetwork, NetworkError> {
        let mut names = Names::default();
        let switches: Vec<_> = network.switches().iter().map(|it| names.unique(&it.name, "s")).collect();
        let switch_names: Vec<_> = network
            .switches()
            .iter()
            .zip(&switches)
            .map(|(it, name)| format!("{name}@{}", it.dpid))
            .collect();
        let hosts = match hosts {
            Some(at) => new_hosts(network, at)?,
            None => own_hosts(network),
        };
        if hosts.is_empty() {
            return Err(NetworkError::NoHosts(network.name().to_owned()));
        }
        let mut links: Vec<_> = network.links().iter().map(|it| between(it, &switches)).collect();
        let mut written = Vec::new();
        for (index, host) in hosts.iter().enumerate() {
            let name = names.unique(&host.name, "h");
            let plugs = host.plugs.iter().enumerate();
            links.extend(plugs.map(|(place, plug)| {
                let ends = [format!("{name}.{}", device(place)), switches[plug.switch].clone()];
                link(ends, [&plug.states[0], &plug.states[1]])
            }));
            written.push(json!({ "name": name, "interfaces": interfaces(index, host.plugs.len()) }));
        }
        let name = Names::default().unique(network.name(), "network");
        let topology = json!({ "hosts": written, "switches": switch_names, "links": links });
        // JSON is YAML.
        let text = json!({ "scenario": name, "topology": topology }).to_string();
        let scenario = Self::parse(&text, network.name())?;
        Ok(FromNetwork { scenario, renamed: renamed(network, switches) })
    }
}

/// A host with what it is plugged into.
struct HostPlan {
    name: String,
    plugs: Vec<PlugPlan>,
}

struct PlugPlan {
    switch: usize,
    /// From the host, and to it.
    states: [LinkState; 2],
}

fn own_hosts(network: &Blueprint) -> Vec<HostPlan> {
    let hosts = network.hosts().iter().map(|host| {
        let plugs = host.interfaces.iter().map(|it| PlugPlan { switch: it.end.switch, states: it.states });
        HostPlan { name: host.name.clone(), plugs: plugs.collect() }
    });
    hosts.collect()
}

fn new_hosts(network: &Blueprint, at: &HostsAt) -> Result<Vec<HostPlan>, NetworkError> {
    let all = network.switches();
    let places: Vec<usize> = match at {
        HostsAt::Count(_) if all.is_empty() => Vec::new(),
        HostsAt::Count(count) => (0..*count).map(|index| index * all.len() / count).collect(),
        HostsAt::Switches(names) => {
            names.iter().map(|name| place(network, name)).collect::<Result<_, _>>()?
        }
    };
    let hosts = places.into_iter().zip(1..).map(|(switch, number)| {
        let state = LinkState::of_capacity(fastest_at(network, switch));
        HostPlan { name: format!("h{number}"), plugs: vec![PlugPlan { switch, states: [state; 2] }] }
    });
    Ok(hosts.collect())
}

fn place(network: &Blueprint, name: &str) -> Result<usize, NetworkError> {
    let missing = || NetworkError::NoSwitch { network: network.name().to_owned(), switch: name.to_owned() };
    network.switches().iter().position(|it| it.name == name).ok_or_else(missing)
}

/// The host of a switch is no bottleneck of its links.
fn fastest_at(network: &Blueprint, switch: usize) -> BitsPerSec {
    let links = network.links().iter().filter(|link| link.ends.iter().any(|end| end.switch == switch));
    let rates = links.flat_map(|link| link.states).flatten().map(|state| state.capacity);
    rates.max().unwrap_or(LONE_RATE)
}

fn interfaces(host: usize, count: usize) -> Vec<Value> {
    let interface =
        |place| json!({ "name": device(place), "addresses": [address(place, host, false).to_string()] });
    (0..count).map(interface).collect()
}

/// A link of which one direction is unknown has the other's properties in both.
fn between(one: &Link, switches: &[String]) -> Value {
    let [there, back] = &one.states;
    let unknown = LinkState::of_capacity(LONE_RATE);
    let forward = there.as_ref().or(back.as_ref()).unwrap_or(&unknown);
    link(one.ends.map(|end| switches[end.switch].clone()), [forward, back.as_ref().unwrap_or(forward)])
}

fn link(ends: [String; 2], [there, back]: [&LinkState; 2]) -> Value {
    let mut link = direction(there);
    link["between"] = json!(ends);
    if there != back {
        link["reverse"] = direction(back);
    }
    link
}

fn direction(state: &LinkState) -> Value {
    let rate = state.capacity.exact();
    match state.delay {
        Some(delay) => json!({ "rate": rate, "delay": exact_time(delay) }),
        None => json!({ "rate": rate }),
    }
}

fn renamed(network: &Blueprint, names: Vec<String>) -> BTreeMap<String, String> {
    let all = names.into_iter().zip(network.switches().iter().map(|it| it.name.clone()));
    all.filter(|(name, before)| name != before).collect()
}

/// Names that a lab takes, each once.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// The nearest name to `text`; `other` if nothing of it is left.
    fn unique(&mut self, text: &str, other: &str) -> String {
        let plain = plain(text);
        let plain = if plain.is_empty() { other.to_owned() } else { plain };
        let numbered =
            (2..).map(|number| format!("{}{number}", plain.get(..NAME_LENGTH - 2).unwrap_or(&plain)));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !self.0.contains(name));
        let name = free.unwrap_or(plain);
        self.0.insert(name.clone());
        name
    }
}

fn plain(text: &str) -> String {
    let letters =
        text.chars().map(|it| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' });
    let letters: String = letters.collect();
    let words: Vec<_> = letters.split('-').filter(|word| !word.is_empty()).collect();
    let name = words.join("-");
    name.get(..NAME_LENGTH).unwrap_or(&name).trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use braid_topology::generate::{Links, Spec};
    use braid_topology::import;

    use super::*;

    const RING: &str = r#"{"name": "Three Towns", "nodes": [{"id": "Den Haag"}, {"id": "Den-Haag"}, {"id": "Zürich"}],
        "links": [{"source": "Den Haag", "target": "Den-Haag", "capacity": "10Mbit", "delay": "3ms"},
                  {"source": "Den-Haag", "target": "Zürich", "capacity": "20Mbit"}]}"#;

    fn ring() -> Blueprint {
        import::json(RING, "ring.json", BitsPerSec(1_000_000_000)).unwrap().blueprint
    }

    #[test]
    fn a_file_s_network_is_a_lab_with_a_host_at_each_named_switch() {
        let at: HostsAt = "Zürich, Den Haag".parse().unwrap();
        let FromNetwork { scenario, renamed } = Scenario::of_network(&ring(), Some(&at)).unwrap();
        let topology = &scenario.topology;
        let names: Vec<_> = topology.switches.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["den-haag", "den-haag2", "z-rich"]);
        assert_eq!(renamed["z-rich"], "Zürich");
        let hosts: Vec<_> =
            topology.hosts.iter().map(|it| it.interfaces[0].addresses[0].to_string()).collect();
        assert_eq!(hosts, ["10.0.0.1/16", "10.0.0.2/16"]);
        assert_eq!(topology.links[0].directions[0].delay.duration(), Duration::from_millis(3));
        assert_eq!(topology.capacity(0, 1), BitsPerSec(10_000_000));
        assert_eq!(topology.links.last().unwrap().rates()[0], BitsPerSec(10_000_000));
    }

    #[test]
    fn hosts_are_spread_over_the_network_and_its_own_are_kept() {
        let six = Spec::Ring { switches: 6 }.generate(Links::default()).unwrap();
        let topology = Scenario::of_network(&six, Some(&HostsAt::Count(3))).unwrap().scenario.topology;
        assert_eq!((topology.hosts.len(), topology.links.len()), (3, 9));
        let own = Scenario::of_network(&six, None).unwrap().scenario.topology;
        assert_eq!(own.hosts.len(), six.hosts().len());
    }

    #[test]
    fn networks_without_hosts_and_unknown_switches_are_refused() {
        assert!(matches!(Scenario::of_network(&ring(), None), Err(NetworkError::NoHosts(_))));
        let error = Scenario::of_network(&ring(), Some(&HostsAt::Switches(vec!["Bern".to_owned()])));
        assert!(error.unwrap_err().to_string().contains("no switch \"Bern\""));
    }
}
