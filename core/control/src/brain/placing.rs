//! The path of each stream.

use braid_paths::Path;
use braid_steering::{Choice, Move, Opening, Question, Stream, StreamId, TransferId};
use braid_types::{DatapathId, Time};
use smallvec::SmallVec;

use super::policy::{Siblings, choose, siblings};
use super::{Brain, context};
use crate::command::Commands;
use crate::fabric::Hops;
use crate::notice::Notice;
use crate::pipeline::Rule;

/// Where a stream is to go.
pub(super) struct Chosen {
    pub(super) path: Path,
    /// How many cables it shares with its transfer's others.
    pub(super) shared: usize,
    /// Streams that make room for it.
    pub(super) moves: Vec<Move>,
}

impl Brain {
    /// Chooses a path for a stream and adds its rules to `batch`; returns the labels that they need.
    pub(super) fn place(
        &mut self,
        now: Time,
        id: StreamId,
        (src, dst): (DatapathId, DatapathId),
        batch: &mut Commands,
        out: &mut Commands,
    ) -> Option<Hops> {
        let Stream { transfer, opening, .. } = *self.streams.stream(id)?;
        if opening == Opening::Sprayed
            && let Some(hops) = self.place_sprayed(now, id, (src, dst), batch, out)
        {
            return Some(hops);
        }
        let Chosen { path, shared, moves } = self.choose_path(now, (id, Some(transfer)), (src, dst))?;
        let hops = self.assign(now, id, (&path, shared), batch, out)?;
        self.make_room(now, moves, out);
        Some(hops)
    }

    /// Gives a stream a path and adds its rules to `batch`; returns the labels that they need.
    pub(super) fn assign(
        &mut self,
        now: Time,
        id: StreamId,
        (path, shared): (&Path, usize),
        batch: &mut Commands,
        out: &mut Commands,
    ) -> Option<Hops> {
        let route = self.paths.route(path);
        let Stream { tuple, transfer, .. } = *self.streams.stream(id)?;
        let forward = self.fabric.open(&mut context!(self, now, out), &route.forward)?;
        let reverse = self.fabric.open(&mut context!(self, now, out), &route.reverse)?;
        let (src, dst) = (path.ingress(), path.egress());
        batch.add(dst, Rule::Stream { id, reverse: true, tuple: tuple.reversed(), hop: reverse });
        batch.add(src, Rule::Stream { id, reverse: false, tuple, hop: forward });
        let path = route.forward.switches().collect();
        batch.notice(Notice::StreamPlaced { id, transfer, tuple, path, shared });
        self.set_route(id, Some(route));
        self.watch_ending(id, batch);
        Some(Hops::from([forward, reverse]))
    }

    /// The path that a stream is to take; if its transfer is said, others may be to move for it.
    pub(super) fn choose_path(
        &mut self,
        now: Time,
        (id, transfer): (StreamId, Option<TransferId>),
        (src, dst): (DatapathId, DatapathId),
    ) -> Option<Chosen> {
        let announced = self.streams.stream(id)?;
        let is_usable = |path: &Path| !self.paths.is_left_alone(path, now);
        let distributed = self.reservations.distribute(self.sources(), announced, src, is_usable);
        if let Some((path, shared)) = distributed {
            return Some(Chosen { path, shared, moves: Vec::new() });
        }
        let Stream { tuple, transfer: owner, .. } = *self.streams.stream(id)?;
        let manner = self.manner(&tuple);
        let paths = self.paths_in(manner, (src, dst));
        let candidates: SmallVec<[&Path; 8]> = self.paths.usable(&paths, now).collect();
        let siblings = siblings(&self.streams, owner, &tuple, manner.placement);
        let (stream, graph) = (transfer.map(|transfer| (transfer, id)), self.paths.graph());
        let Siblings { established, opening } = &siblings;
        let question =
            Question { now, stream, candidates: &candidates, siblings: established, opening, graph };
        let Choice { index, shared, moves } = choose(&mut self.placements, manner.placement, &question)?;
        candidates.get(index).map(|path| Chosen { path: (*path).clone(), shared, moves })
    }
}
