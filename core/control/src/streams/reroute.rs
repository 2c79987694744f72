//! Streams whose paths go, and where they are placed instead.

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
    /// The streams on `paths`, whose labels are gone, move to other paths or to the default path. O(streams).
    pub(super) fn release(&mut self, net: &mut Network<'_>, paths: &BTreeSet<Path>) {
        for (id, _) in self.streams_on(net, paths) {
            self.remove_rules(net, id);
            self.set_route(net, id, None);
        }
    }

    /// A host is at another switch: the streams of its address lead to the wrong place.
    pub(super) fn release_address(&mut self, net: &mut Network<'_>, address: IpAddr) {
        let of = |tuple: &FiveTuple| tuple.src == address || tuple.dst == address;
        let streams = net.transfers.streams().filter(|stream| stream.route.is_some() && of(&stream.tuple));
        for id in streams.map(|stream| stream.id).collect::<Vec<_>>() {
            self.remove_rules(net, id);
            self.set_route(net, id, None);
        }
    }

    /// The streams on paths that are bypassed move to other ones; until then they stay. O(streams).
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

    /// Places streams again that joined before it was known what they join.
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

    /// Places the streams that lost their path, now that the graph is known again.
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
                // It follows the default path, if there is one, and is tried again when the network changes.
                None => _ = self.unplaced.entry(id).or_insert(net.cx.now),
            }
        }
    }

    /// Without rules no switch says when a stream ends, so that those without a path end after as long.
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
