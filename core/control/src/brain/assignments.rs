//! Paths that applications have set aside, and the streams that they announce.

use std::net::IpAddr;

use braid_assign::{AssignmentId, Claim, Owner};
use braid_steering::{Group, Opening, StreamId};
use braid_types::{DatapathId, FiveTuple, Time};

use super::confirmations::Waiter;
use super::{Brain, context};
use crate::command::Commands;
use crate::request::{PlacedView, Refusal, Reply, Request, Ticket};
use crate::reservations::place_in;
use crate::streams::network;

impl Brain {
    /// An application, or the agent of a host, asks for something.
    pub(super) fn on_request(&mut self, now: Time, ticket: Ticket, request: &Request, out: &mut Commands) {
        let answer = match request {
            Request::Assign(claim) => self.set_paths_aside(now, claim, out).map(Some),
            Request::Place { assignment, owner, tuple } => {
                self.place_announced(now, ticket, (*assignment, owner.as_ref()), *tuple, out)
            }
            Request::End { assignment, owner, tuple } => {
                self.end_announced(now, (*assignment, owner.as_ref()), *tuple, out).map(Some)
            }
            Request::Renew { assignment, owner } => {
                let renewed = self.reservations.renew(&context!(self, now, out), *assignment, owner.as_ref());
                renewed.map(|_| ()).map_err(Refusal::from).and_then(|()| self.view_of(*assignment)).map(Some)
            }
            Request::Release { assignment, owner } => {
                let which = (*assignment, owner.as_ref());
                let last = self.reservations.release(&context!(self, now, out), self.streams.table(), which);
                last.map(|view| Some(Reply::Assignment(view))).map_err(Refusal::from)
            }
            Request::Advise { request, asker } => {
                self.advise(now, ticket, (request, asker), out);
                Ok(None)
            }
        };
        match answer {
            Ok(Some(answer)) => out.reply(ticket, answer),
            Ok(None) => {}
            Err(refusal) => out.reply(ticket, Reply::Refused(refusal)),
        }
    }

    /// Ends what nobody uses any more; called once a tick.
    pub(super) fn tick_assignments(&mut self, now: Time, out: &mut Commands) {
        self.reservations.handle_timeout(&context!(self, now, out));
        self.expire_confirmations(now, out);
    }

    fn set_paths_aside(&mut self, now: Time, claim: &Claim, out: &mut Commands) -> Result<Reply, Refusal> {
        let ends = (self.switch_of(claim.src)?, self.switch_of(claim.dst)?);
        let (cx, below) = (&mut context!(self, now, out), (&mut self.fabric, self.streams.table()));
        let id = self.reservations.open(cx, below, claim, ends)?;
        self.view_of(id)
    }

    fn view_of(&self, id: AssignmentId) -> Result<Reply, Refusal> {
        Ok(Reply::Assignment(self.reservations.view(self.sources(), id)?))
    }

    /// Gives a connection a path; the answer may come later.
    fn place_announced(
        &mut self,
        now: Time,
        ticket: Ticket,
        (assignment, owner): (AssignmentId, Option<&Owner>),
        tuple: FiveTuple,
        out: &mut Commands,
    ) -> Result<Option<Reply>, Refusal> {
        let between = self.reservations.renew(&context!(self, now, out), assignment, owner)?.claim.clone();
        let ends = self.check_hosts(&between, &tuple)?;
        let opening = Opening::Parallel(Group::Announced(assignment.0));
        let id = self
            .streams
            .open_stream(&mut network!(self, now, out), tuple, opening)
            .ok_or(Refusal::Full("streams"))?;
        if self.confirmations.is_pending(id) {
            let may_wait = self.confirmations.join(id, Waiter::Application(ticket));
            return if may_wait { Ok(None) } else { Err(Refusal::Full("requests for one stream")) };
        }
        if let Some(placed) = self.placed(id) {
            return Ok(Some(Reply::Placed(placed)));
        }
        let mut batch = Commands::default();
        let Some(hops) = self.streams.place(&mut network!(self, now, out), id, ends, &mut batch) else {
            self.end_stream(now, id, out);
            return Err(Refusal::NoRoute(tuple));
        };
        if let Ok(assignment) = self.reservations.renew(&context!(self, now, out), assignment, owner) {
            assignment.placed += 1;
        }
        self.write_and_confirm(now, Waiter::Application(ticket), id, (hops, batch), out);
        Ok(None)
    }

    fn end_announced(
        &mut self,
        now: Time,
        (assignment, owner): (AssignmentId, Option<&Owner>),
        tuple: FiveTuple,
        out: &mut Commands,
    ) -> Result<Reply, Refusal> {
        self.reservations.renew(&context!(self, now, out), assignment, owner)?;
        let opening = Opening::Parallel(Group::Announced(assignment.0));
        let stream = self.streams.table().by_tuple(&tuple).filter(|stream| stream.opening == opening);
        let id = stream.ok_or(Refusal::NoStream(tuple))?.id;
        self.end_stream(now, id, out);
        Ok(Reply::Ended)
    }

    /// The switches of a connection's hosts, which are those of the assignment, whichever of them opens it.
    fn check_hosts(&self, claim: &Claim, tuple: &FiveTuple) -> Result<(DatapathId, DatapathId), Refusal> {
        let is_of = |one: IpAddr, other: IpAddr| {
            let host = |ip| self.topology.host_with_address(ip).map(|host| host.mac);
            one == other || (host(one).is_some() && host(one) == host(other))
        };
        let there = is_of(tuple.src, claim.src) && is_of(tuple.dst, claim.dst);
        let back = is_of(tuple.src, claim.dst) && is_of(tuple.dst, claim.src);
        if !there && !back {
            return Err(Refusal::OtherHosts(*tuple));
        }
        Ok((self.switch_of(tuple.src)?, self.switch_of(tuple.dst)?))
    }

    fn switch_of(&self, host: IpAddr) -> Result<DatapathId, Refusal> {
        let at = self.topology.host_with_address(host).map(|host| host.at.dpid);
        at.ok_or(Refusal::UnknownHost(host))
    }

    /// A stream's path, as its application sees it.
    pub(super) fn placed(&self, id: StreamId) -> Option<PlacedView> {
        let stream = self.streams.table().stream(id)?;
        let path = &stream.route.as_ref()?.forward;
        let index = self.reservations.of(stream).and_then(|assignment| place_in(assignment, path));
        Some(PlacedView { stream: id, path: index, switches: path.switches().collect() })
    }
}
