//! Migration of streams from a working path to a better one without packet loss.

use braid_paths::Path;
use braid_steering::{Move, Stream, StreamId, Transfers};
use braid_types::SwitchPair;

use super::placing::Chosen;
use super::{StreamDeps, Streams};
use crate::command::Commands;
use crate::fabric::Replaces;

impl Streams {
    /// Moves a stream to `path`, between the same two switches, after its confirmation and grace time.
    ///
    /// Until then its packets use the old path. Packets in flight there arrive, since its rules stay longer.
    pub(super) fn move_stream(&mut self, deps: &mut StreamDeps<'_>, id: StreamId, path: &Path) {
        let mut batch = Commands::default();
        let shared = deps.transfers.stream(id).map_or(0, |stream| shared(deps.transfers, stream, path));
        if let Some(hops) = self.assign(deps, id, &Chosen::path(path.clone(), shared), &mut batch) {
            self.submit(deps, &hops, batch, Replaces::Working);
        }
    }

    /// Moves recently placed streams to make room for another one.
    pub(super) fn make_room(&mut self, deps: &mut StreamDeps<'_>, moves: Vec<Move>) {
        for Move { stream, path } in moves {
            let route = deps.transfers.stream(stream).and_then(|it| it.route.as_ref());
            let same_ends = |current: &Path| {
                (current.ingress(), current.egress()) == (path.ingress(), path.egress()) && *current != path
            };
            if deps.spray.stream(stream).is_none() && route.is_some_and(|route| same_ends(&route.forward)) {
                self.move_stream(deps, stream, &path);
            }
        }
    }

    /// After links were added: moves streams that share links with others of their transfer to separate
    /// paths.
    pub(super) fn spread_again(&mut self, deps: &mut StreamDeps<'_>) {
        if deps.cx.out.installed.is_settling() || !std::mem::take(&mut self.may_spread) {
            return;
        }
        // Last streams first: the first ones have the shortest paths.
        for id in deps.transfers.streams().map(|stream| stream.id).collect::<Vec<_>>().into_iter().rev() {
            if let Some(path) = self.better_path(deps, id) {
                self.move_stream(deps, id, &path);
            }
        }
    }

    /// Moves streams off degraded links where another path is less degraded, and lets others spread over links that
    /// work again. O(streams).
    pub(super) fn leave_degraded(&mut self, deps: &mut StreamDeps<'_>) {
        self.may_spread = true;
        if deps.cx.out.installed.is_settling() {
            return;
        }
        for id in deps.transfers.streams().map(|stream| stream.id).collect::<Vec<_>>() {
            if let Some(path) = self.less_degraded_path(deps, id) {
                self.move_stream(deps, id, &path);
            }
        }
    }

    /// The path that a stream would get now, if it is less degraded than the current one. Edges leave lossy paths of
    /// sprayed streams by themselves.
    fn less_degraded_path(&mut self, deps: &mut StreamDeps<'_>, id: StreamId) -> Option<Path> {
        let current = deps.transfers.stream(id)?.route.as_ref()?.forward.clone();
        let before = deps.cx.paths.conditions(deps.cx.now).degradation(&current);
        if before.is_none() || deps.spray.stream(id).is_some() {
            return None;
        }
        let ends = SwitchPair::new(current.ingress(), current.egress());
        let chosen = self.choose_path(deps, id, None, ends)?;
        (deps.cx.paths.conditions(deps.cx.now).degradation(&chosen.path) < before).then_some(chosen.path)
    }

    /// A path shared with fewer siblings, or on fewer links, than the current one.
    pub(super) fn better_path(&mut self, deps: &mut StreamDeps<'_>, id: StreamId) -> Option<Path> {
        let stream = deps.transfers.stream(id)?;
        let current = &stream.route.as_ref()?.forward;
        let before = overlap(deps.transfers, stream, current);
        if before.0 == 0 {
            return None;
        }
        let chosen =
            self.choose_path(deps, id, None, SwitchPair::new(current.ingress(), current.egress()))?;
        let after = overlap(deps.transfers, deps.transfers.stream(id)?, &chosen.path);
        (after < before).then_some(chosen.path)
    }
}

/// The number of established siblings that share links with `path`, and of shared links in total.
fn overlap(transfers: &Transfers, stream: &Stream, path: &Path) -> (usize, usize) {
    let shared = sibling_paths(transfers, stream).map(|sibling| path.shared_links(sibling));
    shared.filter(|links| *links > 0).fold((0, 0), |(met, all), links| (met + 1, all + links))
}

/// The number of links that `path` shares with established siblings, summed over these.
pub(super) fn shared(transfers: &Transfers, stream: &Stream, path: &Path) -> usize {
    sibling_paths(transfers, stream).map(|sibling| path.shared_links(sibling)).sum()
}

/// The paths of the other established streams of its transfer.
fn sibling_paths<'a>(transfers: &'a Transfers, stream: &'a Stream) -> impl Iterator<Item = &'a Path> {
    let established = transfers.siblings(stream).filter(|sibling| sibling.established);
    established.filter_map(|sibling| sibling.route.as_ref()).map(|route| &route.forward)
}
