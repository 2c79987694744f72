//! Advice on subflows, which are chosen, placed and installed before the host is answered.

mod choose;
mod expect;
mod lingering;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use braid_paths::Path;
use braid_steering::{Advice, AdviceRefusal, AdviceRequest, Opening, StreamId, SubflowEnds, TransferId};
use braid_types::{FiveTuple, SwitchPair, SwitchPort, Time};

use super::{RequestDeps, Requests};
use crate::command::Commands;
use crate::fabric::Replaces;
use crate::request::{Asker, Reply, Ticket};
use crate::streams::PlaceOn;
use lingering::Lingering;

/// Seconds until the agent asks again after complete advice.
const ADVICE_INTERVAL_S: u32 = 60;
/// Seconds until the agent asks again after incomplete advice.
const ADVICE_RETRY_S: u32 = 10;
/// How long the path of a failed subflow is not used for another subflow of its connection.
const PATH_AVOID_TIME: Duration = Duration::from_secs(10);
/// Paths of failed subflows that are remembered.
const MAX_AVOIDED: usize = 1_024;

/// Where the first packets of both ends of a subflow pass without the controller.
type Handshake = [(SwitchPort, FiveTuple); 2];

/// Advice requests that wait for switches, and the subflows expected from advised hosts.
#[derive(Debug, Default)]
pub(crate) struct Advising {
    waiting: BTreeMap<Ticket, Waiting>,
    /// Requests that only wait for the grace time; some may have been answered already.
    settled: BTreeSet<(Time, Ticket)>,
    expected: BTreeMap<StreamId, Handshake>,
    lingering: Lingering,
    /// The local ports of the streams in both.
    ports: BTreeSet<(IpAddr, u16)>,
    /// Paths on which a subflow of a connection has failed.
    avoided: VecDeque<(FiveTuple, Path, Time)>,
}

/// An advice request whose rules are not confirmed yet.
#[derive(Debug)]
struct Waiting {
    transfer: TransferId,
    since: Time,
    /// The latest time of the answer; switches confirm by then, or the answer goes without what they have not.
    until: Time,
    /// Whether all switches have confirmed, so that only the grace time remains.
    is_settled: bool,
    named: Vec<NamedSubflow>,
    /// The streams with unconfirmed rules.
    unconfirmed: BTreeSet<StreamId>,
    ask_again_after: u32,
}

/// A subflow that the answer names.
#[derive(Clone, Copy, Debug)]
struct NamedSubflow {
    stream: StreamId,
    ends: SubflowEnds,
}

/// The position of the connection that needs advice.
struct Place {
    switches: SwitchPair,
    host: SwitchPort,
}

impl Requests {
    /// Handles a request for advice on a connection's subflows.
    pub(in crate::requests) fn advise(
        &mut self,
        on: &mut RequestDeps<'_>,
        ticket: Ticket,
        request: &AdviceRequest,
        asker: &Asker,
    ) {
        let checked = request.check().map(|()| request.clone().canonical());
        let begun = checked.and_then(|request| self.begin_advice(on, ticket, &request, asker));
        if let Err(refusal) = begun {
            on.deps.cx.out.reply(ticket, Reply::Advice(Err(refusal)));
        }
    }

    /// Sends the answers that are due, complete or not.
    pub(in crate::requests) fn tick_advice(&mut self, on: &mut RequestDeps<'_>) {
        let waiting = self.advising.waiting.iter();
        let nothing_left = |it: &Waiting| it.unconfirmed.is_empty() && !it.is_settled;
        let due = waiting.filter(|(_, it)| it.until <= on.deps.cx.now || nothing_left(it));
        let mut due: Vec<_> = due.map(|(ticket, _)| *ticket).collect();
        let later = self.advising.settled.split_off(&(on.deps.cx.now + Duration::from_nanos(1), Ticket(0)));
        due.extend(
            std::mem::replace(&mut self.advising.settled, later).into_iter().map(|(_, ticket)| ticket),
        );
        for ticket in due {
            self.finish_advice(on, ticket);
        }
    }

    /// When the next answer is due, if that is known. O(1).
    pub(in crate::requests) fn next_answer(&self) -> Option<Time> {
        self.advising.settled.first().map(|(at, _)| *at)
    }

    /// Switches have confirmed the rules of a subflow.
    ///
    /// They may still apply the old rules for a moment, so the host is answered after the grace time. Switches that took longer
    /// than that to confirm have much to do, and get as long again.
    pub(in crate::requests) fn on_subflow_written(
        &mut self,
        on: &mut RequestDeps<'_>,
        ticket: Ticket,
        id: StreamId,
    ) {
        self.on_subflow_ended(ticket, id);
        let Some(waiting) = self.advising.waiting.get_mut(&ticket) else { return };
        if waiting.unconfirmed.is_empty() {
            waiting.is_settled = true;
            let now = on.deps.cx.now;
            let grace = on.deps.cx.settings.barrier_grace.max(now.since(waiting.since));
            // The host waits no longer than twice that.
            let latest = waiting.since + on.deps.cx.settings.advice_timeout * 9 / 5;
            waiting.until = latest.min(now + grace);
            self.advising.settled.insert((waiting.until, ticket));
        }
    }

    /// A subflow has ended, so a request does not wait for it.
    pub(in crate::requests) fn on_subflow_ended(&mut self, ticket: Ticket, id: StreamId) {
        if let Some(waiting) = self.advising.waiting.get_mut(&ticket) {
            waiting.unconfirmed.remove(&id);
        }
    }

    fn begin_advice(
        &mut self,
        on: &mut RequestDeps<'_>,
        ticket: Ticket,
        request: &AdviceRequest,
        asker: &Asker,
    ) -> Result<(), AdviceRefusal> {
        self.check_asker(on, asker, request)?;
        let place = self.place_of_connection(on, request)?;
        let limit = on.deps.cx.settings.max_advice_requests;
        if self.advising.waiting.len() >= limit {
            return Err(AdviceRefusal::Busy(limit));
        }
        self.end_failed(on, request);
        let is_single = on.deps.cx.policy_of(&request.connection.tuple()).is_single();
        let transfer = if is_single { None } else { self.transfer_of(on, request, &place)? };
        let Some(transfer) = transfer else {
            let advice = Advice { ask_again_after: Some(ADVICE_INTERVAL_S), ..Advice::default() };
            on.deps.cx.out.reply(ticket, Reply::Advice(Ok(advice)));
            return Ok(());
        };
        self.supersede(on, transfer);
        let named = self.working(on, request);
        self.end_unwanted(on, transfer, request, &named);
        let ask_again_after = if request.failed.is_empty() { ADVICE_INTERVAL_S } else { ADVICE_RETRY_S };
        let since = on.deps.cx.now;
        let until = since + on.deps.cx.settings.advice_timeout;
        let (unconfirmed, is_settled) = (BTreeSet::new(), false);
        let waiting = Waiting { transfer, since, until, is_settled, named, unconfirmed, ask_again_after };
        self.advising.waiting.insert(ticket, waiting);
        self.choose_subflows(on, ticket, request);
        // A stream that found no room has ended already: the answer does not wait for it.
        self.drain_streams(on);
        if self.advising.waiting.get(&ticket).is_some_and(|it| it.unconfirmed.is_empty()) {
            self.finish_advice(on, ticket);
        }
        Ok(())
    }

    /// Whether all given local addresses are the requesting host's.
    fn check_asker(
        &self,
        on: &RequestDeps<'_>,
        asker: &Asker,
        request: &AdviceRequest,
    ) -> Result<(), AdviceRefusal> {
        let mac_of = |ip: IpAddr| on.deps.cx.topology.host_with_address(ip).map(|host| host.mac);
        let owns = |ip: IpAddr| match asker {
            Asker::Trusted => true,
            Asker::Owner(prefixes) => prefixes.iter().any(|prefix| prefix.contains(ip)),
            Asker::Host(from) => mac_of(*from).is_some() && mac_of(*from) == mac_of(ip),
        };
        // An address outside this network, such as a management address, does no harm.
        let is_foreign = |ip: IpAddr| ip != request.connection.local.ip() && mac_of(ip).is_none();
        match request.claimed().find(|ip| !owns(*ip) && !is_foreign(*ip)) {
            Some(ip) => Err(AdviceRefusal::NotOwn(ip)),
            None => Ok(()),
        }
    }

    fn place_of_connection(
        &self,
        on: &RequestDeps<'_>,
        request: &AdviceRequest,
    ) -> Result<Place, AdviceRefusal> {
        let at = |ip| {
            let host = on.deps.cx.topology.host_with_address(ip);
            let was_known = on.memory.has_host(ip);
            let refusal =
                if was_known { AdviceRefusal::AwaitsSwitch(ip) } else { AdviceRefusal::UnknownHost(ip) };
            host.map(|host| host.at).ok_or(refusal)
        };
        let (host, peer) = (at(request.connection.local.ip())?, at(request.connection.remote.ip())?);
        Ok(Place { switches: SwitchPair::new(host.dpid, peer.dpid), host })
    }

    /// Ends failed subflows and avoids their paths for a while.
    fn end_failed(&mut self, on: &mut RequestDeps<'_>, request: &AdviceRequest) {
        let connection = request.connection.tuple();
        self.advising.avoided.retain(|(.., until)| *until > on.deps.cx.now);
        for ends in request.failed.iter().filter(|ends| **ends != request.connection) {
            let Some(stream) = on.deps.transfers.by_tuple(&ends.tuple()) else { continue };
            let (id, route) = (stream.id, stream.route.clone());
            if let Some(route) = route {
                if self.advising.avoided.len() >= MAX_AVOIDED {
                    self.advising.avoided.pop_front();
                }
                self.advising.avoided.push_back((
                    connection,
                    route.forward,
                    on.deps.cx.now + PATH_AVOID_TIME,
                ));
            }
            self.end_stream(on, id);
        }
    }

    /// The transfer of the connection, which may be new; `None` if its hosts are at the same switch.
    fn transfer_of(
        &mut self,
        on: &mut RequestDeps<'_>,
        request: &AdviceRequest,
        place: &Place,
    ) -> Result<Option<TransferId>, AdviceRefusal> {
        let first = request.connection.tuple();
        let opened = request.subflows.iter().map(|ends| ends.tuple());
        let all = [first, first.reversed()].into_iter().chain(opened);
        if let Some(known) = all.filter_map(|tuple| on.deps.transfers.by_tuple(&tuple)).next() {
            return Ok(Some(known.transfer));
        }
        if place.switches.src == place.switches.dst {
            return Ok(None);
        }
        if !on.deps.admission.admit_stream(&mut on.deps.cx, place.host) {
            return Err(AdviceRefusal::Full("the host's port opens too many connections".to_owned()));
        }
        let opened = on.streams.open_stream(&mut on.deps, first, Opening::Unseen);
        let id = opened.map_err(|full| AdviceRefusal::Full(full.to_string()))?;
        let mut batch = Commands::default();
        match on.streams.place(&mut on.deps, id, PlaceOn::Best(place.switches), &mut batch) {
            Some(hops) => on.streams.submit(&mut on.deps, &hops, batch, Replaces::Working),
            None => self.end_stream(on, id),
        }
        Ok(on.deps.transfers.stream(id).map(|stream| stream.transfer))
    }

    /// Replaces an earlier pending request about the same connection.
    fn supersede(&mut self, on: &mut RequestDeps<'_>, transfer: TransferId) {
        let before = self.advising.waiting.extract_if(.., |_, it| it.transfer == transfer);
        for (ticket, waiting) in before.collect::<Vec<_>>() {
            waiting.unconfirmed.iter().for_each(|stream| self.end_stream(on, *stream));
            on.deps.cx.out.reply(ticket, Reply::Advice(Err(AdviceRefusal::Superseded)));
        }
    }

    /// Ends advised subflows that the host has not opened, and open ones that it will close because they are
    /// not named.
    fn end_unwanted(
        &mut self,
        on: &mut RequestDeps<'_>,
        transfer: TransferId,
        request: &AdviceRequest,
        named: &[NamedSubflow],
    ) {
        let ids = on.deps.transfers.transfer(transfer).map(|it| it.streams.as_slice()).unwrap_or_default();
        let expected = ids.iter().copied().filter(|id| self.advising.expected.contains_key(id));
        let opened = request.subflows.iter().filter_map(|ends| on.deps.transfers.by_tuple(&ends.tuple()));
        let all: BTreeSet<_> = expected.chain(opened.map(|stream| stream.id)).collect();
        let is_named = |id: &StreamId| named.iter().any(|named| named.stream == *id);
        for id in all.into_iter().filter(|id| !is_named(id)) {
            self.end_stream(on, id);
        }
    }

    /// Answers with the installed subflows, and ends the others.
    fn finish_advice(&mut self, on: &mut RequestDeps<'_>, ticket: Ticket) {
        let Some(waiting) = self.advising.waiting.remove(&ticket) else { return };
        waiting.unconfirmed.iter().for_each(|stream| self.end_stream(on, *stream));
        let has_path = |id| on.deps.transfers.stream(id).is_some_and(|stream| stream.route.is_some());
        let named = waiting.named.iter().filter(|it| has_path(it.stream)).map(|it| it.ends).collect();
        let ask_again_after = match waiting.unconfirmed.is_empty() {
            true => waiting.ask_again_after,
            false => ADVICE_RETRY_S,
        };
        let advice = Advice { subflows: named, ask_again_after: Some(ask_again_after) };
        on.deps.cx.out.reply(ticket, Reply::Advice(Ok(advice)));
    }
}
