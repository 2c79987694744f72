//! The table of bypasses: by their links' sending ends, by the switches that they cross, and those that leave.

use std::collections::{BTreeMap, BTreeSet};

use braid_paths::Path;
use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use smallvec::SmallVec;

use crate::fabric::groups::LAST_PORT;
use crate::label::Label;
use crate::pipeline::{BypassEntry, Rule};

/// The bypasses in the switches.
#[derive(Debug, Default)]
pub(super) struct BypassTable {
    /// The bypass of each link, by its sending end.
    by_port: BTreeMap<SwitchPort, Bypass>,
    /// The bypasses over each switch, by their links' sending ends.
    over: BTreeSet<(DatapathId, SwitchPort)>,
    /// Bypasses that no port uses any more, and when each is removed.
    leaving: Vec<(Time, Label, Path)>,
}

/// One link's bypass.
#[derive(Debug)]
pub(super) struct Bypass {
    pub(super) label: Label,
    pub(super) path: Path,
    /// The switches that have not confirmed its rules.
    pub(super) unconfirmed: SmallVec<[DatapathId; 4]>,
    pub(super) since: Time,
}

impl BypassTable {
    /// The bypass of a link, confirmed or not.
    pub(super) fn get(&self, at: SwitchPort) -> Option<&Bypass> {
        self.by_port.get(&at)
    }

    /// The bypass of a link, to be changed.
    pub(super) fn get_mut(&mut self, at: SwitchPort) -> Option<&mut Bypass> {
        self.by_port.get_mut(&at)
    }

    /// The sending ends of the links whose bypasses pass `test`, in order.
    pub(super) fn matching(&self, test: impl Fn(&Bypass) -> bool) -> Vec<SwitchPort> {
        self.by_port.iter().filter(|(_, it)| test(it)).map(|(at, _)| *at).collect()
    }

    /// The sending ends of the links whose bypasses cross a switch, in order.
    pub(super) fn over(&self, dpid: DatapathId) -> Vec<SwitchPort> {
        let (first, last) = (SwitchPort::new(DatapathId(0), PortNo(0)), LAST_PORT);
        self.over.range((dpid, first)..=(dpid, last)).map(|(_, at)| *at).collect()
    }

    /// Every bypass with its path, those included that no port uses any more.
    pub(super) fn paths(&self) -> impl Iterator<Item = (Label, &Path)> {
        let leaving = self.leaving.iter().map(|(_, label, path)| (*label, path));
        self.by_port.values().map(|bypass| (bypass.label, &bypass.path)).chain(leaving)
    }

    /// Adds the bypass of a link.
    pub(super) fn insert(&mut self, at: SwitchPort, bypass: Bypass) {
        self.over.extend(bypass.path.switches().map(|dpid| (dpid, at)));
        self.by_port.insert(at, bypass);
    }

    /// Makes a link's bypass unused; it is removed at `until`.
    pub(super) fn retire(&mut self, at: SwitchPort, until: Time) {
        if let Some(bypass) = self.by_port.remove(&at) {
            bypass.path.switches().for_each(|dpid| _ = self.over.remove(&(dpid, at)));
            self.leaving.push((until, bypass.label, bypass.path));
        }
    }

    /// Forgets the unused bypasses.
    pub(super) fn forget_leaving(&mut self) {
        self.leaving.clear();
    }

    /// Takes the unused bypasses that are due for removal.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<(Time, Label, Path)> {
        let (due, left) = std::mem::take(&mut self.leaving).into_iter().partition(|(at, ..)| *at <= now);
        self.leaving = left;
        due
    }
}

impl Bypass {
    /// How protected ports lead to the bypass.
    pub(super) fn entry(&self) -> Option<BypassEntry> {
        Some(BypassEntry { label: self.label, port: self.path.links().first()?.src.port })
    }

    /// Whether all its switches have confirmed its rules.
    pub(super) fn is_confirmed(&self) -> bool {
        self.unconfirmed.is_empty()
    }
}

/// The rules of a bypass, from its end inwards. Its start has protected ports instead.
pub(super) fn rules(label: Label, path: &Path) -> impl Iterator<Item = (DatapathId, Rule)> {
    let inner = path.links().iter().skip(1).rev();
    let hops = inner.map(move |link| (link.src.dpid, Rule::Bypass { label, port: link.src.port }));
    std::iter::once((path.egress(), Rule::BypassEnd { label })).chain(hops)
}
