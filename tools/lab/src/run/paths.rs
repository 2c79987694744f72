//! The paths that the controller gave to streams, each with the time from which it was seen.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{DatapathId, FiveTuple};

use super::report::PathChange;
use crate::controller::ControllerAddresses;
use crate::plan::Plan;

/// The paths of each stream, in order of time.
#[derive(Default)]
pub(super) struct Paths(BTreeMap<FiveTuple, Vec<Seen>>);

#[derive(Clone, PartialEq, Debug)]
struct Seen {
    /// Since the start.
    at: Duration,
    /// Empty: the default path.
    path: Vec<DatapathId>,
}

impl Paths {
    /// Reads the paths from the controller. A busy controller is asked again next time.
    pub(super) fn ask(&mut self, at: Duration, controller: Option<&ControllerAddresses>) {
        let streams = controller.and_then(|it| it.client().streams().ok());
        for stream in streams.into_iter().flatten() {
            self.note(at, stream.tuple(), stream.path);
        }
    }

    fn note(&mut self, at: Duration, tuple: FiveTuple, path: Vec<DatapathId>) {
        let before = self.0.get(&tuple).and_then(|all| all.last()).map(|last| last.path.as_slice());
        if before.unwrap_or_default() != path {
            self.0.entry(tuple).or_default().push(Seen { at, path });
        }
    }

    /// The paths of `tuple` by the names of their switches; none if it never had one of its own.
    pub(super) fn of(&self, tuple: FiveTuple, plan: &Plan) -> Vec<PathChange> {
        let forward = self.0.get(&tuple).map(|all| (all, false));
        let found = forward.or_else(|| Some((self.0.get(&tuple.reversed())?, true)));
        let Some((all, is_reversed)) = found else { return Vec::new() };
        let changes = all.iter().map(|Seen { at, path }| {
            let mut path: Vec<_> = path.iter().map(|dpid| name(*dpid, plan)).collect();
            if is_reversed {
                path.reverse();
            }
            PathChange { at: at.as_secs_f64(), path }
        });
        changes.collect()
    }
}

fn name(dpid: DatapathId, plan: &Plan) -> String {
    let known = plan.switches.iter().find(|switch| switch.dpid == dpid);
    known.map_or_else(|| dpid.to_string(), |switch| switch.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn a_stream_that_moves_has_all_of_its_paths_and_the_last_one_is_where_it_is() {
        let text = "{scenario: t, topology: {hosts: [], switches: [s, t, u], links: []}}";
        let plan = Plan::new(&Scenario::parse(text, "t.yaml").unwrap(), &"t".parse().unwrap(), || false);
        let [src, dst] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(Into::into);
        let tuple = FiveTuple { src, dst, src_port: 1, dst_port: 2 };
        let mut paths = Paths::default();
        let dpids = |path: &[u64]| path.iter().copied().map(DatapathId).collect::<Vec<_>>();
        for (at, path) in [(1, &[][..]), (2, &[1, 2]), (3, &[1, 2]), (4, &[1, 3]), (5, &[])] {
            paths.note(Duration::from_secs(at), tuple, dpids(path));
        }
        let changes = |paths: &Paths, tuple| {
            let all = paths.of(tuple, &plan).into_iter();
            all.map(|it| (it.at, it.path.join(" "))).collect::<Vec<_>>()
        };
        let [first, second, last] =
            [(2.0, "s t"), (4.0, "s u"), (5.0, "")].map(|(at, path)| (at, path.to_owned()));
        assert_eq!(changes(&paths, tuple), [first, second, last]);
        assert_eq!(changes(&paths, tuple.reversed())[0], (2.0, "t s".to_owned()));
    }
}
