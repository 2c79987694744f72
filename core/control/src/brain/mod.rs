//! The state of the network and what follows from each event, one concern a file.

mod adopt;
mod ahead;
mod fabric;
mod follow;
mod packets;
mod records;
mod switches;
#[cfg(test)]
mod tests;
pub mod view;

use std::net::IpAddr;
use std::sync::Arc;

use braid_steering::{Policies, StreamId};
use braid_topology::Topology;
use braid_types::{DatapathId, SwitchPort, Time};

use crate::admission::Admission;
use crate::command::Commands;
use crate::counters::{Counters, Sizes};
use crate::discovery::Discovery;
use crate::event::Event;
use crate::fabric::{Fabric, Replaces};
use crate::hosts::Hosts;
use crate::measurement::Measurement;
use crate::notice::Notice;
use crate::path_cache::PathCache;
use crate::pipeline::Rule;
use crate::requests::{Requests, lower};
use crate::reservations::Reservations;
use crate::restore::InstalledState;
use crate::routing::{BroadcastTree, Routing};
use crate::settings::Settings;
use crate::spray::Spray;
use crate::streams::{Streams, network};

/// What the machines of `$brain` may use while an event is handled. A macro, as it borrows some of its fields only.
macro_rules! context {
    ($brain:expr, $now:expr, $out:expr) => {
        crate::context::Context {
            now: $now,
            settings: &$brain.settings,
            topology: &mut $brain.topology,
            paths: &mut $brain.paths,
            counters: &mut $brain.counters,
            installed: &mut $brain.installed,
            out: $out,
        }
    };
}
pub(crate) use context;

/// The machines of `$brain` that the one of hosts asks.
macro_rules! below {
    ($brain:expr) => {
        crate::hosts::Below { discovery: &$brain.discovery, admission: &mut $brain.admission }
    };
}
pub(crate) use below;

/// The controller's state machine. Performs no I/O.
///
/// After each [`handle`](Self::handle), carry out the commands in their order at each switch.
#[derive(Debug)]
pub struct Brain {
    settings: Settings,
    topology: Topology,
    discovery: Discovery,
    paths: PathCache,
    fabric: Fabric,
    routing: Routing,
    hosts: Hosts,
    broadcast: BroadcastTree,
    measurement: Measurement,
    installed: InstalledState,
    streams: Streams,
    counters: Counters,
    counters_read_at: Time,
    /// The topology's structure that labels, routes and streams are in line with.
    followed: u64,
    admission: Admission,
    requests: Requests,
    reservations: Reservations,
    spray: Spray,
}

impl Brain {
    /// Knows nothing yet.
    pub fn new(settings: Settings) -> Self {
        let topology = Topology::with_limits(settings.hosts);
        Self {
            streams: Streams::new(&settings),
            reservations: Reservations::new(&settings),
            spray: Spray::default(),
            paths: PathCache::new(topology.graph(), settings.paths, settings.weight),
            settings,
            topology,
            discovery: Discovery::default(),
            fabric: Fabric::default(),
            routing: Routing::default(),
            hosts: Hosts::default(),
            broadcast: BroadcastTree::default(),
            measurement: Measurement::default(),
            installed: InstalledState::default(),
            counters: Counters::default(),
            counters_read_at: Time::ZERO,
            followed: 0,
            admission: Admission::default(),
            requests: Requests::default(),
        }
    }

    /// Takes note of one event and appends what is to be done to `out`.
    ///
    /// `now` must not go backwards from one event to the next.
    pub fn handle(&mut self, now: Time, event: &Event<'_>, out: &mut Commands) {
        let start = out.len();
        match event {
            Event::SwitchUp(switch) => self.on_switch_up(now, switch, out),
            Event::SwitchDown { dpid } => self.on_switch_down(now, *dpid, out),
            Event::PortUp { dpid, port } => self.on_port(now, *dpid, port, out),
            Event::PortGone { dpid, port } => self.on_port_gone(now, SwitchPort::new(*dpid, *port), out),
            Event::PacketIn { dpid, in_port, table, data } => {
                self.on_packet(now, SwitchPort::new(*dpid, *in_port), *table, data, out);
            }
            Event::Barrier { dpid, token } => self.on_barrier(now, *dpid, *token, out),
            Event::FlowRemoved { dpid, cookie, bytes } => {
                self.installed.end(*dpid, *cookie);
                let net = &mut network!(self, now, out);
                self.streams.handle_flow_removed(net, *cookie, *bytes);
            }
            Event::StreamCounters { rules, .. } => self.streams.handle_counters(now, rules),
            Event::PortCounters { dpid, ports } => {
                self.measurement.handle_port_counters(&context!(self, now, out), *dpid, ports);
            }
            Event::EdgeReports { dpid, reports } => self.spray.handle_reports(now, *dpid, reports),
            Event::Echo { dpid, sent_at } => {
                self.measurement.handle_echo(&context!(self, now, out), *dpid, *sent_at);
            }
            Event::Refused { dpid, rule, reason } => self.on_refused(now, *dpid, *rule, reason, out),
            Event::MeasureCapacity { src } => {
                self.measurement.measure_capacity(&mut context!(self, now, out), *src);
            }
            Event::Request { ticket, request } => {
                let on = &mut lower!(self, now, out);
                self.requests.handle_request(on, *ticket, request);
            }
            Event::Policy { text } => self.streams.set_policy(text),
            Event::Tick => self.tick(now, out),
        }
        self.follow_graph(now, out);
        self.routing.restore(&mut context!(self, now, out), &mut self.fabric);
        self.drain_fabric(now, out);
        self.drain_streams(now, out);
        out.add_twins_from(start);
        if !self.installed.is_empty() {
            out.retain_from(start, |command| self.installed.needs(command));
        }
        out.precede_from(start, |command| self.fabric.protect(command));
    }

    /// When [`Event::Tick`] has something to do next, if that is sooner than the usual tick.
    pub fn wake_at(&self) -> Option<Time> {
        let times = [self.fabric.wake_at(), self.streams.wake_at(), self.requests.wake_at()];
        times.into_iter().flatten().min()
    }

    /// How the brain behaves.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Counts since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What is steered how.
    pub fn policies(&self) -> &Arc<Policies> {
        self.streams.policies()
    }

    /// The rule of one direction of a stream as it is wanted now; `None` if there is no such stream or it has no path.
    pub fn stream_rule(&self, id: StreamId, reverse: bool) -> Option<Rule> {
        self.streams.rule((&self.fabric, &self.spray), id, reverse)
    }

    /// The rule of a default path as it is wanted now; `None` if there is none.
    pub fn route_rule(&self, dst: IpAddr, dpid: DatapathId) -> Option<Rule> {
        self.routing.rule((dst, dpid))
    }

    /// How much is known.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            switches: self.topology.switches().len() as u64,
            links: self.topology.links().len() as u64,
            hosts: self.topology.host_count() as u64,
            transfers: self.streams.table().transfer_count() as u64,
            streams: self.streams.table().len() as u64,
            labels: self.fabric.label_count() as u64,
            routes: self.routing.len() as u64,
        }
    }

    /// A switch does not take a rule, its table being full perhaps: what needs it does without.
    fn on_refused(
        &mut self,
        now: Time,
        dpid: DatapathId,
        rule: Option<Rule>,
        reason: &str,
        out: &mut Commands,
    ) {
        out.notice(Notice::Refused { dpid, reason: reason.to_owned() });
        match rule {
            Some(Rule::Stream { id, .. }) => self.streams.end(&mut network!(self, now, out), id),
            Some(Rule::Route { dst, .. } | Rule::LocalRoute { dst }) => _ = self.routing.forget((dst, dpid)),
            Some(rule) => {
                self.fabric.handle_refused(&mut context!(self, now, out), dpid, &rule);
                self.drain_fabric(now, out);
            }
            None => {}
        }
    }

    fn tick(&mut self, now: Time, out: &mut Commands) {
        self.tick_adoption(now, out);
        self.tick_discovery(now, out);
        self.hosts.handle_timeout(&mut context!(self, now, out), &mut below!(self));
        self.drain_hosts(now, out);
        self.admission.handle_timeout(&mut context!(self, now, out));
        self.fabric.handle_timeout(&mut context!(self, now, out));
        self.drain_fabric(now, out);
        self.reservations.handle_timeout(&context!(self, now, out));
        self.streams.place_again(&mut network!(self, now, out), Replaces::Working);
        self.requests.handle_timeout(&mut lower!(self, now, out));
        self.streams.handle_timeout(&mut network!(self, now, out));
        self.drain_streams(now, out);
        self.broadcast.handle_timeout(&mut context!(self, now, out), &self.discovery);
        self.measurement.handle_timeout(&mut context!(self, now, out));
        if now.since(self.counters_read_at) >= self.settings.counters_interval {
            self.counters_read_at = now;
            self.streams.read_counters(out);
            self.streams.review_spray(&mut network!(self, now, out));
            self.review_labels(now, out);
            self.streams.review(&mut network!(self, now, out));
            self.reservations.learn(&mut context!(self, now, out), self.streams.table());
        }
    }

    /// Brings paths, labels, routes and streams in line with the graph if it has changed.
    ///
    /// What was measured changes no path that is in use, unless paths are chosen by it.
    fn follow_graph(&mut self, now: Time, out: &mut Commands) {
        if self.topology.version() == self.paths.graph().version() {
            return;
        }
        self.paths.set_graph(self.topology.graph());
        let structure = self.topology.structure();
        if std::mem::replace(&mut self.followed, structure) != structure {
            self.broadcast.handle_change();
            self.adopt_labels(now, out);
            self.spray.handle_links(&mut context!(self, now, out), &mut self.fabric);
            self.streams.drain_spray(&mut network!(self, now, out));
            self.fabric.handle_links(&mut context!(self, now, out));
            self.drain_fabric(now, out);
            self.routing.handle_graph(&mut context!(self, now, out), &mut self.fabric);
            self.streams.place_again(&mut network!(self, now, out), Replaces::Nothing);
        } else if self.settings.weight.is_measured() {
            self.routing.handle_graph(&mut context!(self, now, out), &mut self.fabric);
        }
    }
}
