//! Rerouting of streams that lose their paths.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_paths::Path;
use braid_steering::{Route, Stream, StreamId};
use braid_types::FiveTuple;

use super::rules::switches_of;
use super::{StreamDeps, Streams};
use crate::command::Commands;
use crate::fabric::Replaces;

impl Streams {
    /// Takes the streams off `paths`, whose labels are withdrawn. They use the default path until they are
    /// placed again. O(streams).
    pub(super) fn release(&mut self, deps: &mut StreamDeps<'_>, paths: &BTreeSet<Path>) {
        for (id, _) in self.streams_on(deps, paths) {
            self.remove_rules(deps, id);
            self.set_route(deps, id, None);
        }
    }

    /// Takes the streams off their paths that lead to a moved host's old switch.
    pub(super) fn release_address(&mut self, deps: &mut StreamDeps<'_>, address: IpAddr) {
        let of = |tuple: &FiveTuple| tuple.src == address || tuple.dst == address;
        let streams = deps.transfers.streams().filter(|stream| stream.route.is_some() && of(&stream.tuple));
        for id in streams.map(|stream| stream.id).collect::<Vec<_>>() {
            self.remove_rules(deps, id);
            self.set_route(deps, id, None);
        }
    }

    /// Moves the streams on bypassed paths to other ones, if there are any. O(streams).
    pub(super) fn migrate_off(&mut self, deps: &mut StreamDeps<'_>, paths: &BTreeSet<Path>) {
        for (id, tuple) in self.streams_on(deps, paths) {
            let mut batch = Commands::default();
            let ends = switches_of(deps.cx.topology, &tuple);
            if let Some(hops) = ends.and_then(|ends| self.place_between(deps, id, ends, &mut batch)) {
                self.submit(deps, &hops, batch, Replaces::Nothing);
            }
        }
    }

    fn streams_on(&self, deps: &StreamDeps<'_>, paths: &BTreeSet<Path>) -> Vec<(StreamId, FiveTuple)> {
        if paths.is_empty() {
            return Vec::new();
        }
        let uses = |route: &Route| paths.contains(&route.forward) || paths.contains(&route.reverse);
        let uses = |stream: &Stream| {
            stream.route.as_ref().is_some_and(uses)
                || deps.spray.stream(stream.id).is_some_and(|bundles| bundles.uses(paths))
        };
        let streams = deps.transfers.streams().filter(|stream| uses(stream));
        streams.map(|stream| (stream.id, stream.tuple)).collect()
    }

    /// Places streams again that were placed before their transfer was known.
    pub(super) fn spread(&mut self, deps: &mut StreamDeps<'_>, streams: &[StreamId]) {
        for id in streams {
            let ends =
                deps.transfers.stream(*id).and_then(|stream| switches_of(deps.cx.topology, &stream.tuple));
            let mut batch = Commands::default();
            if let Some(hops) = ends.and_then(|ends| self.place_between(deps, *id, ends, &mut batch)) {
                self.submit(deps, &hops, batch, Replaces::Working);
            }
        }
    }

    /// Places the streams that lost their path, once the graph is up to date. Those with rules in a switch that has just
    /// joined keep them until its links are known.
    pub(super) fn place_again(&mut self, deps: &mut StreamDeps<'_>, replaces: Replaces) {
        let unresolved = deps.cx.out.installed.unresolved();
        let lost = deps.transfers.unrouted().filter(|stream| !unresolved.awaits_paths(stream.id));
        for (id, tuple) in lost.map(|stream| (stream.id, stream.tuple)).collect::<Vec<_>>() {
            let mut batch = Commands::default();
            let ends = switches_of(deps.cx.topology, &tuple).filter(|_| !self.unconfirmed.contains(&id));
            match ends.and_then(|ends| self.place_between(deps, id, ends, &mut batch)) {
                Some(hops) => {
                    self.unplaced.remove(&id);
                    self.submit(deps, &hops, batch, replaces);
                }
                // It follows the default path, if there is one. It is placed again when the network changes.
                None => _ = self.unplaced.entry(id).or_insert(deps.cx.now),
            }
        }
    }

    /// Ends the streams that have no rules in switches since another controller had these.
    pub(super) fn end_unconfirmed(&mut self, deps: &mut StreamDeps<'_>) {
        let (unresolved, streams) = (deps.cx.out.installed.unresolved(), &*deps.transfers);
        let has_rules = |id: StreamId| unresolved.stream(id).iter().any(Option::is_some);
        let is_lost = |id: StreamId| streams.stream(id).is_some_and(|stream| stream.route.is_none());
        let mut ended = std::mem::take(&mut self.unconfirmed);
        ended.retain(|id| is_lost(*id) && !has_rules(*id));
        for id in ended {
            self.end(deps, id);
        }
    }

    /// Ends streams that have been without a path for the idle timeout: without rules, no switch reports
    /// their end.
    pub(super) fn expire_unplaced(&mut self, deps: &mut StreamDeps<'_>) {
        let idle = deps.cx.settings.stream_idle;
        let streams = &*deps.transfers;
        self.unplaced.retain(|id, _| streams.stream(*id).is_some_and(|stream| stream.route.is_none()));
        let ended: Vec<_> = self
            .unplaced
            .iter()
            .filter(|(_, since)| deps.cx.now.since(**since) >= idle)
            .map(|(id, _)| *id)
            .collect();
        for id in ended {
            self.end(deps, id);
        }
    }
}
