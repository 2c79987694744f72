//! Paths that applications have set aside, and the streams that they announce.

use std::net::IpAddr;

use braid_assign::{AssignError, Assignment, AssignmentId, Claim, Owner};
use braid_paths::Path;
use braid_steering::{Group, Opening, Stream, StreamId};
use braid_types::{DatapathId, FiveTuple, Time};

use super::confirmations::Waiter;
use super::{Brain, context};
use crate::command::Commands;
use crate::request::{PlacedView, Refusal, Reply, Request, Ticket};

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
            Request::Renew { assignment, owner } => self.renew(now, *assignment, owner.as_ref()).map(Some),
            Request::Release { assignment, owner } => {
                self.release(now, *assignment, owner.as_ref()).map(Some)
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
        self.assignments.expire(now);
        self.departed.tick(now);
        self.forget_recognised();
        self.expire_confirmations(now, out);
    }

    /// The paths that are set aside, in both directions.
    pub(super) fn set_aside(&self) -> impl Iterator<Item = Path> {
        let paths = self.assignments.iter().flat_map(|assignment| &assignment.paths);
        paths.flat_map(|path| [path.clone(), path.reversed()])
    }

    fn set_paths_aside(&mut self, now: Time, claim: &Claim, out: &mut Commands) -> Result<Reply, Refusal> {
        self.assignments.check(claim)?;
        let ends = (self.switch_of(claim.src)?, self.switch_of(claim.dst)?);
        let paths = self.useful_paths(now, ends, claim);
        let made = self.assignments.open(now, claim.clone(), paths)?;
        let (id, paths) = (made.id, made.paths.clone());
        self.install_ahead(now, &paths, out);
        self.view_of(id)
    }

    /// The labels of paths are in the switches by the time streams come, which need no more then than rules of their own.
    pub(super) fn install_ahead(&mut self, now: Time, paths: &[Path], out: &mut Commands) {
        for path in paths {
            self.fabric.open(&mut context!(self, now, out), path);
            self.fabric.open(&mut context!(self, now, out), &path.reversed());
        }
    }

    fn renew(&mut self, now: Time, id: AssignmentId, owner: Option<&Owner>) -> Result<Reply, Refusal> {
        self.assignments.renew(now, id, owner)?;
        self.view_of(id)
    }

    fn release(&mut self, now: Time, id: AssignmentId, owner: Option<&Owner>) -> Result<Reply, Refusal> {
        let last = self.renew(now, id, owner)?;
        self.assignments.end(now, id, owner)?;
        Ok(last)
    }

    fn view_of(&self, id: AssignmentId) -> Result<Reply, Refusal> {
        let view = self.assignments.get(id).map(|assignment| self.assignment_view(assignment));
        view.map(Reply::Assignment).ok_or(Refusal::Assign(AssignError::Unknown(id)))
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
        let between = self.assignments.renew(now, assignment, owner)?.claim.clone();
        let ends = self.check_hosts(&between, &tuple)?;
        let opening = Opening::Parallel(Group::Announced(assignment.0));
        let id = self.open_stream(now, tuple, opening, out).ok_or(Refusal::Full("streams"))?;
        if self.confirmations.is_pending(id) {
            let may_wait = self.confirmations.join(id, Waiter::Application(ticket));
            return if may_wait { Ok(None) } else { Err(Refusal::Full("requests for one stream")) };
        }
        if let Some(placed) = self.placed(id) {
            return Ok(Some(Reply::Placed(placed)));
        }
        let mut batch = Commands::default();
        let Some(hops) = self.place(now, id, ends, &mut batch, out) else {
            self.end_stream(id, out);
            return Err(Refusal::NoRoute(tuple));
        };
        if let Ok(assignment) = self.assignments.renew(now, assignment, owner) {
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
        self.assignments.renew(now, assignment, owner)?;
        let opening = Opening::Parallel(Group::Announced(assignment.0));
        let stream = self.streams.by_tuple(&tuple).filter(|stream| stream.opening == opening);
        let id = stream.ok_or(Refusal::NoStream(tuple))?.id;
        self.end_stream(id, out);
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
        let stream = self.streams.stream(id)?;
        let path = &stream.route.as_ref()?.forward;
        let index = self.assignment_of(stream).and_then(|assignment| place_in(assignment, path));
        Some(PlacedView { stream: id, path: index, switches: path.switches().collect() })
    }

    /// The assignment that a stream belongs to, if it has not ended.
    pub(super) fn assignment_of(&self, stream: &Stream) -> Option<&Assignment> {
        match stream.opening {
            Opening::Parallel(Group::Announced(id)) => self.assignments.get(AssignmentId(id)),
            _ => None,
        }
    }
}

/// Which path of an assignment a stream takes, in whichever direction.
pub(super) fn place_in(assignment: &Assignment, path: &Path) -> Option<usize> {
    assignment.paths.iter().position(|it| it == path || it.is_reverse_of(path))
}
