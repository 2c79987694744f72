//! Rules for packets that come back on a detour, where a switch has refused them.
//!
//! Only while a link is down does a path need them, so that it is not given up: they are written again after a while.

use std::collections::BTreeMap;

use braid_types::{DatapathId, Time};

use super::Brain;
use crate::command::Commands;
use crate::label::Label;
use crate::pipeline::Rule;

/// When those that were refused are written again. A switch refuses no more than it was sent, and each is here once.
#[derive(Debug, Default)]
pub(super) struct Returns(BTreeMap<(DatapathId, Rule), Time>);

impl Brain {
    /// A switch does not take such a rule.
    pub(super) fn on_return_refused(&mut self, now: Time, dpid: DatapathId, rule: Rule) {
        if self.wants_return(dpid, &rule) {
            self.returns.0.insert((dpid, rule), now + self.settings.bar);
        }
    }

    /// Writes those again whose time has come, if their paths are there still; called once a tick.
    pub(super) fn tick_returns(&mut self, now: Time, out: &mut Commands) {
        if self.returns.0.is_empty() {
            return;
        }
        let refused = std::mem::take(&mut self.returns.0);
        let (due, later): (BTreeMap<_, _>, _) = refused.into_iter().partition(|(_, at)| *at <= now);
        self.returns.0 = later;
        for (dpid, rule) in due.into_keys().filter(|(dpid, rule)| self.wants_return(*dpid, rule)) {
            out.add(dpid, rule);
        }
    }

    fn wants_return(&self, dpid: DatapathId, rule: &Rule) -> bool {
        match rule {
            Rule::Return { label, .. } if label.is_trunk() => self.labels.trunks.has(dpid, rule),
            Rule::Return { label, .. } => self.has_rule(*label, dpid, rule),
            _ => false,
        }
    }

    fn has_rule(&self, label: Label, dpid: DatapathId, rule: &Rule) -> bool {
        let path = self.labels.path(label);
        path.is_some_and(|path| self.label_rules(label, path).any(|it| it == (dpid, *rule)))
    }
}
