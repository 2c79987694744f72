//! The subflows of a connection: what the planner may choose from, and what it has chosen, with ports.

use std::net::IpAddr;

use braid_paths::Path;
use braid_planner::{EffectivePolicy, SubflowPlan, kept_subflows};
use braid_steering::{AdviceRequest, StreamId, SubflowEnds};
use braid_types::{FiveTuple, SwitchPair, SwitchPort};

use super::super::{RequestDeps, Requests};
use super::NamedSubflow;
use crate::placer::ToPlace;
use crate::request::Ticket;

impl Requests {
    /// Names what works, and adds the subflows that are planned.
    pub(in crate::requests) fn choose_subflows(
        &mut self,
        on: &mut RequestDeps<'_>,
        ticket: Ticket,
        request: &AdviceRequest,
    ) {
        let Some(transfer) = self.advising.waiting.get(&ticket).map(|it| it.transfer) else { return };
        let mut plan = self.plan_subflows(on, ticket, request);
        while let Some(candidate) = plan.next(|ends, paths, policy| {
            let tuple = &ends.tuple();
            let to_place = ToPlace { transfer, tuple, stream: None, candidates: paths, policy };
            let chosen = on.deps.placer.choose(&on.deps.cx, on.deps.transfers, to_place);
            chosen.map(|placement| placement.index)
        }) {
            let Some(ends) = self.with_port(on, request, candidate.ends) else {
                plan.reject(&candidate);
                continue;
            };
            let host = on.deps.cx.topology.host_with_address(ends.local.ip()).map(|host| host.at);
            if !host.is_some_and(|at| on.deps.admission.admit_stream(&mut on.deps.cx, at)) {
                break;
            }
            let Some(id) = self.expect(on, ticket, ends, &candidate.path) else { break };
            plan.name(&candidate, ends);
            if let Some(waiting) = self.advising.waiting.get_mut(&ticket) {
                waiting.named.push(NamedSubflow { stream: id, ends });
            }
        }
    }

    fn policy_of(&self, on: &RequestDeps<'_>, request: &AdviceRequest) -> EffectivePolicy {
        on.deps.cx.policy_of(&request.connection.tuple())
    }

    fn streams_of<'a>(&self, on: &'a RequestDeps<'_>, ticket: Ticket) -> &'a [StreamId] {
        let transfer = self.advising.waiting.get(&ticket).map(|waiting| waiting.transfer);
        let transfer = transfer.and_then(|transfer| on.deps.transfers.transfer(transfer));
        transfer.map(|transfer| transfer.streams.as_slice()).unwrap_or_default()
    }

    fn named(&self, ticket: Ticket) -> &[NamedSubflow] {
        self.advising.waiting.get(&ticket).map(|it| it.named.as_slice()).unwrap_or_default()
    }

    /// The subflows that the host has opened and that have a path for themselves.
    pub(super) fn working(&self, on: &RequestDeps<'_>, request: &AdviceRequest) -> Vec<NamedSubflow> {
        let path_of = |ends: &SubflowEnds| {
            let tuple = ends.tuple();
            // A connection may have been opened by its other end.
            let stream =
                on.deps.transfers.by_tuple(&tuple).or_else(|| on.deps.transfers.by_tuple(&tuple.reversed()));
            let stream = stream.filter(|_| !request.failed.contains(ends))?;
            Some((stream.id, &stream.route.as_ref()?.forward))
        };
        let policy = self.policy_of(on, request);
        let first = path_of(&request.connection).map(|(_, path)| path);
        let opened: Vec<_> = request.subflows.iter().map(|ends| (ends, path_of(ends))).collect();
        let paths = opened.iter().map(|(_, known)| known.map(|(_, path)| path));
        let kept = kept_subflows(&policy, request.most, first, paths);
        let working = opened.into_iter().zip(kept).filter(|(_, kept)| *kept);
        working
            .filter_map(|((ends, known), _)| Some(NamedSubflow { stream: known?.0, ends: *ends }))
            .collect()
    }

    /// The plan for further subflows, with the paths between any two addresses of the hosts that are not suspended.
    fn plan_subflows(
        &self,
        on: &mut RequestDeps<'_>,
        ticket: Ticket,
        request: &AdviceRequest,
    ) -> SubflowPlan {
        let connection = request.connection.tuple();
        let policy = self.policy_of(on, request);
        let kept = self.named(ticket).iter().map(|it| it.ends);
        let used = self.paths_of(on, ticket, request);
        let mut plan = SubflowPlan::new(policy, request.most, request.connection, kept, used);
        let is_avoided = |path: &Path| {
            self.advising.avoided.iter().any(|(of, avoided, _)| *of == connection && avoided == path)
        };
        for (ends, host, peer) in self.wanted_pairs(on, request) {
            let pair = SwitchPair::new(host.dpid, peer.dpid);
            let set = on.deps.cx.paths.of_kind(policy.kind, policy.k, pair);
            let usable = on.deps.cx.paths.conditions(on.deps.cx.now).usable(&set);
            plan.offer(ends, usable.filter(|path| !is_avoided(path)));
        }
        plan
    }

    /// First what the host has opened and nobody here knows, then pairs of addresses; and where both ends are.
    fn wanted_pairs(
        &self,
        on: &RequestDeps<'_>,
        request: &AdviceRequest,
    ) -> Vec<(SubflowEnds, SwitchPort, SwitchPort)> {
        let at = |ip: IpAddr| on.deps.cx.topology.host_with_address(ip).map(|host| host.at);
        let opened = request.subflows.iter().filter(|ends| !request.failed.contains(ends));
        let unknown = opened.copied().filter(|ends| on.deps.transfers.by_tuple(&ends.tuple()).is_none());
        let all = unknown.chain(request.pairs());
        let placed = all.filter_map(|ends| Some((ends, at(ends.local.ip())?, at(ends.remote.ip())?)));
        placed.filter(|(_, host, peer)| host.dpid != peer.dpid).collect()
    }

    /// Where the established streams of a transfer go, but not its first if that has failed.
    fn paths_of(&self, on: &RequestDeps<'_>, ticket: Ticket, request: &AdviceRequest) -> Vec<Path> {
        let first = request.connection.tuple();
        let has_failed = |tuple: FiveTuple| tuple == first && request.failed.contains(&request.connection);
        let ids = self.streams_of(on, ticket);
        let streams = ids.iter().filter_map(|id| on.deps.transfers.stream(*id));
        let live = streams.filter(|it| it.established && !has_failed(it.tuple));
        let routes = live.filter_map(|it| it.route.as_ref());
        routes.map(|route| route.forward.clone()).collect()
    }

    /// A local port that nobody is known to use.
    fn with_port(
        &self,
        on: &RequestDeps<'_>,
        request: &AdviceRequest,
        mut ends: SubflowEnds,
    ) -> Option<SubflowEnds> {
        if ends.local.port() != 0 {
            return Some(ends);
        }
        let local = ends.local.ip();
        let mut ports =
            request.free_ports(local).filter(|port| !self.advising.ports.contains(&(local, *port)));
        ends.local.set_port(ports.next()?);
        on.deps.transfers.by_tuple(&ends.tuple()).is_none().then_some(ends)
    }
}
