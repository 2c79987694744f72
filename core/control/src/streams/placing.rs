//! Placement of streams: the path of each, and the rules that lead it there.

use braid_paths::Path;
use braid_steering::{Move, Opening, Placement, Stream, StreamId, TransferId};
use braid_types::SwitchPair;
use smallvec::SmallVec;

use super::{StreamDeps, Streams};
use crate::command::Commands;
use crate::fabric::Hops;
use crate::notice::Notice;
use crate::pipeline::Rule;
use crate::placer::ToPlace;
use crate::reservations::Sources;

/// Where to place a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlaceOn<'a> {
    /// The best path between two switches.
    Best(SwitchPair),
    /// This path.
    Path(&'a Path),
}

/// The path chosen for a stream.
pub(super) struct Chosen {
    pub(super) path: Path,
    /// The number of links that it shares with other streams of the transfer.
    shared: usize,
    /// Streams that make room for it.
    moves: Vec<Move>,
}

impl Chosen {
    /// A given path, with nothing to make room for it.
    pub(super) const fn path(path: Path, shared: usize) -> Self {
        Self { path, shared, moves: Vec::new() }
    }
}

impl Streams {
    /// Places a stream and adds its rules to `batch`; returns the first hops of the paths that they need.
    ///
    /// `None` if the stream does not exist, there is no path, or there are too many labels.
    pub(crate) fn place(
        &mut self,
        deps: &mut StreamDeps<'_>,
        id: StreamId,
        on: PlaceOn<'_>,
        batch: &mut Commands,
    ) -> Option<Hops> {
        match on {
            PlaceOn::Best(ends) => self.place_between(deps, id, ends, batch),
            PlaceOn::Path(path) => self.assign(deps, id, &Chosen::path(path.clone(), 0), batch),
        }
    }

    pub(super) fn place_between(
        &mut self,
        deps: &mut StreamDeps<'_>,
        id: StreamId,
        ends: SwitchPair,
        batch: &mut Commands,
    ) -> Option<Hops> {
        let Stream { transfer, opening, .. } = *deps.transfers.stream(id)?;
        if opening == Opening::Sprayed
            && let Some(hops) = self.place_sprayed(deps, id, ends, batch)
        {
            return Some(hops);
        }
        let chosen = self.choose_path(deps, id, Some(transfer), ends)?;
        let hops = self.assign(deps, id, &chosen, batch)?;
        self.make_room(deps, chosen.moves);
        Some(hops)
    }

    /// Gives a stream a path and adds its rules to `batch`; returns the labels that they need.
    pub(super) fn assign(
        &mut self,
        deps: &mut StreamDeps<'_>,
        id: StreamId,
        chosen: &Chosen,
        batch: &mut Commands,
    ) -> Option<Hops> {
        let Chosen { path, shared, .. } = chosen;
        let route = deps.cx.paths.route(path);
        let Stream { tuple, transfer, route: ref before, .. } = *deps.transfers.stream(id)?;
        let is_first = before.is_none();
        let forward = deps.fabric.open(&mut deps.cx, &route.forward)?;
        let reverse = deps.fabric.open(&mut deps.cx, &route.reverse)?;
        let (src, dst) = (path.ingress(), path.egress());
        batch.add(dst, Rule::Stream { id, reverse: true, tuple: tuple.reversed(), hop: reverse });
        batch.add(src, Rule::Stream { id, reverse: false, tuple, hop: forward });
        let path = route.forward.clone();
        batch.notice(Notice::StreamPlaced { id, transfer, tuple, path, shared: *shared });
        self.set_route_by(deps, id, route, [forward, reverse]);
        if is_first {
            self.unwritten.insert(id, [forward, reverse]);
        }
        self.watch_teardown(deps, id, batch);
        Some(Hops::from([forward, reverse]))
    }

    /// The path that a stream is to take; if its transfer is said, others may be to move for it.
    pub(super) fn choose_path(
        &mut self,
        deps: &mut StreamDeps<'_>,
        id: StreamId,
        transfer: Option<TransferId>,
        ends: SwitchPair,
    ) -> Option<Chosen> {
        let announced = deps.transfers.stream(id)?;
        let conditions = deps.cx.paths.conditions(deps.cx.now);
        let is_usable =
            |path: &Path| !conditions.is_suspended(path) && conditions.degradation(path).is_none();
        let distributed = deps.reservations.distribute(
            Sources::new(&deps.cx, deps.transfers),
            announced,
            ends.src,
            is_usable,
        );
        if let Some((path, shared)) = distributed {
            return Some(Chosen::path(path, shared));
        }
        let Stream { tuple, transfer: owner, .. } = *deps.transfers.stream(id)?;
        let policy = deps.cx.policy_of(&tuple);
        let paths = deps.cx.paths.of_kind(policy.kind, policy.k, ends);
        let candidates: SmallVec<[&Path; 8]> = deps.cx.paths.conditions(deps.cx.now).usable(&paths).collect();
        let to_place = ToPlace {
            transfer: owner,
            tuple: &tuple,
            stream: transfer.map(|_| id),
            candidates: &candidates,
            policy: policy.placement,
        };
        let Placement { index, shared, moves } = deps.placer.choose(&deps.cx, deps.transfers, to_place)?;
        candidates.get(index).map(|path| Chosen { path: (*path).clone(), shared, moves })
    }
}
