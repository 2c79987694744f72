//! Switches that can hold the limit of a port themselves do, so that what is above it costs nobody anything.

use std::collections::{BTreeMap, BTreeSet};

use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::command::Command;
use crate::context::Context;
use crate::event::InstalledMeters;
use crate::pipeline::{PuntClass, Rule};

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
    pub(super) fn add(&mut self, dpid: DatapathId, found: &InstalledMeters) {
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

    /// Hosts are at the port: what they ask is metered where the switch can.
    pub(super) fn set(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        let (SwitchPort { dpid, port }, rate) = (at, cx.settings.packet_ins);
        if rate == 0 || !self.can_have(at) {
            return self.remove_found(cx, at);
        }
        let found = self.found.remove(&at);
        if found != Some(rate) {
            cx.out.push(Command::SetMeter { dpid, port, rate, known: found.is_some() });
        }
        self.set.insert(at);
        metered(at).into_iter().for_each(|rule| cx.out.add(dpid, rule));
    }

    /// Hosts are not at the port any more.
    pub(super) fn remove(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        if self.set.remove(&at) {
            metered(at).into_iter().for_each(|rule| cx.delete(at.dpid, rule));
            cx.out.push(Command::DeleteMeter { dpid: at.dpid, port: at.port });
        }
    }

    /// The port is not to have the meter that an earlier controller gave it.
    pub(super) fn remove_found(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        if self.found.remove(&at).is_some() {
            cx.out.push(Command::DeleteMeter { dpid: at.dpid, port: at.port });
        }
    }

    fn can_have(&self, at: SwitchPort) -> bool {
        self.highest.get(&at.dpid).is_some_and(|highest| (PortNo(1)..=PortNo(*highest)).contains(&at.port))
    }
}

fn metered(at: SwitchPort) -> [Rule; PuntClass::ALL.len()] {
    PuntClass::ALL.map(|class| Rule::Metered { port: at.port, class })
}
