//! Placement of streams: the path of each, and the rules that lead it there.

use braid_paths::Path;
use braid_steering::{Move, Opening, Placement, PlacementRequest, Policy, Stream, StreamId, TransferId};
use braid_types::{FiveTuple, SwitchPair};
use smallvec::SmallVec;

use super::policy::{Siblings, choose, siblings};
use super::{StreamDeps, Streams};
use crate::command::Commands;
use crate::fabric::Hops;
use crate::notice::Notice;
use crate::pipeline::Rule;
use crate::reservations::Sources;

/// Where a stream is to go.
pub(crate) struct Chosen {
    pub(crate) path: Path,
    /// How many links it shares with its transfer's others.
    pub(crate) shared: usize,
    /// Streams that make room for it.
    pub(crate) moves: Vec<Move>,
}

impl Chosen {
    /// A path that is given, with nothing to make room for it.
    pub(crate) const fn path(path: Path, shared: usize) -> Self {
        Self { path, shared, moves: Vec::new() }
    }
}

/// One more stream of a transfer, between the addresses of a tuple.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewStream<'a> {
    pub(crate) transfer: TransferId,
    pub(crate) tuple: &'a FiveTuple,
}

impl Streams {
    /// Chooses a path for a stream and adds its rules to `batch`; returns the labels that they need.
    pub(crate) fn place(
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
    pub(crate) fn assign(
        &mut self,
        deps: &mut StreamDeps<'_>,
        id: StreamId,
        chosen: &Chosen,
        batch: &mut Commands,
    ) -> Option<Hops> {
        let Chosen { path, shared, .. } = chosen;
        let route = deps.cx.paths.route(path);
        let Stream { tuple, transfer, .. } = *deps.transfers.stream(id)?;
        let forward = deps.fabric.open(&mut deps.cx, &route.forward)?;
        let reverse = deps.fabric.open(&mut deps.cx, &route.reverse)?;
        let (src, dst) = (path.ingress(), path.egress());
        batch.add(dst, Rule::Stream { id, reverse: true, tuple: tuple.reversed(), hop: reverse });
        batch.add(src, Rule::Stream { id, reverse: false, tuple, hop: forward });
        let path = route.forward.switches().collect();
        batch.notice(Notice::StreamPlaced { id, transfer, tuple, path, shared: *shared });
        self.set_route(deps, id, Some(route));
        self.watch_teardown(deps, id, batch);
        Some(Hops::from([forward, reverse]))
    }

    /// Which of some paths one more stream of a transfer is to take.
    pub(crate) fn choose_among(
        &mut self,
        deps: &StreamDeps<'_>,
        stream: NewStream<'_>,
        candidates: &[&Path],
        policy: Policy,
    ) -> Option<usize> {
        let NewStream { transfer, tuple } = stream;
        let Siblings { established, opening } = &siblings(deps.transfers, transfer, tuple, policy);
        let (now, stream, graph) = (deps.cx.now, None, deps.cx.paths.graph());
        let request = PlacementRequest { now, stream, candidates, siblings: established, opening, graph };
        choose(&mut self.placements, policy, &request).map(|placement| placement.index)
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
        let is_usable = |path: &Path| !deps.cx.paths.is_suspended(path, deps.cx.now);
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
        let policy = self.policy_of(deps.cx.settings, &tuple);
        let paths = deps.cx.paths.of_kind(policy.kind, policy.k, ends);
        let candidates: SmallVec<[&Path; 8]> = deps.cx.paths.usable(&paths, deps.cx.now).collect();
        let siblings = siblings(deps.transfers, owner, &tuple, policy.placement);
        let (stream, graph) = (transfer.map(|transfer| (transfer, id)), deps.cx.paths.graph());
        let Siblings { established, opening } = &siblings;
        let request = PlacementRequest {
            now: deps.cx.now,
            stream,
            candidates: &candidates,
            siblings: established,
            opening,
            graph,
        };
        let Placement { index, shared, moves } = choose(&mut self.placements, policy.placement, &request)?;
        candidates.get(index).map(|path| Chosen { path: (*path).clone(), shared, moves })
    }
}
