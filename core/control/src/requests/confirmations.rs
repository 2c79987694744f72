//! Confirmations: streams whose rules switches must confirm before a request is answered.

use std::collections::BTreeMap;

use braid_steering::StreamId;
use braid_types::{DatapathId, FiveTuple, Time};
use smallvec::SmallVec;

use super::{RequestDeps, Requests};
use crate::barrier::Barrier;
use crate::command::{Command, Commands};
use crate::fabric::{Hops, Replaces};
use crate::request::{Refusal, Reply, Ticket};

/// The streams by barrier, and the waiters by stream.
///
/// Invariant: the barriers of a pending stream are those that it lists as unconfirmed.
#[derive(Debug, Default)]
pub(crate) struct Confirmations {
    barriers: BTreeMap<Barrier, StreamId>,
    pending: BTreeMap<StreamId, Pending>,
}

/// A request that is answered when the rules of a stream are confirmed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiter {
    /// An application's announcement of the stream.
    Application(Ticket),
    /// An advice request, which may name further streams.
    Question(Ticket),
}

/// A stream whose rules some switches have not confirmed.
#[derive(Debug)]
struct Pending {
    waiters: SmallVec<[Waiter; 1]>,
    tuple: FiveTuple,
    edges: [DatapathId; 2],
    round: Round,
    unconfirmed: SmallVec<[Barrier; 2]>,
    since: Time,
}

/// What the barriers of a pending stream confirm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Round {
    /// Its rules are in the tables.
    Written,
    /// Its rules have replaced what the switches remembered of earlier packets.
    Applied,
}

impl Pending {
    /// Whether a host sends packets of the stream as soon as it is answered.
    fn is_for_host(&self) -> bool {
        self.waiters.iter().any(|waiter| matches!(waiter, Waiter::Question(_)))
    }
}

/// Waiters of one stream. Repeated requests are answered by the first reply.
const MAX_WAITERS: usize = 8;

impl Confirmations {
    /// Whether rules of a stream are unconfirmed.
    pub(super) fn is_pending(&self, id: StreamId) -> bool {
        self.pending.contains_key(&id)
    }

    /// Adds a waiter to a stream; returns whether there was room.
    pub(super) fn join(&mut self, id: StreamId, waiter: Waiter) -> bool {
        let waiters = self.pending.get_mut(&id).map(|pending| &mut pending.waiters);
        let waiters = waiters.filter(|waiters| waiters.len() < MAX_WAITERS);
        waiters.map(|waiters| waiters.push(waiter)).is_some()
    }

    fn insert(&mut self, id: StreamId, pending: Pending) {
        self.barriers.extend(pending.unconfirmed.iter().map(|barrier| (*barrier, id)));
        self.pending.insert(id, pending);
    }

    /// The stream of an answered barrier, with its waiters if it was the last one.
    fn confirm(&mut self, barrier: Barrier) -> Option<(StreamId, Option<Pending>)> {
        let id = self.barriers.remove(&barrier)?;
        let pending = self.pending.get_mut(&id)?;
        pending.unconfirmed.retain(|it| *it != barrier);
        let is_done = pending.unconfirmed.is_empty();
        Some((id, if is_done { self.take(id) } else { None }))
    }

    fn take(&mut self, id: StreamId) -> Option<Pending> {
        let pending = self.pending.remove(&id)?;
        for barrier in &pending.unconfirmed {
            self.barriers.remove(barrier);
        }
        Some(pending)
    }

    fn late(&self, before: Time) -> Vec<StreamId> {
        self.pending.iter().filter(|(_, pending)| pending.since < before).map(|(id, _)| *id).collect()
    }
}

/// The rules of a stream, and the first hops that they need.
pub(crate) struct Prepared {
    pub(crate) hops: Hops,
    pub(crate) batch: Commands,
}

impl Requests {
    /// Submits the rules of a stream, and answers `waiter` once the switches at both ends have confirmed
    /// them.
    pub(super) fn write_and_confirm(
        &mut self,
        on: &mut RequestDeps<'_>,
        waiter: Waiter,
        id: StreamId,
        Prepared { hops, mut batch }: Prepared,
    ) {
        let Some(stream) = on.deps.transfers.stream(id) else { return };
        let Some(route) = &stream.route else { return };
        let tuple = stream.tuple;
        let edges = [route.forward.ingress(), route.reverse.ingress()];
        let unconfirmed: SmallVec<[Barrier; 2]> = edges.map(|dpid| on.deps.cx.tokens.draw(dpid)).into();
        for Barrier { dpid, token } in &unconfirmed {
            batch.push(Command::Barrier { dpid: *dpid, token: *token });
        }
        let (waiters, round, since) = (SmallVec::from_elem(waiter, 1), Round::Written, on.deps.cx.now);
        self.confirmations.insert(id, Pending { waiters, tuple, edges, round, unconfirmed, since });
        on.streams.submit(&mut on.deps, &hops, batch, Replaces::Nothing);
    }

    /// Handles a barrier reply; returns whether the barrier belongs to a stream.
    pub(super) fn confirm_stream(&mut self, on: &mut RequestDeps<'_>, barrier: Barrier) -> bool {
        let Some((id, done)) = self.confirmations.confirm(barrier) else { return false };
        let Some(pending) = done else { return true };
        if pending.round == Round::Written && pending.is_for_host() {
            self.confirm_application(on, id, pending);
            return true;
        }
        let Pending { waiters, tuple, .. } = pending;
        let answer = match self.placed(on, id) {
            Some(placed) => Reply::Placed(placed),
            None => Reply::Refused(Refusal::NoRoute(tuple)),
        };
        for waiter in waiters {
            match waiter {
                Waiter::Application(ticket) => on.deps.cx.out.reply(ticket, answer.clone()),
                Waiter::Question(ticket) => self.on_subflow_written(on, ticket, id),
            }
        }
        true
    }

    /// Waits for another barrier of each switch.
    ///
    /// Open vSwitch answers a barrier before it discards cached flows that older rules made, and begins to discard them
    /// before it answers the next one.
    fn confirm_application(&mut self, on: &mut RequestDeps<'_>, id: StreamId, pending: Pending) {
        let unconfirmed: SmallVec<[Barrier; 2]> =
            pending.edges.map(|dpid| on.deps.cx.tokens.draw(dpid)).into();
        unconfirmed.iter().for_each(|barrier| on.deps.cx.out.barrier(*barrier));
        self.confirmations.insert(id, Pending { round: Round::Applied, unconfirmed, ..pending });
    }

    /// Handles a stream that ended before its rules were confirmed.
    pub(super) fn stop_confirming(&mut self, on: &mut RequestDeps<'_>, id: StreamId) {
        let Some(Pending { waiters, tuple, .. }) = self.confirmations.take(id) else { return };
        for waiter in waiters {
            match waiter {
                Waiter::Application(ticket) => {
                    on.deps.cx.out.reply(ticket, Reply::Refused(Refusal::NoRoute(tuple)));
                }
                Waiter::Question(ticket) => self.on_subflow_ended(ticket, id),
            }
        }
    }

    /// Refuses requests that have waited for too long. Called once a tick. Advice requests have their own
    /// deadline.
    pub(super) fn expire_confirmations(&mut self, on: &mut RequestDeps<'_>) {
        // The path may take this long, and then the rules at its ends.
        let patience = on.deps.cx.settings.install_timeout * 2;
        for id in self.confirmations.late(on.deps.cx.now - patience) {
            let Some(Pending { waiters, tuple, .. }) = self.confirmations.take(id) else { continue };
            for waiter in waiters {
                if let Waiter::Application(ticket) = waiter {
                    on.deps.cx.out.reply(ticket, Reply::Refused(Refusal::NotConfirmed(tuple)));
                }
            }
        }
    }
}
