//! Meters: packet rate limits of host ports, enforced by the switches that can.

use std::collections::{BTreeMap, BTreeSet};

use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::command::Command;
use crate::context::Context;
use crate::event::InstalledMeters;
use crate::pipeline::{PuntClass, Rule};

/// The meters that each switch supports, and those installed.
#[derive(Debug, Default)]
pub(super) struct Meters {
    highest: BTreeMap<DatapathId, u32>,
    /// Meters of an earlier controller, with their rates in packets a second.
    found: BTreeMap<SwitchPort, u32>,
    set: BTreeSet<SwitchPort>,
}

impl Meters {
    /// A switch joins with these meters.
    pub(super) fn add(&mut self, dpid: DatapathId, found: &InstalledMeters) {
        self.forget(dpid);
        self.highest.insert(dpid, found.highest);
        let found = found.rates.iter().map(|(port, rate)| (SwitchPort::new(dpid, *port), *rate));
        self.found.extend(found);
    }

    /// A switch has left.
    pub(super) fn forget(&mut self, dpid: DatapathId) {
        self.highest.remove(&dpid);
        self.found.extract_if(SwitchPort::all_of(dpid), |_, _| true).for_each(drop);
        self.set.extract_if(SwitchPort::all_of(dpid), |_| true).for_each(drop);
    }

    /// Sets the meter of a host port if the switch supports it.
    pub(super) fn set(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        let (SwitchPort { dpid, port }, rate) = (at, cx.settings.punt_rate);
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

    /// Removes the meter of a port that has no hosts any more.
    pub(super) fn remove(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        if self.set.remove(&at) {
            metered(at).into_iter().for_each(|rule| cx.delete(at.dpid, rule));
            cx.out.push(Command::DeleteMeter { dpid: at.dpid, port: at.port });
        }
    }

    /// Removes the meter that an earlier controller gave the port.
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
