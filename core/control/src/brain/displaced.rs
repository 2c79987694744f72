//! Streams whose paths go, and where they are placed instead.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_paths::Path;
use braid_steering::{Route, Stream, StreamId};
use braid_types::{FiveTuple, Time};

use super::Brain;
use crate::command::Commands;
use crate::fabric::Replaces;

impl Brain {
    /// The streams on `paths`, whose labels are gone, move to other paths or to the default route. O(streams).
    pub(super) fn release_streams(&mut self, paths: &BTreeSet<Path>, out: &mut Commands) {
        for (id, _) in self.streams_on(paths) {
            self.remove_rules(id, out);
            self.set_route(id, None);
        }
    }

    /// A host is at another switch: the streams of its address lead to the wrong place.
    pub(super) fn release_streams_of(&mut self, address: IpAddr, out: &mut Commands) {
        let of = |tuple: &FiveTuple| tuple.src == address || tuple.dst == address;
        let streams = self.streams.streams().filter(|stream| stream.route.is_some() && of(&stream.tuple));
        for id in streams.map(|stream| stream.id).collect::<Vec<_>>() {
            self.remove_rules(id, out);
            self.set_route(id, None);
        }
    }

    /// The streams on paths that are gone round move to other ones; until then they stay. O(streams).
    pub(super) fn vacate(&mut self, now: Time, paths: &BTreeSet<Path>, out: &mut Commands) {
        for (id, tuple) in self.streams_on(paths) {
            let mut batch = Commands::default();
            let ends = self.switches_of(&tuple);
            if let Some(hops) = ends.and_then(|ends| self.place(now, id, ends, &mut batch, out)) {
                self.when_ready(now, &hops, batch, Replaces::Nothing, out);
            }
        }
    }

    fn streams_on(&self, paths: &BTreeSet<Path>) -> Vec<(StreamId, FiveTuple)> {
        if paths.is_empty() {
            return Vec::new();
        }
        let uses = |route: &Route| paths.contains(&route.forward) || paths.contains(&route.reverse);
        let uses =
            |stream: &Stream| stream.route.as_ref().is_some_and(uses) || self.spray.uses(stream.id, paths);
        let streams = self.streams.streams().filter(|stream| uses(stream));
        streams.map(|stream| (stream.id, stream.tuple)).collect()
    }

    /// Places streams again that joined before it was known what they join.
    pub(super) fn spread(&mut self, now: Time, streams: &[StreamId], out: &mut Commands) {
        for id in streams {
            let ends = self.streams.stream(*id).and_then(|stream| self.switches_of(&stream.tuple));
            let mut batch = Commands::default();
            if let Some(hops) = ends.and_then(|ends| self.place(now, *id, ends, &mut batch, out)) {
                self.when_ready(now, &hops, batch, Replaces::Working, out);
            }
        }
    }

    /// Places the streams that lost their path, now that the graph is known again.
    pub(super) fn place_again(&mut self, now: Time, replaces: Replaces, out: &mut Commands) {
        let lost = self.streams.unrouted();
        for (id, tuple) in lost.map(|stream| (stream.id, stream.tuple)).collect::<Vec<_>>() {
            let mut batch = Commands::default();
            match self.switches_of(&tuple).and_then(|ends| self.place(now, id, ends, &mut batch, out)) {
                Some(hops) => {
                    self.unplaced.remove(&id);
                    self.when_ready(now, &hops, batch, replaces, out);
                }
                // It follows the default route, if there is one, and is tried again when the network changes.
                None => _ = self.unplaced.entry(id).or_insert(now),
            }
        }
    }

    /// Without rules no switch says when a stream ends, so that those without a path end after as long.
    pub(super) fn expire_unplaced(&mut self, now: Time, out: &mut Commands) {
        let idle = self.settings.stream_idle;
        let streams = &self.streams;
        self.unplaced.retain(|id, _| streams.stream(*id).is_some_and(|stream| stream.route.is_none()));
        let ended: Vec<_> =
            self.unplaced.iter().filter(|(_, since)| now.since(**since) >= idle).map(|(id, _)| *id).collect();
        for id in ended {
            self.end_stream(id, out);
        }
    }
}
