//! Failures of links, ports, switches and rules.

use braid_types::SwitchPort;

use super::{Network, dpid, port, status};
use crate::brain::tests::switch::FakeSwitch;
use crate::command::{Command, Commands};
use crate::event::Event;
use crate::pipeline::Rule;

impl Network {
    /// Sets a port up or down; the switch notices.
    pub(in crate::brain::tests) fn set_port(&mut self, at: SwitchPort, up: bool) {
        self.tell(&Event::PortUp { dpid: at.dpid, port: status(at.dpid, at.port, up) });
    }

    /// Unplugs a link; the switches notice.
    pub(in crate::brain::tests) fn unplug(&mut self, a: u64, b: u64) {
        self.cut_silently(a, b);
        for at in [port(a, b), port(b, a)] {
            self.unplugged.insert(at);
            self.switch(at.dpid.0).set_down(at.port, true);
            self.tell(&Event::PortUp { dpid: at.dpid, port: status(at.dpid, at.port, false) });
        }
    }

    /// Plugs a link back in.
    pub(in crate::brain::tests) fn plug(&mut self, a: u64, b: u64) {
        for at in [port(a, b), port(b, a)] {
            self.cut.remove(&at);
            self.unplugged.remove(&at);
            self.switch(at.dpid.0).set_down(at.port, false);
            self.tell(&Event::PortUp { dpid: at.dpid, port: status(at.dpid, at.port, true) });
        }
    }

    /// Breaks a link; no switch notices.
    pub(in crate::brain::tests) fn cut_silently(&mut self, a: u64, b: u64) {
        self.cut.extend([port(a, b), port(b, a)]);
    }

    /// Restarts a switch without rules.
    pub(in crate::brain::tests) fn disconnect(&mut self, number: u64) {
        let down = self.unplugged.iter().filter(|at| at.dpid == dpid(number)).map(|at| at.port);
        self.switches.insert(dpid(number), FakeSwitch::with_down(down.collect()));
        self.break_channel(number);
    }

    /// Breaks a switch's OpenFlow connection; its rules stay.
    pub(in crate::brain::tests) fn break_channel(&mut self, number: u64) {
        self.tell(&Event::SwitchDown { dpid: dpid(number) });
    }

    /// A switch's OpenFlow connection is replaced by another one, which is not up yet.
    pub(in crate::brain::tests) fn move_channel(&mut self, number: u64) {
        self.tell(&Event::SwitchMoved { dpid: dpid(number) });
    }

    /// Another controller becomes the master of all switches: what this one still sends goes nowhere.
    pub(in crate::brain::tests) fn depose(&mut self) {
        for dpid in self.switches.keys() {
            self.brain.handle(self.now, &Event::SwitchMoved { dpid: *dpid }, &mut Commands::default());
        }
        self.brain.handle(self.now, &Event::Replaced, &mut Commands::default());
    }

    /// Makes a switch lose rules without a report.
    pub(in crate::brain::tests) fn lose_rules(&mut self, number: u64, table: u8, priority: u16) {
        self.switches.get_mut(&dpid(number)).expect("known switch").lose(table, priority);
    }

    /// The latest written rule that passes the test.
    pub(in crate::brain::tests) fn find_rule(&self, test: impl Fn(&Rule) -> bool) -> Rule {
        let written = self.changes.iter().rev().filter_map(|command| match command {
            Command::Add { rule, .. } => Some(rule),
            _ => None,
        });
        *written.into_iter().find(|rule| test(rule)).expect("such a rule")
    }

    /// Makes a switch refuse a rule.
    pub(in crate::brain::tests) fn refuse(&mut self, number: u64, rule: Rule) {
        let (dpid, reason) = (dpid(number), "TableFull".to_owned());
        self.tell(&Event::Refused { dpid, rule: Some(rule), reason });
    }
}
