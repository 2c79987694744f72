//! Assignments of paths to applications, and the streams that applications announce.

use std::net::IpAddr;

use braid_assign::{AssignError, AssignmentId, Claim, Owner};
use braid_steering::{Group, Opening, StreamId};
use braid_types::{DatapathId, FiveTuple, SwitchPair};

use super::confirmations::{Prepared, Waiter};
use super::{RequestDeps, Requests};
use crate::command::Commands;
use crate::request::{PlacedView, Refusal, Reply, Request, Ticket};
use crate::reservations::ReservationDeps;
use crate::reservations::{Sources, assignment_of, path_index};
use crate::streams::PlaceOn;

/// A connection that an application announces for its assignment.
#[derive(Clone, Copy)]
struct Announced<'a> {
    assignment: AssignmentId,
    owner: Option<&'a Owner>,
    tuple: FiveTuple,
}

impl Requests {
    /// Handles a request of an application or a host agent.
    pub(crate) fn handle_request(&mut self, on: &mut RequestDeps<'_>, ticket: Ticket, request: &Request) {
        let answer = match request {
            Request::Assign(claim) => self.set_paths_aside(on, claim).map(Some),
            Request::Place { assignment, owner, tuple } => self.place_announced(
                on,
                ticket,
                Announced { assignment: *assignment, owner: owner.as_ref(), tuple: *tuple },
            ),
            Request::End { assignment, owner, tuple } => self
                .end_announced(
                    on,
                    Announced { assignment: *assignment, owner: owner.as_ref(), tuple: *tuple },
                )
                .map(Some),
            Request::Renew { assignment, owner } => {
                let renewed = on.deps.reservations.renew(&on.deps.cx, *assignment, owner.as_ref());
                renewed
                    .map(|_| ())
                    .map_err(Refusal::from)
                    .and_then(|()| self.view_of(on, *assignment))
                    .map(Some)
            }
            Request::Release { assignment, owner } => {
                let (deps, owner) = (&mut on.deps, owner.as_ref());
                let below = ReservationDeps { fabric: deps.fabric, streams: deps.transfers };
                let last = deps.reservations.release(&deps.cx, below, *assignment, owner);
                last.map(|view| Some(Reply::Assignment(view))).map_err(Refusal::from)
            }
            Request::Advise { request, asker } => {
                self.advise(on, ticket, request, asker);
                Ok(None)
            }
        };
        match answer {
            Ok(Some(answer)) => on.deps.cx.out.reply(ticket, answer),
            Ok(None) => {}
            Err(refusal) => on.deps.cx.out.reply(ticket, Reply::Refused(refusal)),
        }
    }

    fn set_paths_aside(&mut self, on: &mut RequestDeps<'_>, claim: &Claim) -> Result<Reply, Refusal> {
        on.deps.reservations.assignments().check(claim)?;
        let ends = SwitchPair::new(self.switch_of(on, claim.src)?, self.switch_of(on, claim.dst)?);
        let below = ReservationDeps { fabric: on.deps.fabric, streams: on.deps.transfers };
        let opened = on.deps.reservations.open(&mut on.deps.cx, below, claim, ends);
        // Rules are still being compared with links, of which some are not found again.
        let id = match opened {
            Err(AssignError::NoPath) if on.deps.cx.out.installed.is_settling() => {
                return Err(Refusal::AwaitsLinks);
            }
            opened => opened?,
        };
        self.view_of(on, id)
    }

    fn view_of(&self, on: &RequestDeps<'_>, id: AssignmentId) -> Result<Reply, Refusal> {
        let reservations = &on.deps.reservations;
        let assignment = reservations.assignments().get(id).ok_or(AssignError::Unknown(id))?;
        Ok(Reply::Assignment(reservations.view(Sources::new(&on.deps.cx, on.deps.transfers), assignment)))
    }

    /// Places a connection on a path; the answer may come later.
    fn place_announced(
        &mut self,
        on: &mut RequestDeps<'_>,
        ticket: Ticket,
        announced: Announced<'_>,
    ) -> Result<Option<Reply>, Refusal> {
        let Announced { assignment, owner, tuple } = announced;
        let between = on.deps.reservations.renew(&on.deps.cx, assignment, owner)?.claim.clone();
        let ends = self.check_hosts(on, &between, &tuple)?;
        let opening = Opening::Parallel(Group::Announced(assignment.0));
        let id =
            on.streams.open_stream(&mut on.deps, tuple, opening).map_err(|full| Refusal::Full(full.what))?;
        if self.confirmations.is_pending(id) {
            let may_wait = self.confirmations.join(id, Waiter::Application(ticket));
            return if may_wait { Ok(None) } else { Err(Refusal::Full("requests for one stream")) };
        }
        if let Some(placed) = self.placed(on, id) {
            return Ok(Some(Reply::Placed(placed)));
        }
        let mut batch = Commands::default();
        let Some(hops) = on.streams.place(&mut on.deps, id, PlaceOn::Best(ends), &mut batch) else {
            self.end_stream(on, id);
            return Err(Refusal::NoRoute(tuple));
        };
        if let Ok(assignment) = on.deps.reservations.renew(&on.deps.cx, assignment, owner) {
            assignment.placed += 1;
        }
        self.write_and_confirm(on, Waiter::Application(ticket), id, Prepared { hops, batch });
        Ok(None)
    }

    fn end_announced(
        &mut self,
        on: &mut RequestDeps<'_>,
        announced: Announced<'_>,
    ) -> Result<Reply, Refusal> {
        let Announced { assignment, owner, tuple } = announced;
        on.deps.reservations.renew(&on.deps.cx, assignment, owner)?;
        let opening = Opening::Parallel(Group::Announced(assignment.0));
        let stream = on.deps.transfers.by_tuple(&tuple).filter(|stream| stream.opening == opening);
        let id = stream.ok_or(Refusal::NoStream(tuple))?.id;
        self.end_stream(on, id);
        Ok(Reply::Ended)
    }

    /// The switches of a connection's hosts. The hosts must be those of the assignment, in either direction.
    fn check_hosts(
        &self,
        on: &RequestDeps<'_>,
        claim: &Claim,
        tuple: &FiveTuple,
    ) -> Result<SwitchPair, Refusal> {
        let is_of = |one: IpAddr, other: IpAddr| {
            let host = |ip| on.deps.cx.topology.host_with_address(ip).map(|host| host.mac);
            one == other || (host(one).is_some() && host(one) == host(other))
        };
        let there = is_of(tuple.src, claim.src) && is_of(tuple.dst, claim.dst);
        let back = is_of(tuple.src, claim.dst) && is_of(tuple.dst, claim.src);
        if !there && !back {
            return Err(Refusal::OtherHosts(*tuple));
        }
        Ok(SwitchPair::new(self.switch_of(on, tuple.src)?, self.switch_of(on, tuple.dst)?))
    }

    fn switch_of(&self, on: &RequestDeps<'_>, host: IpAddr) -> Result<DatapathId, Refusal> {
        let at = on.deps.cx.topology.host_with_address(host).map(|host| host.at.dpid);
        let was_known = on.memory.has_host(host);
        at.ok_or(if was_known { Refusal::AwaitsSwitch(host) } else { Refusal::UnknownHost(host) })
    }

    /// A stream's path, as reported to its application.
    pub(super) fn placed(&self, on: &RequestDeps<'_>, id: StreamId) -> Option<PlacedView> {
        let stream = on.deps.transfers.stream(id)?;
        let path = &stream.route.as_ref()?.forward;
        let assignment = assignment_of(on.deps.reservations.assignments(), stream);
        let index = assignment.and_then(|assignment| path_index(assignment, path));
        Some(PlacedView { stream: id, path: index, switches: path.switches().collect() })
    }
}
