//! Rerouting of streams that lose their paths.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_paths::Path;
use braid_steering::{Route, Stream, StreamId};
use braid_types::FiveTuple;

use super::rules::switches_of;
use super::{Network, Streams};
use crate::command::Commands;
use crate::fabric::Replaces;

impl Streams {
    /// Takes the streams off `paths`, whose labels are withdrawn. They use the default path until they are
    /// placed again. O(streams).
    pub(super) fn release(&mut self, net: &mut Network<'_>, paths: &BTreeSet<Path>) {
        for (id, _) in self.streams_on(net, paths) {
            self.remove_rules(net, id);
            self.set_route(net, id, None);
        }
    }

    /// Takes the streams off their paths that lead to a moved host's old switch.
    pub(super) fn release_address(&mut self, net: &mut Network<'_>, address: IpAddr) {
        let of = |tuple: &FiveTuple| tuple.src == address || tuple.dst == address;
        let streams = net.transfers.streams().filter(|stream| stream.route.is_some() && of(&stream.tuple));
        for id in streams.map(|stream| stream.id).collect::<Vec<_>>() {
            self.remove_rules(net, id);
            self.set_route(net, id, None);
        }
    }

    /// Moves the streams on bypassed paths to other ones, if there are any. O(streams).
    pub(super) fn vacate(&mut self, net: &mut Network<'_>, paths: &BTreeSet<Path>) {
        for (id, tuple) in self.streams_on(net, paths) {
            let mut batch = Commands::default();
            let ends = switches_of(net.cx.topology, &tuple);
            if let Some(hops) = ends.and_then(|ends| self.place(net, id, ends, &mut batch)) {
                self.submit(net, &hops, batch, Replaces::Nothing);
            }
        }
    }

    fn streams_on(&self, net: &Network<'_>, paths: &BTreeSet<Path>) -> Vec<(StreamId, FiveTuple)> {
        if paths.is_empty() {
            return Vec::new();
        }
        let uses = |route: &Route| paths.contains(&route.forward) || paths.contains(&route.reverse);
        let uses = |stream: &Stream| {
            stream.route.as_ref().is_some_and(uses)
                || net.spray.stream(stream.id).is_some_and(|bundles| bundles.uses(paths))
        };
        let streams = net.transfers.streams().filter(|stream| uses(stream));
        streams.map(|stream| (stream.id, stream.tuple)).collect()
    }

    /// Places streams again that were placed before their transfer was known.
    pub(super) fn spread(&mut self, net: &mut Network<'_>, streams: &[StreamId]) {
        for id in streams {
            let ends =
                net.transfers.stream(*id).and_then(|stream| switches_of(net.cx.topology, &stream.tuple));
            let mut batch = Commands::default();
            if let Some(hops) = ends.and_then(|ends| self.place(net, *id, ends, &mut batch)) {
                self.submit(net, &hops, batch, Replaces::Working);
            }
        }
    }

    /// Places the streams that lost their path, once the graph is up to date.
    pub(crate) fn place_again(&mut self, net: &mut Network<'_>, replaces: Replaces) {
        let lost = net.transfers.unrouted();
        for (id, tuple) in lost.map(|stream| (stream.id, stream.tuple)).collect::<Vec<_>>() {
            let mut batch = Commands::default();
            match switches_of(net.cx.topology, &tuple).and_then(|ends| self.place(net, id, ends, &mut batch))
            {
                Some(hops) => {
                    self.unplaced.remove(&id);
                    self.submit(net, &hops, batch, replaces);
                }
                // It follows the default path, if there is one. It is placed again when the network changes.
                None => _ = self.unplaced.entry(id).or_insert(net.cx.now),
            }
        }
    }

    /// Ends streams that have been without a path for the idle timeout: without rules, no switch reports
    /// their end.
    pub(super) fn expire_unplaced(&mut self, net: &mut Network<'_>) {
        let idle = net.cx.settings.stream_idle;
        let streams = &*net.transfers;
        self.unplaced.retain(|id, _| streams.stream(*id).is_some_and(|stream| stream.route.is_none()));
        let ended: Vec<_> = self
            .unplaced
            .iter()
            .filter(|(_, since)| net.cx.now.since(**since) >= idle)
            .map(|(id, _)| *id)
            .collect();
        for id in ended {
            self.end(net, id);
        }
    }
}
