//! A simulated network from a blueprint, with an engine link for each directed link.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use braid_link_model::{Delay, Parameters, QueueLimit};
use braid_paths::Path;
use braid_topology::blueprint::{Blueprint, Interface};
use braid_topology::{Graph, LinkState};
use braid_types::{BitsPerSec, DatapathId, SwitchPort};

use crate::engine::{LinkId, Picos, Simulation, Way};

/// The least rate of a link: below, a frame takes longer than a transfer.
const LEAST_RATE: BitsPerSec = BitsPerSec(8_000);

/// A network, and its links in a [`Simulation`].
#[derive(Clone, Debug)]
pub struct Network {
    graph: Arc<Graph>,
    hosts: Vec<Vec<Plug>>,
    by_port: BTreeMap<SwitchPort, LinkId>,
    links: Vec<Parameters>,
    /// The links that make their hosts wait.
    held: Vec<LinkId>,
}

/// An interface of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plug {
    /// The switch to which it is attached.
    pub switch: DatapathId,
    /// The link on which the host sends.
    pub up: LinkId,
    /// The link on which the host receives.
    pub down: LinkId,
    /// The lesser of its rates in both directions.
    pub rate: BitsPerSec,
}

/// The properties of links that the blueprint does not give.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkDefaults {
    /// The queue of a link.
    pub queue: QueueLimit,
    /// The delay of links that have none.
    pub delay: Duration,
    /// Whether hosts wait for their own interfaces, as Linux does, instead of losing frames to the queues of these.
    pub hold_senders: bool,
}

/// Why a network cannot be simulated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkError {
    /// The rate is too low for a transfer.
    #[error("the link {from} to {to} has a rate of {rate}; a link takes {LEAST_RATE} at least")]
    Rate {
        /// Where the link begins.
        from: End,
        /// Where it ends.
        to: End,
        /// Its rate.
        rate: BitsPerSec,
    },
    /// The delay is too long.
    #[error("the link {from} to {to} has a delay of {delay:?}; a minute is the most")]
    Delay {
        /// Where the link begins.
        from: End,
        /// Where it ends.
        to: End,
        /// Its delay.
        delay: Duration,
    },
    /// There are fewer than two hosts.
    #[error("the network has {0} hosts; a transfer takes 2")]
    Hosts(usize),
}

/// One end of a link, by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End(pub String);

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Network {
    /// Creates the links of a blueprint's network.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if a link's properties are out of range, or there are not two hosts.
    pub fn new(blueprint: &Blueprint, defaults: &LinkDefaults) -> Result<Self, NetworkError> {
        if blueprint.hosts().len() < 2 {
            return Err(NetworkError::Hosts(blueprint.hosts().len()));
        }
        let mut network = Self {
            graph: Arc::new(blueprint.graph()),
            hosts: Vec::new(),
            by_port: BTreeMap::new(),
            links: Vec::new(),
            held: Vec::new(),
        };
        for (link, state) in blueprint.directed_links() {
            let name = |at: SwitchPort| End(blueprint.name_of(at.dpid).unwrap_or_default().to_owned());
            let id = network.add(&state, defaults, [name(link.src), name(link.dst)])?;
            network.by_port.insert(link.src, id);
        }
        for host in blueprint.hosts() {
            let plugs = host.interfaces.iter().map(|it| network.plug(blueprint, &host.name, it, defaults));
            let plugs = plugs.collect::<Result<_, _>>()?;
            network.hosts.push(plugs);
        }
        if defaults.hold_senders {
            network.held = network.hosts.iter().flatten().map(|plug| plug.up).collect();
        }
        Ok(network)
    }

    /// A simulation of the network, at its start.
    pub fn simulation(&self, seed: u64) -> Simulation {
        let mut simulation = Simulation::new(self.spacing(), seed);
        for link in &self.links {
            simulation.add_link(link);
        }
        self.held.iter().for_each(|link| simulation.hold_senders(*link));
        simulation
    }

    /// The graph for path algorithms.
    pub const fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The interfaces of each host.
    pub fn hosts(&self) -> &[Vec<Plug>] {
        &self.hosts
    }

    /// All links, as they are numbered.
    pub fn links(&self) -> &[Parameters] {
        &self.links
    }

    /// Changes a link's parameters, before the simulation.
    pub fn set_link(&mut self, link: LinkId, parameters: Parameters) {
        if let Some(known) = self.links.get_mut(link.0 as usize) {
            *known = parameters;
        }
    }

    /// Makes senders wait for a link that leaves their host, instead of losing frames to its queue.
    pub fn hold_senders(&mut self, link: LinkId) {
        self.held.push(link);
    }

    /// Their numbers.
    pub fn ids(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.links.len() as u32).map(LinkId)
    }

    /// The link that leaves a port of a switch for another switch.
    pub fn link_at(&self, port: SwitchPort) -> Option<LinkId> {
        self.by_port.get(&port).copied()
    }

    /// The links from one interface over a path to another, and back over the same links; `None` if the network lacks
    /// one of them, or the path joins other switches.
    pub fn way(&self, [from, to]: &[Plug; 2], path: &Path) -> Option<Way> {
        let fits = path.ingress() == from.switch && path.egress() == to.switch;
        let links =
            |path: &Path| path.links().iter().map(|link| self.link_at(link.src)).collect::<Option<Vec<_>>>();
        let [there, back] = [links(path)?, links(&path.reversed())?];
        let join = |up: LinkId, links: Vec<LinkId>, down: LinkId| [vec![up], links, vec![down]].concat();
        fits.then(|| Way { forward: join(from.up, there, to.down), back: join(to.up, back, from.down) })
    }

    /// The graph of a controller that has measured the network: the delay of every link, without queues.
    pub fn measured(&self) -> Arc<Graph> {
        let graph = &self.graph;
        let links = graph.edges().map(|edge| {
            let (link, state) = (*graph.link(edge), *graph.state(edge));
            let known = self.link_at(link.src).and_then(|id| self.links.get(id.0 as usize));
            let delay = known.map(|it| it.delay.duration()).or(state.delay);
            (link, LinkState { delay, ..state })
        });
        let nodes = graph.nodes().map(|node| graph.dpid(node));
        Arc::new(Graph::new(graph.version(), nodes, links))
    }

    /// An upper bound of what queues and links hold at once, in bytes of memory; frames are at least as long as
    /// acknowledgements.
    pub fn most_memory(&self) -> u64 {
        let frames = |link: &Parameters| {
            let rate = link.rate.map_or(0.0, BitsPerSec::as_f64);
            let flying = rate / 8.0 * link.delay.duration().as_secs_f64() / 1_514.0;
            let waiting = match link.queue {
                QueueLimit::Packets(limit) => limit,
                QueueLimit::Bytes(limit) => limit / 1_514,
            };
            (flying as u64).saturating_add(waiting).saturating_add(1)
        };
        // A packet has 32 bytes, and what holds them doubles when it is full.
        self.links.iter().map(|link| frames(link).saturating_mul(64)).fold(0, u64::saturating_add)
    }

    fn plug(
        &mut self,
        blueprint: &Blueprint,
        host: &str,
        interface: &Interface,
        defaults: &LinkDefaults,
    ) -> Result<Plug, NetworkError> {
        let at = blueprint.port_at(interface.end).dpid;
        let [host, switch] =
            [host, blueprint.name_of(at).unwrap_or_default()].map(|name| End(name.to_owned()));
        let [sends, receives] = &interface.states;
        let up = self.add(sends, defaults, [host.clone(), switch.clone()])?;
        let down = self.add(receives, defaults, [switch, host])?;
        Ok(Plug { switch: at, up, down, rate: sends.capacity.min(receives.capacity) })
    }

    fn add(
        &mut self,
        state: &LinkState,
        defaults: &LinkDefaults,
        [from, to]: [End; 2],
    ) -> Result<LinkId, NetworkError> {
        let (rate, delay) = (state.capacity, state.delay.unwrap_or(defaults.delay));
        if rate < LEAST_RATE {
            return Err(NetworkError::Rate { from, to, rate });
        }
        let Some(delay) = Delay::new(delay) else { return Err(NetworkError::Delay { from, to, delay }) };
        let id = LinkId(self.links.len() as u32);
        self.links.push(Parameters {
            rate: Some(rate),
            delay,
            queue: defaults.queue,
            ..Parameters::default()
        });
        Ok(id)
    }

    /// Twice the time that a frame takes on the fastest link, divided by the number of links: about as busy as links are.
    fn spacing(&self) -> Picos {
        let rate = self.links.iter().filter_map(|link| link.rate).map(|rate| rate.0).max().unwrap_or(1);
        let frame = 24_000_u64 * 1_000_000_000 / rate.div_ceil(1_000).max(1);
        Picos(frame / self.links.len().max(1) as u64)
    }
}
