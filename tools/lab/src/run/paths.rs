//! The paths that the controller gave to streams, each with the time from which it was seen.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{DatapathId, FiveTuple, SwitchPort};

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
    on: PathAndPorts,
}

/// The switches that a stream passes, and the ports by which it leaves them; empty: the default path.
#[derive(Clone, PartialEq, Debug, Default)]
struct PathAndPorts {
    path: Vec<DatapathId>,
    ports: Vec<SwitchPort>,
}

impl Paths {
    /// Reads the paths from the controller. A busy controller is asked again next time.
    pub(super) fn ask(&mut self, at: Duration, controller: Option<&ControllerAddresses>) {
        let streams = controller.and_then(|it| it.client().streams().ok());
        for stream in streams.into_iter().flatten() {
            self.note(at, stream.tuple(), PathAndPorts { path: stream.path, ports: stream.ports });
        }
    }

    fn note(&mut self, at: Duration, tuple: FiveTuple, on: PathAndPorts) {
        let before = self.0.get(&tuple).and_then(|all| all.last()).map(|last| &last.on);
        if *before.unwrap_or(&PathAndPorts::default()) != on {
            self.0.entry(tuple).or_default().push(Seen { at, on });
        }
    }

    /// The paths of `tuple` by the names of their switches; none if it never had one of its own.
    pub(super) fn of(&self, tuple: FiveTuple, plan: &Plan) -> Vec<PathChange> {
        let forward = self.0.get(&tuple).map(|all| (all, false));
        let found = forward.or_else(|| Some((self.0.get(&tuple.reversed())?, true)));
        let Some((all, is_reversed)) = found else { return Vec::new() };
        all.iter().map(|seen| change(seen, is_reversed, plan)).collect()
    }
}

fn change(Seen { at, on }: &Seen, is_reversed: bool, plan: &Plan) -> PathChange {
    let mut path: Vec<_> = on.path.iter().map(|dpid| name(*dpid, plan)).collect();
    let mut devices: Vec<_> = on.ports.iter().filter_map(|at| device(*at, is_reversed, plan)).collect();
    if is_reversed {
        path.reverse();
        devices.reverse();
    }
    PathChange { at: at.as_secs_f64(), path, devices }
}

fn name(dpid: DatapathId, plan: &Plan) -> String {
    let known = plan.switches.iter().find(|switch| switch.dpid == dpid);
    known.map_or_else(|| dpid.to_string(), |switch| switch.name.clone())
}

/// The interface at this end of a link between switches, or at its other end; `None` if the port is a host's.
fn device(at: SwitchPort, of_other_end: bool, plan: &Plan) -> Option<String> {
    let between = plan.links.iter().filter(|link| link.ends.iter().all(|end| end.port.is_some()));
    let found = between.filter_map(|link| {
        let place = link.ends.iter().position(|end| end.port == Some((at.dpid, at.port)))?;
        link.ends.get(if of_other_end { 1 - place } else { place })
    });
    found.map(|end| end.device.clone()).next()
}

#[cfg(test)]
mod tests {
    use braid_types::PortNo;

    use super::*;
    use crate::scenario::Scenario;

    fn plan_of(links: &str) -> Plan {
        let text = format!("{{scenario: t, topology: {{hosts: [], switches: [s, t, u], links: [{links}]}}}}");
        Plan::new(&Scenario::parse(&text, "t.yaml").unwrap(), &"t".parse().unwrap(), || false)
    }

    fn tuple() -> FiveTuple {
        let [src, dst] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(Into::into);
        FiveTuple { src, dst, src_port: 1, dst_port: 2 }
    }

    fn by(path: &[u64], ports: &[u32]) -> PathAndPorts {
        let ports =
            path.iter().zip(ports).map(|(dpid, port)| SwitchPort::new(DatapathId(*dpid), PortNo(*port)));
        PathAndPorts { ports: ports.collect(), path: path.iter().copied().map(DatapathId).collect() }
    }

    #[test]
    fn a_stream_that_moves_has_all_of_its_paths_and_the_last_one_is_where_it_is() {
        let (plan, tuple) = (plan_of(""), tuple());
        let mut paths = Paths::default();
        for (at, path) in [(1, &[][..]), (2, &[1, 2]), (3, &[1, 2]), (4, &[1, 3]), (5, &[])] {
            paths.note(Duration::from_secs(at), tuple, by(path, &[]));
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

    #[test]
    fn interfaces_distinguish_parallel_links_in_both_directions() {
        let link = "{between: [s, t], rate: 10Mbit}";
        let (plan, tuple) = (plan_of(&format!("{link}, {link}, {{between: [t, u], rate: 10Mbit}}")), tuple());
        let mut paths = Paths::default();
        for (at, ports) in [(1, [1, 3, 9]), (2, [2, 3, 9])] {
            paths.note(Duration::from_secs(at), tuple, by(&[1, 2, 3], &ports));
        }
        let devices = |tuple| paths.of(tuple, &plan).into_iter().map(|it| it.devices).collect::<Vec<_>>();
        let ends = |link: usize| plan.links[link].ends.each_ref().map(|end| end.device.clone());
        let [[s1, t1], [s2, t2], [t3, u1]] = [0, 1, 2].map(ends);
        assert_eq!(devices(tuple), [[s1, t3.clone()], [s2, t3]]);
        assert_eq!(devices(tuple.reversed()), [[u1.clone(), t1], [u1, t2]]);
    }
}
