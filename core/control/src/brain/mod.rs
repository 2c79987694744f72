//! The brain: all machines, and the state that they share.

mod dispatch;
mod events;
mod packets;
mod prefetch;
mod reads;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use braid_steering::{Policies, Transfers};
use braid_topology::Topology;
use braid_types::Time;

use crate::admission::Admission;
use crate::barrier::BarrierTokens;
use crate::bfd::EdgeBfd;
use crate::coalesce::Coalesced;
use crate::command::Commands;
use crate::counters::Counters;
use crate::discovery::Discovery;
use crate::event::Event;
use crate::fabric::Fabric;
use crate::facts::{Memory, Publisher};
use crate::health::Health;
use crate::hosts::Hosts;
use crate::installed::InstalledState;
use crate::measurement::Measurement;
use crate::path_cache::PathCache;
use crate::placer::Placer;
use crate::requests::Requests;
use crate::reservations::Reservations;
use crate::routing::{BroadcastTree, Routing};
use crate::settings::Settings;
use crate::spray::Spray;
use crate::stalls::Stalls;
use crate::streams::Streams;
use crate::writer::Protections;
use dispatch::Dispatch;
#[cfg(test)]
use dispatch::{context, stream_deps};

/// The controller's state machine. Performs no I/O.
///
/// After each [`handle`](Self::handle), execute the commands in order at each switch.
#[derive(Debug)]
pub struct Brain {
    settings: Settings,
    topology: Topology,
    discovery: Discovery,
    paths: PathCache,
    fabric: Fabric,
    routing: Routing,
    hosts: Hosts,
    bfd: EdgeBfd,
    broadcast: BroadcastTree,
    measurement: Measurement,
    health: Health,
    installed: InstalledState,
    protections: Protections,
    /// See [`RuleWriter::spare`](crate::writer::RuleWriter).
    spare: Commands,
    policies: Arc<Policies>,
    tokens: BarrierTokens,
    placer: Placer,
    transfers: Transfers,
    streams: Streams,
    counters: Counters,
    labels_reviewed_at: Time,
    stalls: Stalls,
    /// When to follow new links and measurements.
    growth: Coalesced,
    /// When to follow lost links, which has less time.
    losses: Coalesced,
    /// Whether links were lost that are still in the graph.
    has_losses: bool,
    /// Whether links were added that are not in the graph yet.
    has_growth: bool,
    /// Whether links are degraded, or work again, that are not so in the graph yet.
    has_degraded: bool,
    /// The version of the topology's structure that labels, routes and streams reflect.
    followed: u64,
    admission: Admission,
    requests: Requests,
    reservations: Reservations,
    spray: Spray,
    /// What standbys are to be told.
    publisher: Publisher,
    /// What the controller that led before has told this one.
    memory: Memory,
}

impl Brain {
    /// A brain that knows no switches.
    pub fn new(settings: Settings) -> Self {
        let topology = Topology::with_limits(settings.hosts);
        Self {
            policies: Arc::default(),
            tokens: BarrierTokens::default(),
            placer: Placer::default(),
            transfers: Transfers::new(settings.streams),
            streams: Streams::default(),
            reservations: Reservations::new(&settings),
            spray: Spray::default(),
            paths: PathCache::new(topology.graph(), settings.max_paths, settings.weight),
            settings,
            topology,
            discovery: Discovery::default(),
            fabric: Fabric::default(),
            routing: Routing::default(),
            hosts: Hosts::default(),
            bfd: EdgeBfd::default(),
            broadcast: BroadcastTree::default(),
            measurement: Measurement::default(),
            health: Health::default(),
            installed: InstalledState::default(),
            protections: Protections::default(),
            spare: Commands::default(),
            counters: Counters::default(),
            labels_reviewed_at: Time::ZERO,
            stalls: Stalls::default(),
            growth: Coalesced::default(),
            losses: Coalesced::default(),
            has_losses: false,
            has_growth: false,
            has_degraded: false,
            followed: 0,
            admission: Admission::default(),
            requests: Requests::default(),
            publisher: Publisher::default(),
            memory: Memory::default(),
        }
    }

    /// Handles one event and appends the resulting commands to `out`.
    ///
    /// `now` must not decrease from one event to the next.
    pub fn handle(&mut self, now: Time, event: &Event<'_>, out: &mut Commands) {
        Dispatch { brain: self, now, out }.handle(event);
    }

    /// When [`Event::Tick`] has work next, if that is sooner than the usual tick.
    pub fn wake_at(&self) -> Option<Time> {
        let times =
            [self.fabric.wake_at(), self.streams.wake_at(), self.requests.wake_at(), self.follow_at()];
        times.into_iter().flatten().min()
    }

    /// When the graph follows the topology; `None` if it has.
    fn follow_at(&self) -> Option<Time> {
        let is_behind = self.topology.version() != self.paths.graph().version();
        let losses = self.has_losses.then(|| self.losses.next());
        is_behind.then(|| losses.map_or(self.growth.next(), |losses| losses.min(self.growth.next())))
    }
}
