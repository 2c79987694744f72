//! Which subflows a connection shall have: chosen, placed, and in the switches before the host is told.

mod choose;
mod expect;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use braid_paths::Path;
use braid_steering::{Advice, AdviceRefusal, AdviceRequest, StreamId, SubflowEnds, TransferId};
use braid_types::{FiveTuple, SwitchPort, Time};

use super::{Lower, Requests};
use crate::command::Commands;
use crate::fabric::Replaces;
use crate::request::{Asker, Reply, Ticket};
use crate::switch_pair::SwitchPair;

/// When the agent asks again if all is well,
const ASK_AGAIN: u32 = 60;
/// and if something is not.
const ASK_SOON: u32 = 10;
/// For so long no other subflow of a connection takes the path of one that has failed.
const AVOIDED: Duration = Duration::from_secs(10);
/// Paths of failed subflows beyond these are not remembered.
const MAX_AVOIDED: usize = 1_024;

/// The questions that wait for switches, and what is expected of hosts that were answered.
#[derive(Debug, Default)]
pub(crate) struct Advising {
    waiting: BTreeMap<Ticket, Waiting>,
    /// Those of which only the grace time is left; some may have been answered otherwise.
    settled: BTreeSet<(Time, Ticket)>,
    /// Where the first packets of both ends of a stream pass without the controller.
    expected: BTreeMap<StreamId, [(SwitchPort, FiveTuple); 2]>,
    /// Local ports of those streams.
    ports: BTreeSet<(IpAddr, u16)>,
    /// Paths on which a subflow has failed, by its connection.
    avoided: VecDeque<(FiveTuple, Path, Time)>,
}

/// A question whose rules are on their way.
#[derive(Debug)]
struct Waiting {
    transfer: TransferId,
    /// When it is answered at the latest.
    until: Time,
    /// Whether all switches have confirmed, and only the grace time is left.
    is_settled: bool,
    named: Vec<(StreamId, SubflowEnds)>,
    /// The streams whose rules switches have not confirmed.
    unconfirmed: BTreeSet<StreamId>,
    ask_again_after: u32,
}

/// Where the connection that is asked about is.
struct Place {
    switches: SwitchPair,
    host: SwitchPort,
}

impl Requests {
    /// Somebody asks which subflows a connection shall have.
    pub(in crate::requests) fn advise(
        &mut self,
        on: &mut Lower<'_>,
        ticket: Ticket,
        request: &AdviceRequest,
        asker: &Asker,
    ) {
        let checked = request.check().map(|()| request.clone().canonical());
        let begun = checked.and_then(|request| self.begin_advice(on, ticket, &request, asker));
        if let Err(refusal) = begun {
            on.net.cx.out.reply(ticket, Reply::Advice(Err(refusal)));
        }
    }

    /// Gives the answers whose time has come, complete or not.
    pub(in crate::requests) fn tick_advice(&mut self, on: &mut Lower<'_>) {
        let waiting = self.advising.waiting.iter();
        let nothing_left = |it: &Waiting| it.unconfirmed.is_empty() && !it.is_settled;
        let due = waiting.filter(|(_, it)| it.until <= on.net.cx.now || nothing_left(it));
        let mut due: Vec<_> = due.map(|(ticket, _)| *ticket).collect();
        let later = self.advising.settled.split_off(&(on.net.cx.now + Duration::from_nanos(1), Ticket(0)));
        due.extend(
            std::mem::replace(&mut self.advising.settled, later).into_iter().map(|(_, ticket)| ticket),
        );
        for ticket in due {
            self.finish_advice(on, ticket);
        }
    }

    /// When the next answer is given, if that is known. O(1).
    pub(in crate::requests) fn next_answer(&self) -> Option<Time> {
        self.advising.settled.first().map(|(at, _)| *at)
    }

    /// Switches have the rules of a subflow.
    ///
    /// Packets may go by what was there before for a while yet: the host is not told until then.
    pub(in crate::requests) fn on_subflow_written(
        &mut self,
        on: &mut Lower<'_>,
        ticket: Ticket,
        id: StreamId,
    ) {
        self.on_subflow_ended(ticket, id);
        let Some(waiting) = self.advising.waiting.get_mut(&ticket) else { return };
        if waiting.unconfirmed.is_empty() {
            waiting.is_settled = true;
            self.advising.settled.insert((on.net.cx.now + on.net.cx.settings.grace, ticket));
        }
    }

    /// A subflow is no more, so that a question need not wait for it.
    pub(in crate::requests) fn on_subflow_ended(&mut self, ticket: Ticket, id: StreamId) {
        if let Some(waiting) = self.advising.waiting.get_mut(&ticket) {
            waiting.unconfirmed.remove(&id);
        }
    }

    fn begin_advice(
        &mut self,
        on: &mut Lower<'_>,
        ticket: Ticket,
        request: &AdviceRequest,
        asker: &Asker,
    ) -> Result<(), AdviceRefusal> {
        self.check_asker(on, asker, request)?;
        let place = self.place_of_connection(on, request)?;
        let limit = on.net.cx.settings.max_questions;
        if self.advising.waiting.len() >= limit {
            return Err(AdviceRefusal::Busy(limit));
        }
        self.end_failed(on, request);
        let is_single = on.streams.manner(on.net.cx.settings, &request.connection.tuple()).is_single();
        let transfer = if is_single { None } else { self.transfer_of(on, request, &place)? };
        let Some(transfer) = transfer else {
            let advice = Advice { ask_again_after: Some(ASK_AGAIN), ..Advice::default() };
            on.net.cx.out.reply(ticket, Reply::Advice(Ok(advice)));
            return Ok(());
        };
        self.supersede(on, transfer);
        let named = self.working(on, request);
        self.end_unwanted(on, transfer, request, &named);
        let ask_again_after = if request.failed.is_empty() { ASK_AGAIN } else { ASK_SOON };
        let until = on.net.cx.now + on.net.cx.settings.advice_timeout;
        let (unconfirmed, is_settled) = (BTreeSet::new(), false);
        let waiting = Waiting { transfer, until, is_settled, named, unconfirmed, ask_again_after };
        self.advising.waiting.insert(ticket, waiting);
        self.choose_subflows(on, ticket, request);
        if self.advising.waiting.get(&ticket).is_some_and(|it| it.unconfirmed.is_empty()) {
            self.finish_advice(on, ticket);
        }
        Ok(())
    }

    /// Whether every address that is taken for the asking host's is.
    fn check_asker(
        &self,
        on: &Lower<'_>,
        asker: &Asker,
        request: &AdviceRequest,
    ) -> Result<(), AdviceRefusal> {
        let mac_of = |ip: IpAddr| on.net.cx.topology.host_with_address(ip).map(|host| host.mac);
        let owns = |ip: IpAddr| match asker {
            Asker::Trusted => true,
            Asker::Owner(prefixes) => prefixes.iter().any(|prefix| prefix.contains(ip)),
            Asker::Host(from) => mac_of(*from).is_some() && mac_of(*from) == mac_of(ip),
        };
        // What is no address of this network, such as one that a host is managed by, does no harm.
        let is_foreign = |ip: IpAddr| ip != request.connection.local.ip() && mac_of(ip).is_none();
        match request.claimed().find(|ip| !owns(*ip) && !is_foreign(*ip)) {
            Some(ip) => Err(AdviceRefusal::NotOwn(ip)),
            None => Ok(()),
        }
    }

    fn place_of_connection(&self, on: &Lower<'_>, request: &AdviceRequest) -> Result<Place, AdviceRefusal> {
        let at = |ip| {
            let host = on.net.cx.topology.host_with_address(ip);
            host.map(|host| host.at).ok_or(AdviceRefusal::UnknownHost(ip))
        };
        let (host, peer) = (at(request.connection.local.ip())?, at(request.connection.remote.ip())?);
        Ok(Place { switches: SwitchPair::new(host.dpid, peer.dpid), host })
    }

    /// What has failed ends, and its path is left alone for a while.
    fn end_failed(&mut self, on: &mut Lower<'_>, request: &AdviceRequest) {
        let connection = request.connection.tuple();
        self.advising.avoided.retain(|(.., until)| *until > on.net.cx.now);
        for ends in request.failed.iter().filter(|ends| **ends != request.connection) {
            let Some(stream) = on.streams.table().by_tuple(&ends.tuple()) else { continue };
            let (id, route) = (stream.id, stream.route.clone());
            if let Some(route) = route {
                if self.advising.avoided.len() >= MAX_AVOIDED {
                    self.advising.avoided.pop_front();
                }
                self.advising.avoided.push_back((connection, route.forward, on.net.cx.now + AVOIDED));
            }
            self.end_stream(on, id);
        }
    }

    /// The transfer of the connection, which may be new here; `None` if its hosts have but one way to each other.
    fn transfer_of(
        &mut self,
        on: &mut Lower<'_>,
        request: &AdviceRequest,
        place: &Place,
    ) -> Result<Option<TransferId>, AdviceRefusal> {
        let first = request.connection.tuple();
        let opened = request.subflows.iter().map(|ends| ends.tuple());
        let all = [first, first.reversed()].into_iter().chain(opened);
        if let Some(known) = all.filter_map(|tuple| on.streams.table().by_tuple(&tuple)).next() {
            return Ok(Some(known.transfer));
        }
        if place.switches.src == place.switches.dst {
            return Ok(None);
        }
        if !on.admission.admit_stream(&mut on.net.cx, place.host) {
            return Err(AdviceRefusal::Full("the host's port opens too many connections".to_owned()));
        }
        let opened = on.streams.open_unseen(&mut on.net, first);
        let id = opened.map_err(|full| AdviceRefusal::Full(full.to_string()))?;
        let mut batch = Commands::default();
        match on.streams.place(&mut on.net, id, place.switches, &mut batch) {
            Some(hops) => on.streams.submit(&mut on.net, &hops, batch, Replaces::Working),
            None => self.end_stream(on, id),
        }
        Ok(on.streams.table().stream(id).map(|stream| stream.transfer))
    }

    /// Another question about the same connection waits: what it was to have is asked for anew, or not wanted.
    fn supersede(&mut self, on: &mut Lower<'_>, transfer: TransferId) {
        let before = self.advising.waiting.extract_if(.., |_, it| it.transfer == transfer);
        for (ticket, waiting) in before.collect::<Vec<_>>() {
            waiting.unconfirmed.iter().for_each(|stream| self.end_stream(on, *stream));
            on.net.cx.out.reply(ticket, Reply::Advice(Err(AdviceRefusal::Superseded)));
        }
    }

    /// Ends what the host was told to open and has not, and what it will close as it is not named again.
    fn end_unwanted(
        &mut self,
        on: &mut Lower<'_>,
        transfer: TransferId,
        request: &AdviceRequest,
        named: &[(StreamId, SubflowEnds)],
    ) {
        let ids = on.streams.table().transfer(transfer).map(|it| it.streams.as_slice()).unwrap_or_default();
        let expected = ids.iter().copied().filter(|id| self.advising.expected.contains_key(id));
        let opened = request.subflows.iter().filter_map(|ends| on.streams.table().by_tuple(&ends.tuple()));
        let all: BTreeSet<_> = expected.chain(opened.map(|stream| stream.id)).collect();
        let is_named = |id: &StreamId| named.iter().any(|(named, _)| named == id);
        for id in all.into_iter().filter(|id| !is_named(id)) {
            self.end_stream(on, id);
        }
    }

    /// Answers with what is in place; what is not by now is taken back.
    fn finish_advice(&mut self, on: &mut Lower<'_>, ticket: Ticket) {
        let Some(waiting) = self.advising.waiting.remove(&ticket) else { return };
        waiting.unconfirmed.iter().for_each(|stream| self.end_stream(on, *stream));
        let has_path = |id| on.streams.table().stream(id).is_some_and(|stream| stream.route.is_some());
        let named = waiting.named.iter().filter(|(id, _)| has_path(*id)).map(|(_, ends)| *ends).collect();
        let ask_again_after = match waiting.unconfirmed.is_empty() {
            true => waiting.ask_again_after,
            false => ASK_SOON,
        };
        let advice = Advice { subflows: named, ask_again_after: Some(ask_again_after) };
        on.net.cx.out.reply(ticket, Reply::Advice(Ok(advice)));
    }
}
