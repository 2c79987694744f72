//! Which subflows are worth having, on which paths.

use std::cmp::Reverse;
use std::net::IpAddr;

use braid_paths::Path;
use braid_steering::{AdviceRequest, StreamId, SubflowEnds};
use braid_types::{FiveTuple, SwitchPort, common_prefix};

use super::super::{Lower, Requests};
use crate::request::Ticket;
use crate::streams::NewStream;
use crate::switch_pair::SwitchPair;

/// A path for a subflow between two addresses.
#[derive(Debug)]
struct Way {
    /// The local port is 0 where any will do.
    ends: SubflowEnds,
    host: SwitchPort,
    path: Path,
}

impl Requests {
    /// Names what works, and adds a subflow for each path that shares no link with those of others; or as many as the
    /// policy wants, spread over the paths.
    pub(in crate::requests) fn choose_subflows(
        &mut self,
        on: &mut Lower<'_>,
        ticket: Ticket,
        request: &AdviceRequest,
    ) {
        let manner = on.streams.manner(on.net.cx.settings, &request.connection.tuple());
        let most = self.most_subflows(on, request);
        let mut ways = self.ways(on, ticket, request);
        while self.named(ticket).len() < most && !ways.is_empty() {
            let Some(index) = self.best_way(on, ticket, request, &mut ways) else { break };
            let Some(ends) = self.with_port(on, request, ways[index].ends) else {
                ways.remove(index);
                continue;
            };
            if !on.admission.admit_stream(&mut on.net.cx, ways[index].host) {
                break;
            }
            let path = ways[index].path.clone();
            let Some(id) = self.expect(on, ticket, ends, &path) else { break };
            ways.retain(|other| {
                other.ends != ends && (manner.subflows.is_some() || other.path.shared_cables(&path) == 0)
            });
            if let Some(waiting) = self.advising.waiting.get_mut(&ticket) {
                waiting.named.push((id, ends));
            }
        }
    }

    /// How many subflows the connection may have beside its first.
    fn most_subflows(&self, on: &Lower<'_>, request: &AdviceRequest) -> usize {
        let manner = on.streams.manner(on.net.cx.settings, &request.connection.tuple());
        let wanted = manner.subflows.map_or(request.most, |all| all.saturating_sub(1));
        wanted.min(request.most)
    }

    fn streams_of<'a>(&self, on: &'a Lower<'_>, ticket: Ticket) -> &'a [StreamId] {
        let transfer = self.advising.waiting.get(&ticket).map(|waiting| waiting.transfer);
        let transfer = transfer.and_then(|transfer| on.streams.table().transfer(transfer));
        transfer.map(|transfer| transfer.streams.as_slice()).unwrap_or_default()
    }

    fn named(&self, ticket: Ticket) -> &[(StreamId, SubflowEnds)] {
        self.advising.waiting.get(&ticket).map(|it| it.named.as_slice()).unwrap_or_default()
    }

    /// The subflows that the host has opened and that have a path for themselves.
    pub(in crate::requests) fn working(
        &self,
        on: &Lower<'_>,
        request: &AdviceRequest,
    ) -> Vec<(StreamId, SubflowEnds)> {
        let path_of = |ends: &SubflowEnds| {
            let tuple = ends.tuple();
            // A connection may have been opened by its other end.
            let stream = on
                .streams
                .table()
                .by_tuple(&tuple)
                .or_else(|| on.streams.table().by_tuple(&tuple.reversed()));
            let stream = stream.filter(|_| !request.failed.contains(ends))?;
            Some((stream.id, &stream.route.as_ref()?.forward))
        };
        let may_share = on.streams.manner(on.net.cx.settings, &request.connection.tuple()).subflows.is_some();
        let most = self.most_subflows(on, request);
        let first = path_of(&request.connection).map(|(_, path)| path);
        let (mut used, mut working): (Vec<&Path>, _) = (first.into_iter().collect(), Vec::new());
        for ends in &request.subflows {
            let free = path_of(ends)
                .filter(|(_, path)| may_share || used.iter().all(|it| it.shared_cables(path) == 0));
            if let Some((id, path)) = free.filter(|_| working.len() < most) {
                used.push(path);
                working.push((id, *ends));
            }
        }
        working
    }

    /// The paths between any two addresses of the hosts that no stream of the transfer uses a link of, if that counts.
    fn ways(&mut self, on: &mut Lower<'_>, ticket: Ticket, request: &AdviceRequest) -> Vec<Way> {
        let connection = request.connection.tuple();
        let manner = on.streams.manner(on.net.cx.settings, &connection);
        let siblings = match manner.subflows {
            Some(_) => Vec::new(),
            None => self.paths_of(on, ticket, request),
        };
        let mut ways = Vec::new();
        for (ends, host, peer) in self.wanted_pairs(on, request) {
            let set = manner.paths(on.net.cx.paths, SwitchPair::new(host.dpid, peer.dpid));
            let is_free = |path: &Path| siblings.iter().all(|used| used.shared_cables(path) == 0);
            let is_avoided = |path: &Path| {
                self.advising.avoided.iter().any(|(of, avoided, _)| *of == connection && avoided == path)
            };
            let usable = on.net.cx.paths.usable(&set, on.net.cx.now).filter(|path| !path.links().is_empty());
            let free = usable.filter(|path| is_free(path) && !is_avoided(path));
            ways.extend(free.map(|path| Way { ends, host, path: path.clone() }));
        }
        ways
    }

    /// First what the host has opened and nobody here knows, then pairs of addresses; and where both ends are.
    fn wanted_pairs(
        &self,
        on: &Lower<'_>,
        request: &AdviceRequest,
    ) -> Vec<(SubflowEnds, SwitchPort, SwitchPort)> {
        let at = |ip: IpAddr| on.net.cx.topology.host_with_address(ip).map(|host| host.at);
        let opened = request.subflows.iter().filter(|ends| !request.failed.contains(ends));
        let unknown = opened.copied().filter(|ends| on.streams.table().by_tuple(&ends.tuple()).is_none());
        let all = unknown.chain(request.pairs());
        let placed = all.filter_map(|ends| Some((ends, at(ends.local.ip())?, at(ends.remote.ip())?)));
        placed.filter(|(_, host, peer)| host.dpid != peer.dpid).collect()
    }

    /// Where the established streams of a transfer go, but not its first if that has failed.
    fn paths_of(&self, on: &Lower<'_>, ticket: Ticket, request: &AdviceRequest) -> Vec<Path> {
        let first = request.connection.tuple();
        let has_failed = |tuple: FiveTuple| tuple == first && request.failed.contains(&request.connection);
        let ids = self.streams_of(on, ticket);
        let streams = ids.iter().filter_map(|id| on.streams.table().stream(*id));
        let live = streams.filter(|it| it.established && !has_failed(it.tuple));
        let routes = live.filter_map(|it| it.route.as_ref());
        routes.map(|route| route.forward.clone()).collect()
    }

    /// Which way is best for the next subflow: what is open already, then between addresses that are used least.
    fn best_way(
        &mut self,
        on: &mut Lower<'_>,
        ticket: Ticket,
        request: &AdviceRequest,
        ways: &mut [Way],
    ) -> Option<usize> {
        let opened = self.named(ticket).iter().map(|(_, ends)| ends).chain([&request.connection]);
        let opened: Vec<_> = opened.copied().collect();
        let uses = |ends: &SubflowEnds| {
            let shares =
                |it: &&SubflowEnds| it.local.ip() == ends.local.ip() || it.remote.ip() == ends.remote.ip();
            opened.iter().filter(shares).count()
        };
        let rank = |way: &Way| {
            let alike = common_prefix(way.ends.local.ip(), way.ends.remote.ip());
            (way.ends.local.port() == 0, uses(&way.ends), Reverse(alike))
        };
        ways.sort_by_cached_key(|way| (rank(way), way.path.hops()));
        let first = ways.first()?;
        let best = rank(first);
        let policy = on.streams.manner(on.net.cx.settings, &request.connection.tuple()).placement;
        let candidates: Vec<_> =
            ways.iter().take_while(|way| rank(way) == best).map(|way| &way.path).collect();
        let transfer = self.advising.waiting.get(&ticket)?.transfer;
        let stream = NewStream { transfer, tuple: &first.ends.tuple() };
        on.streams.choose_among(&on.net, stream, &candidates, policy)
    }

    /// A local port that nobody is known to use.
    fn with_port(
        &self,
        on: &Lower<'_>,
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
        on.streams.table().by_tuple(&ends.tuple()).is_none().then_some(ends)
    }
}
