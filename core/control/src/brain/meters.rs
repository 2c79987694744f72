//! Switches that can hold the limit of a port themselves do, so that what is above it costs nobody anything.

use std::collections::{BTreeMap, BTreeSet};

use braid_types::{DatapathId, PortNo, SwitchPort};

use super::Brain;
use crate::command::{Command, Commands};
use crate::event::FoundMeters;
use crate::pipeline::{Asking, Rule};

/// What each switch can meter, and the meters that it has.
#[derive(Debug, Default)]
pub(super) struct Meters {
    highest: BTreeMap<DatapathId, u32>,
    /// Those of an earlier controller.
    found: BTreeMap<SwitchPort, u32>,
    set: BTreeSet<SwitchPort>,
}

impl Meters {
    /// A switch joins.
    pub(super) fn add(&mut self, dpid: DatapathId, found: &FoundMeters) {
        self.forget(dpid);
        self.highest.insert(dpid, found.highest);
        let found = found.rates.iter().map(|(port, rate)| (SwitchPort::new(dpid, *port), *rate));
        self.found.extend(found);
    }

    /// A switch left.
    pub(super) fn forget(&mut self, dpid: DatapathId) {
        self.highest.remove(&dpid);
        self.found.retain(|at, _| at.dpid != dpid);
        self.set.retain(|at| at.dpid != dpid);
    }

    fn can_have(&self, at: SwitchPort) -> bool {
        self.highest.get(&at.dpid).is_some_and(|highest| (PortNo(1)..=PortNo(*highest)).contains(&at.port))
    }
}

impl Brain {
    /// Hosts are at the port: what they ask is metered where the switch can.
    pub(super) fn meter(&mut self, at: SwitchPort, out: &mut Commands) {
        let (SwitchPort { dpid, port }, rate) = (at, self.settings.packet_ins);
        if rate == 0 || !self.meters.can_have(at) {
            return self.drop_found_meter(at, out);
        }
        let found = self.meters.found.remove(&at);
        if found != Some(rate) {
            out.push(Command::SetMeter { dpid, port, rate, known: found.is_some() });
        }
        self.meters.set.insert(at);
        metered(at).into_iter().for_each(|rule| out.add(dpid, rule));
    }

    /// Hosts are not at the port any more.
    pub(super) fn stop_metering(&mut self, at: SwitchPort, out: &mut Commands) {
        if self.meters.set.remove(&at) {
            metered(at).into_iter().for_each(|rule| self.delete(at.dpid, rule, out));
            out.push(Command::DeleteMeter { dpid: at.dpid, port: at.port });
        }
    }

    /// The port is not to have the meter that an earlier controller gave it.
    pub(super) fn drop_found_meter(&mut self, at: SwitchPort, out: &mut Commands) {
        if self.meters.found.remove(&at).is_some() {
            out.push(Command::DeleteMeter { dpid: at.dpid, port: at.port });
        }
    }
}

fn metered(at: SwitchPort) -> [Rule; Asking::ALL.len()] {
    Asking::ALL.map(|asking| Rule::Metered { port: at.port, asking })
}
