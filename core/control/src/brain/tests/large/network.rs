//! Model switches around a brain, in virtual time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use braid_topology::Blueprint;
use braid_topology::blueprint::End;
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo, SwitchPort, Time};

use crate::brain::Brain;
use crate::command::{Command, Commands, Target};
use crate::event::{Event, PortStatus, SwitchPorts};
use crate::settings::Settings;

/// A network of model switches. Port 100,000 and above have nothing behind them.
pub(in crate::brain::tests) struct Large {
    pub(in crate::brain::tests) brain: Brain,
    pub(in crate::brain::tests) now: Time,
    /// Commands to switches.
    pub(in crate::brain::tests) commands: u64,
    /// How long a switch takes to answer a barrier, and frames to pass a link.
    pub(in crate::brain::tests) delay: Duration,
    /// Every so many-th frame gets lost; 0: none.
    pub(in crate::brain::tests) loss: u64,
    frames: u64,
    /// Frames that left by ports.
    pub(in crate::brain::tests) probes: u64,
    /// The writes that these took: one for each switch and turn.
    pub(in crate::brain::tests) writes: u64,
    /// Frames for switches to return.
    pub(in crate::brain::tests) returns: u64,
    /// Those of them to switches that got no other frame in that turn.
    pub(in crate::brain::tests) lone_returns: u64,
    peers: BTreeMap<SwitchPort, SwitchPort>,
    ports: BTreeMap<DatapathId, Vec<PortNo>>,
    up: BTreeSet<DatapathId>,
    said: VecDeque<(Time, Event<'static>)>,
}

impl Large {
    /// The network of a blueprint, whose switches are not connected yet.
    pub(in crate::brain::tests) fn of(blueprint: &Blueprint, settings: Settings) -> Self {
        let place = |end: End| SwitchPort::new(blueprint.switches()[end.switch].dpid, end.port);
        let links = blueprint.links().iter().map(|link| link.ends.map(place));
        let dpids = blueprint.switches().iter().map(|switch| switch.dpid);
        let mut network = Self::wire(settings, dpids, links);
        for at in network.host_ports(blueprint) {
            network.ports.entry(at.dpid).or_default().push(at.port);
        }
        network
    }

    /// A network of these links.
    pub(in crate::brain::tests) fn wire(
        settings: Settings,
        dpids: impl IntoIterator<Item = DatapathId>,
        links: impl IntoIterator<Item = [SwitchPort; 2]>,
    ) -> Self {
        let mut ports: BTreeMap<_, Vec<_>> = dpids.into_iter().map(|dpid| (dpid, Vec::new())).collect();
        let mut peers = BTreeMap::new();
        for [a, b] in links {
            peers.extend([(a, b), (b, a)]);
            for end in [a, b] {
                ports.entry(end.dpid).or_default().push(end.port);
            }
        }
        Self {
            brain: Brain::new(settings),
            now: Time::from_millis(1),
            commands: 0,
            delay: Duration::ZERO,
            loss: 0,
            frames: 0,
            probes: 0,
            writes: 0,
            returns: 0,
            lone_returns: 0,
            peers,
            ports,
            up: BTreeSet::new(),
            said: VecDeque::new(),
        }
    }

    /// The ports of hosts.
    pub(in crate::brain::tests) fn host_ports(&self, blueprint: &Blueprint) -> Vec<SwitchPort> {
        let interfaces = blueprint.hosts().iter().flat_map(|host| &host.interfaces);
        let ends = interfaces.map(|interface| interface.end);
        ends.map(|end| SwitchPort::new(blueprint.switches()[end.switch].dpid, end.port)).collect()
    }

    /// The directed links between switches.
    pub(in crate::brain::tests) fn directed_links(&self) -> usize {
        self.peers.len()
    }

    /// The switches.
    pub(in crate::brain::tests) fn dpids(&self) -> Vec<DatapathId> {
        self.ports.keys().copied().collect()
    }

    /// Gives a switch more ports that lead nowhere.
    pub(in crate::brain::tests) fn add_ports(&mut self, dpid: DatapathId, count: u32) {
        self.ports.entry(dpid).or_default().extend((0..count).map(|number| PortNo(100_000 + number)));
    }

    /// Connects a switch without rules.
    pub(in crate::brain::tests) fn join(&mut self, dpid: DatapathId) {
        let ports = self.ports.get(&dpid).into_iter().flatten().map(|port| status(dpid, *port)).collect();
        self.up.insert(dpid);
        let description = "model".to_owned();
        let switch = SwitchPorts {
            dpid,
            tables: 254,
            description,
            ports,
            failover_groups: 0,
            select_groups: 0,
            installed: None,
        };
        self.tell(&Event::SwitchUp(switch));
    }

    /// Connects all switches.
    pub(in crate::brain::tests) fn join_all(&mut self) {
        self.dpids().into_iter().for_each(|dpid| self.join(dpid));
    }

    /// Closes the connection of a switch.
    pub(in crate::brain::tests) fn leave(&mut self, dpid: DatapathId) {
        self.up.remove(&dpid);
        self.tell(&Event::SwitchDown { dpid });
    }

    /// Lets time pass.
    pub(in crate::brain::tests) fn advance(&mut self, duration: Duration) {
        let end = self.now + duration;
        while self.now < end {
            self.now = self.now + self.brain.settings().tick;
            self.settle();
            self.tell(&Event::Tick);
            self.settle();
        }
    }

    /// Lets time pass until every link is known. Returns whether that took no longer than `limit`.
    pub(in crate::brain::tests) fn map_within(&mut self, limit: Duration) -> bool {
        let end = self.now + limit;
        while self.links() < self.directed_links() as u64 && self.now < end {
            self.advance(self.brain.settings().tick);
        }
        self.links() == self.directed_links() as u64
    }

    /// The directed links that the brain knows.
    pub(in crate::brain::tests) fn links(&self) -> u64 {
        self.brain.sizes().links
    }

    pub(in crate::brain::tests) fn tell(&mut self, event: &Event<'_>) {
        let mut commands = Commands::default();
        self.brain.handle(self.now, event, &mut commands);
        self.count(&commands);
        for command in &commands {
            self.obey(command, &commands);
        }
    }

    /// Counts the frames of a turn.
    fn count(&mut self, commands: &Commands) {
        let frames: Vec<_> = commands.iter().filter_map(frame).collect();
        let (returns, probes): (Vec<_>, Vec<_>) =
            frames.into_iter().partition(|at| at.port == PortNo::CONTROLLER);
        let probed: BTreeSet<_> = probes.iter().map(|at| at.dpid).collect();
        self.probes += probes.len() as u64;
        self.writes += probed.len() as u64;
        self.returns += returns.len() as u64;
        self.lone_returns += returns.iter().filter(|at| !probed.contains(&at.dpid)).count() as u64;
    }

    /// Lets the brain read what has been said by now.
    fn settle(&mut self) {
        while let Some((_, event)) = self.said.pop_front_if(|(at, _)| *at <= self.now) {
            self.tell(&event);
        }
    }

    fn obey(&mut self, command: &Command, batch: &Commands) {
        self.commands += 1;
        let at = self.now + self.delay;
        match command {
            Command::Barrier { dpid, token } => {
                self.said.push_back((at, Event::Barrier { dpid: *dpid, token: *token }));
            }
            Command::Send { dpid, target, frame } => {
                let end = match target {
                    Target::Port(port) => self.peers.get(&SwitchPort::new(*dpid, *port)).copied(),
                    Target::Controller => Some(SwitchPort::new(*dpid, PortNo::CONTROLLER)),
                    Target::Pipeline | Target::Flood(_) => None,
                };
                self.frames += 1;
                let is_lost = self.loss > 0 && self.frames.is_multiple_of(self.loss);
                if let Some(end) = end.filter(|end| self.up.contains(&end.dpid) && !is_lost) {
                    let data = Cow::Owned(batch.frame(frame).to_vec());
                    let (dpid, in_port, table) = (end.dpid, end.port, 0);
                    self.said.push_back((at, Event::PacketIn { dpid, in_port, table, data }));
                }
            }
            _ => {}
        }
    }
}

/// Where a frame leaves its switch.
fn frame(command: &Command) -> Option<SwitchPort> {
    match command {
        Command::Send { dpid, target: Target::Port(port), .. } => Some(SwitchPort::new(*dpid, *port)),
        Command::Send { dpid, target: Target::Controller, .. } => {
            Some(SwitchPort::new(*dpid, PortNo::CONTROLLER))
        }
        _ => None,
    }
}

fn status(dpid: DatapathId, port: PortNo) -> PortStatus {
    let mac = MacAddr::from_u64((dpid.0 << 20) & 0xffff_ffff_ffff | u64::from(port.0));
    PortStatus { port, mac, name: format!("p{port}"), up: true, speed: BitsPerSec(1_000_000_000) }
}
