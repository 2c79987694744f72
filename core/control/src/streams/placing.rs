//! Placement of streams: the path of each, and the rules that lead it there.

use braid_paths::Path;
use braid_steering::{Move, Opening, Placement, PlacementRequest, Policy, Stream, StreamId, TransferId};
use braid_types::FiveTuple;
use smallvec::SmallVec;

use super::policy::{Siblings, choose, siblings};
use super::{Network, Streams};
use crate::command::Commands;
use crate::fabric::Hops;
use crate::notice::Notice;
use crate::pipeline::Rule;
use crate::reservations::Sources;
use crate::switch_pair::SwitchPair;

/// Where a stream is to go.
pub(crate) struct Chosen {
    pub(crate) path: Path,
    /// How many cables it shares with its transfer's others.
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
        net: &mut Network<'_>,
        id: StreamId,
        ends: SwitchPair,
        batch: &mut Commands,
    ) -> Option<Hops> {
        let Stream { transfer, opening, .. } = *self.table.stream(id)?;
        if opening == Opening::Sprayed
            && let Some(hops) = self.place_sprayed(net, id, ends, batch)
        {
            return Some(hops);
        }
        let chosen = self.choose_path(net, id, Some(transfer), ends)?;
        let hops = self.assign(net, id, &chosen, batch)?;
        self.make_room(net, chosen.moves);
        Some(hops)
    }

    /// Gives a stream a path and adds its rules to `batch`; returns the labels that they need.
    pub(crate) fn assign(
        &mut self,
        net: &mut Network<'_>,
        id: StreamId,
        chosen: &Chosen,
        batch: &mut Commands,
    ) -> Option<Hops> {
        let Chosen { path, shared, .. } = chosen;
        let route = net.cx.paths.route(path);
        let Stream { tuple, transfer, .. } = *self.table.stream(id)?;
        let forward = net.fabric.open(&mut net.cx, &route.forward)?;
        let reverse = net.fabric.open(&mut net.cx, &route.reverse)?;
        let (src, dst) = (path.ingress(), path.egress());
        batch.add(dst, Rule::Stream { id, reverse: true, tuple: tuple.reversed(), hop: reverse });
        batch.add(src, Rule::Stream { id, reverse: false, tuple, hop: forward });
        let path = route.forward.switches().collect();
        batch.notice(Notice::StreamPlaced { id, transfer, tuple, path, shared: *shared });
        self.set_route(net, id, Some(route));
        self.watch_ending(net, id, batch);
        Some(Hops::from([forward, reverse]))
    }

    /// Which of some paths one more stream of a transfer is to take.
    pub(crate) fn choose_among(
        &mut self,
        net: &Network<'_>,
        stream: NewStream<'_>,
        candidates: &[&Path],
        policy: Policy,
    ) -> Option<usize> {
        let NewStream { transfer, tuple } = stream;
        let Siblings { established, opening } = &siblings(&self.table, transfer, tuple, policy);
        let (now, stream, graph) = (net.cx.now, None, net.cx.paths.graph());
        let request = PlacementRequest { now, stream, candidates, siblings: established, opening, graph };
        choose(&mut self.placements, policy, &request).map(|placement| placement.index)
    }

    /// The path that a stream is to take; if its transfer is said, others may be to move for it.
    pub(crate) fn choose_path(
        &mut self,
        net: &mut Network<'_>,
        id: StreamId,
        transfer: Option<TransferId>,
        ends: SwitchPair,
    ) -> Option<Chosen> {
        let announced = self.table.stream(id)?;
        let is_usable = |path: &Path| !net.cx.paths.is_left_alone(path, net.cx.now);
        let distributed =
            net.reservations.distribute(Sources::new(&net.cx, &self.table), announced, ends.src, is_usable);
        if let Some((path, shared)) = distributed {
            return Some(Chosen::path(path, shared));
        }
        let Stream { tuple, transfer: owner, .. } = *self.table.stream(id)?;
        let policy = self.policy_of(net.cx.settings, &tuple);
        let paths = net.cx.paths.of_kind(policy.kind, policy.k, ends);
        let candidates: SmallVec<[&Path; 8]> = net.cx.paths.usable(&paths, net.cx.now).collect();
        let siblings = siblings(&self.table, owner, &tuple, policy.placement);
        let (stream, graph) = (transfer.map(|transfer| (transfer, id)), net.cx.paths.graph());
        let Siblings { established, opening } = &siblings;
        let request = PlacementRequest {
            now: net.cx.now,
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
