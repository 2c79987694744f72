//! Placement of streams: which of some paths the next stream of a transfer takes.

use std::collections::BTreeMap;

use braid_paths::Path;
use braid_steering::{
    Placement, PlacementPolicy, PlacementRequest, Policy, Stream, StreamId, TransferId, Transfers,
};
use braid_types::FiveTuple;
use smallvec::SmallVec;

use crate::context::Context;

/// The placement policies in use, with their memory.
#[derive(Debug, Default)]
pub(crate) struct Placer(BTreeMap<Policy, Box<dyn PlacementPolicy>>);

/// A stream to be placed, as the request of its placement policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToPlace<'a> {
    /// The transfer whose other streams count.
    pub(crate) transfer: TransferId,
    /// The addresses and ports of the stream.
    pub(crate) tuple: &'a FiveTuple,
    /// The stream, if others may move to make room for it.
    pub(crate) stream: Option<StreamId>,
    /// The paths to choose from.
    pub(crate) candidates: &'a [&'a Path],
    /// The placement policy.
    pub(crate) policy: Policy,
}

impl Placer {
    /// The candidate that a stream should take; `None` if there are none.
    pub(crate) fn choose(
        &mut self,
        cx: &Context<'_>,
        transfers: &Transfers,
        to_place: ToPlace<'_>,
    ) -> Option<Placement> {
        let ToPlace { transfer, tuple, stream, candidates, policy } = to_place;
        let Siblings { established, opening } = &siblings(transfers, transfer, tuple, policy);
        let request = PlacementRequest {
            now: cx.now,
            stream: stream.map(|id| (transfer, id)),
            candidates,
            siblings: established,
            opening,
            graph: cx.paths.graph(),
        };
        self.0.entry(policy).or_insert_with(|| policy.placement()).place(&request)
    }

    /// A stream has ended.
    pub(crate) fn handle_ended(&mut self, id: StreamId) {
        self.0.values_mut().for_each(|placement| placement.ended(id));
    }
}

/// Where the other streams of a transfer go.
#[derive(Default)]
struct Siblings<'a> {
    /// Those that are established.
    established: SmallVec<[&'a Path; 8]>,
    /// Those that may be refused yet.
    opening: SmallVec<[&'a Path; 8]>,
}

/// Where the streams of a transfer go that count for the placement of one more between these addresses.
fn siblings<'a>(
    streams: &'a Transfers,
    transfer: TransferId,
    tuple: &FiveTuple,
    policy: Policy,
) -> Siblings<'a> {
    let ids = streams.transfer(transfer).map(|it| it.streams.as_slice()).unwrap_or_default();
    let counts = |it: &&Stream| {
        let pair = (it.tuple.src, it.tuple.dst);
        it.tuple != *tuple && (!policy.is_by_address_pair() || pair == (tuple.src, tuple.dst))
    };
    let mut siblings = Siblings::default();
    for stream in ids.iter().filter_map(|id| streams.stream(*id)).filter(counts) {
        let paths = if stream.established { &mut siblings.established } else { &mut siblings.opening };
        paths.extend(stream.route.as_ref().map(|route| &route.forward));
    }
    siblings
}
