//! Which path a packet takes.

use braid_types::Time;

use super::{Line, Lines};
use crate::wire::on_line;

/// A path for which packets wait so many seconds is full: dearer ones are used, too.
const FULL: f64 = 0.05;

impl Lines {
    /// The path by which a packet of a flow arrives first, behind those that wait.
    pub(in crate::bond) fn pick(&self, now: Time, size: usize, flow: u64) -> Option<u8> {
        let cheapest = self.usable(now).filter(|(path, line)| line.queued(self.held(*path)) < FULL);
        let cheapest = cheapest.map(|(path, _)| self.cost(path)).min().unwrap_or(u16::MAX);
        let affordable = self.usable(now).filter(|(path, _)| self.cost(*path) <= cheapest);
        let arrivals = affordable.filter_map(|(path, line)| {
            let ahead = self.waiting.get(usize::from(path)).map_or(0, |it| it.ahead_of(flow));
            Some((path, line.arrival(now, on_line(size))? + line.seconds(ahead)))
        });
        let first = arrivals.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(path, _)| path);
        first.or_else(|| self.any())
    }

    /// The path by which an urgent packet arrives first, before those that wait, and of all others that answer the next one.
    pub(in crate::bond) fn quickest(&self, now: Time, size: usize) -> [Option<u8>; 2] {
        let first = self.first_of(now, size, self.usable(now)).or_else(|| self.any());
        let others = self.up().filter(|(path, line)| Some(*path) != first && !line.is_dead());
        [first, self.first_of(now, size, others)]
    }

    /// Of the cheapest of some paths, the one by which a packet arrives first.
    fn first_of<'a>(
        &self,
        now: Time,
        size: usize,
        lines: impl Iterator<Item = (u8, &'a Line)>,
    ) -> Option<u8> {
        let arrivals =
            lines.filter_map(|(path, line)| Some((self.cost(path), line.arrival(now, on_line(size))?, path)));
        let first = arrivals.min_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        first.map(|(.., path)| path)
    }

    /// The paths that answer, without those that lose much or are suspended while there are others.
    fn usable(&self, now: Time) -> impl Iterator<Item = (u8, &Line)> {
        let alive = move || self.up().filter(|(_, line)| !line.is_dead());
        let is_good = move |(path, line): &(u8, &Line)| !line.is_broken() && !self.is_suspended(now, *path);
        let any_good = alive().any(|it| is_good(&it));
        alive().filter(move |it| !any_good || is_good(it))
    }

    /// Of paths that are not known, the cheapest, before those that do not answer.
    fn any(&self) -> Option<u8> {
        let paths = self.up().map(|(path, line)| (line.is_dead(), self.cost(path), path));
        paths.min().map(|(.., path)| path)
    }
}
