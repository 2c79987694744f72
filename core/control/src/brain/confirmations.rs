//! Answers that wait until switches have confirmed the rules that they tell of.

use std::collections::BTreeMap;

use braid_steering::StreamId;
use braid_types::{DatapathId, FiveTuple, Time};
use smallvec::SmallVec;

use super::Brain;
use super::batches::Replaces;
use crate::command::{Command, Commands};
use crate::pipeline::Hop;
use crate::request::{Refusal, Reply, Ticket};

/// By barrier, the stream whose rules are before it; by stream, who waits.
#[derive(Debug, Default)]
pub(super) struct Confirmations {
    barriers: BTreeMap<(DatapathId, u32), StreamId>,
    waiting: BTreeMap<StreamId, Pending>,
}

/// A stream whose rules are not confirmed by all switches.
#[derive(Debug)]
struct Pending {
    tickets: SmallVec<[Ticket; 1]>,
    tuple: FiveTuple,
    unconfirmed: SmallVec<[(DatapathId, u32); 2]>,
    since: Time,
}

/// More may not wait for one stream: who asks again and again has his answer in the first one.
const MAX_TICKETS: usize = 8;

impl Confirmations {
    /// Whether rules of a stream are on their way.
    pub(super) fn is_pending(&self, id: StreamId) -> bool {
        self.waiting.contains_key(&id)
    }

    /// One more waits for a stream; says whether it may.
    pub(super) fn join(&mut self, id: StreamId, ticket: Ticket) -> bool {
        let tickets = self.waiting.get_mut(&id).map(|pending| &mut pending.tickets);
        let tickets = tickets.filter(|tickets| tickets.len() < MAX_TICKETS);
        tickets.map(|tickets| tickets.push(ticket)).is_some()
    }

    fn confirm(&mut self, dpid: DatapathId, token: u32) -> Option<(StreamId, Option<Pending>)> {
        let id = self.barriers.remove(&(dpid, token))?;
        let pending = self.waiting.get_mut(&id)?;
        pending.unconfirmed.retain(|barrier| *barrier != (dpid, token));
        let is_done = pending.unconfirmed.is_empty();
        Some((id, if is_done { self.take(id) } else { None }))
    }

    fn take(&mut self, id: StreamId) -> Option<Pending> {
        let pending = self.waiting.remove(&id)?;
        for barrier in &pending.unconfirmed {
            self.barriers.remove(barrier);
        }
        Some(pending)
    }

    fn late(&self, before: Time) -> Vec<StreamId> {
        self.waiting.iter().filter(|(_, pending)| pending.since < before).map(|(id, _)| *id).collect()
    }
}

impl Brain {
    /// Lets the rules of a stream go once its path is ready, and the answer to `ticket` once switches have confirmed them.
    pub(super) fn answer_when_written(
        &mut self,
        now: Time,
        ticket: Ticket,
        id: StreamId,
        (hops, mut batch): ([Hop; 2], Commands),
        out: &mut Commands,
    ) {
        let Some(stream) = self.streams.stream(id) else { return };
        let Some(route) = &stream.route else { return };
        let tuple = stream.tuple;
        let edges = [route.forward.ingress(), route.reverse.ingress()];
        let unconfirmed: SmallVec<[_; 2]> =
            edges.into_iter().map(|dpid| (dpid, self.labels.next_token())).collect();
        for (dpid, token) in &unconfirmed {
            batch.push(Command::Barrier { dpid: *dpid, token: *token });
            self.confirmations.barriers.insert((*dpid, *token), id);
        }
        let tickets = SmallVec::from_elem(ticket, 1);
        self.confirmations.waiting.insert(id, Pending { tickets, tuple, unconfirmed, since: now });
        self.when_ready(now, &hops, batch, Replaces::Nothing, out);
    }

    /// A barrier was answered; says whether it was one of ours.
    pub(super) fn confirm_rules(&mut self, dpid: DatapathId, token: u32, out: &mut Commands) -> bool {
        let Some((id, done)) = self.confirmations.confirm(dpid, token) else { return false };
        if let Some(Pending { tickets, tuple, .. }) = done {
            let answer = match self.placed(id) {
                Some(placed) => Reply::Placed(placed),
                None => Reply::Refused(Refusal::NoRoute(tuple)),
            };
            tickets.into_iter().for_each(|ticket| out.reply(ticket, answer.clone()));
        }
        true
    }

    /// The stream has ended before its rules were confirmed.
    pub(super) fn deny_answers(&mut self, id: StreamId, out: &mut Commands) {
        if let Some(Pending { tickets, tuple, .. }) = self.confirmations.take(id) {
            let answer = Reply::Refused(Refusal::NoRoute(tuple));
            tickets.into_iter().for_each(|ticket| out.reply(ticket, answer.clone()));
        }
    }

    /// Who has waited for too long is told so; called once a tick.
    pub(super) fn expire_confirmations(&mut self, now: Time, out: &mut Commands) {
        // The path has so long, and then the rules at its ends.
        let patience = self.settings.install_timeout * 2;
        for id in self.confirmations.late(now - patience) {
            let Some(Pending { tickets, tuple, .. }) = self.confirmations.take(id) else { continue };
            let answer = Reply::Refused(Refusal::NotConfirmed(tuple));
            tickets.into_iter().for_each(|ticket| out.reply(ticket, answer.clone()));
        }
    }
}
