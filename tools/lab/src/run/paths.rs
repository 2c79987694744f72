//! The paths that the controller gave to streams, as last seen.

use std::collections::BTreeMap;

use braid_types::{DatapathId, FiveTuple};

use crate::controller::{Client, ControllerAddresses};
use crate::plan::Plan;

/// The latest known path of each stream.
#[derive(Default)]
pub(super) struct Paths(BTreeMap<FiveTuple, Vec<DatapathId>>);

impl Paths {
    /// Reads the paths from the controller. A busy controller is asked again next time.
    pub(super) fn ask(&mut self, controller: Option<&ControllerAddresses>) {
        let streams = controller.and_then(|it| Client::new(it.http).streams().ok());
        for stream in streams.into_iter().flatten().filter(|stream| !stream.path.is_empty()) {
            self.0.insert(stream.tuple(), stream.path);
        }
    }

    /// The names of the switches on the path of `tuple`; empty if it has no path of its own.
    pub(super) fn of(&self, tuple: FiveTuple, plan: &Plan) -> Vec<String> {
        let forward = self.0.get(&tuple).cloned();
        let backward = || self.0.get(&tuple.reversed()).map(|path| path.iter().rev().copied().collect());
        let path = forward.or_else(backward).unwrap_or_default();
        path.iter().map(|dpid| name(*dpid, plan)).collect()
    }
}

fn name(dpid: DatapathId, plan: &Plan) -> String {
    let known = plan.switches.iter().find(|switch| switch.dpid == dpid);
    known.map_or_else(|| dpid.to_string(), |switch| switch.name.clone())
}
