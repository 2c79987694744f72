use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::time::Duration;

use braid_paths::Path;
use braid_topology::{Graph, Link};
use braid_types::{SwitchPort, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Choice, Placement, Question, overlap};

/// So long it takes until the counters of ports show what a stream carries.
const UNSEEN: Duration = Duration::from_secs(5);
/// Streams placed within that time that are remembered; of more, the first are left out.
const MAX_RECENT: usize = 4_096;
/// Of the most headroom, in percent, what counts as much: loads are not measured more exactly than that.
const AS_GOOD: u128 = 90;

/// Of the paths that meet the fewest of the transfer's own streams, the one with the most headroom, whoever else uses
/// the network; among those with about as much, the shortest.
///
/// The headroom of a path is that of its narrowest link in either direction, since it is not known which way the stream
/// will carry more. What was placed in the last seconds does not show in measured loads: a link's headroom is
/// divided among those streams and the new one.
#[derive(Debug, Default)]
pub struct LeastLoaded {
    recent: VecDeque<(Time, Path)>,
    // How many of these paths use each cable, by the lower of its ends.
    streams: FxHashMap<SwitchPort, u32>,
}

impl Placement for LeastLoaded {
    fn place(&mut self, question: &Question<'_>) -> Option<Choice> {
        self.forget_before(question.now - UNSEEN);
        let overlaps: SmallVec<[_; 8]> =
            question.candidates.iter().map(|path| overlap(path, question.siblings)).collect();
        let least = *overlaps.iter().min()?;
        let apart =
            question.candidates.iter().zip(&overlaps).enumerate().filter(|(_, (_, it))| **it == least);
        let headrooms: SmallVec<[_; 8]> =
            apart.map(|(index, (path, _))| (index, self.headroom(path, question.graph))).collect();
        let most = headrooms.iter().map(|(_, headroom)| *headroom).max()?;
        let enough = |headroom: u64| u128::from(headroom) * 100 >= u128::from(most) * AS_GOOD;
        let (index, _) = headrooms.into_iter().find(|(_, headroom)| enough(*headroom))?;
        self.remember(question.now, question.candidates.get(index)?);
        Some(Choice { index, shared: least.1 })
    }
}

impl LeastLoaded {
    fn forget_before(&mut self, time: Time) {
        while let Some((_, path)) = self.recent.pop_front_if(|(at, _)| *at < time) {
            self.forget(&path);
        }
    }

    fn remember(&mut self, now: Time, path: &Path) {
        if self.recent.len() >= MAX_RECENT
            && let Some((_, oldest)) = self.recent.pop_front()
        {
            self.forget(&oldest);
        }
        path.links().iter().for_each(|link| *self.streams.entry(cable(link)).or_default() += 1);
        self.recent.push_back((now, path.clone()));
    }

    fn forget(&mut self, path: &Path) {
        for cable in path.links().iter().map(cable) {
            if let Entry::Occupied(mut streams) = self.streams.entry(cable) {
                *streams.get_mut() -= 1;
                if *streams.get() == 0 {
                    streams.remove();
                }
            }
        }
    }

    fn headroom(&self, path: &Path, graph: &Graph) -> u64 {
        path.links().iter().map(|link| self.share(link, graph)).min().unwrap_or(u64::MAX)
    }

    /// What a new stream may hope for on a cable.
    fn share(&self, link: &Link, graph: &Graph) -> u64 {
        let state = |link: &Link| graph.edge(link.src).map(|edge| graph.state(edge).available().0);
        let available = state(link).into_iter().chain(state(&link.reversed())).min().unwrap_or_default();
        let recent = self.streams.get(&cable(link)).copied().unwrap_or_default();
        available / (u64::from(recent) + 1)
    }
}

/// Names the cable of a link in either direction.
fn cable(link: &Link) -> SwitchPort {
    link.src.min(link.dst)
}
