//! Hairpin rules that switches have refused, and their retries.
//!
//! A path needs its hairpin rules only while a link is down. So the path stays in use, and the rule is
//! written again later.

use std::collections::BTreeMap;

use braid_types::{DatapathId, Time};

use super::Fabric;
use crate::context::Context;
use crate::label::Label;
use crate::pipeline::Rule;

/// When refused rules are written again. Each is here once, and a switch refuses no more rules than it was
/// sent.
#[derive(Debug, Default)]
pub(super) struct Hairpins(BTreeMap<(DatapathId, Rule), Time>);

impl Fabric {
    /// Schedules a retry of a hairpin rule that a switch has refused.
    pub(super) fn retry_hairpin(&mut self, cx: &Context<'_>, dpid: DatapathId, rule: Rule) {
        if self.wants_hairpin(dpid, &rule) {
            self.hairpins.0.insert((dpid, rule), cx.now + cx.settings.path_suspend_time);
        }
    }

    /// Writes the due rules again if their paths still exist.
    pub(super) fn write_hairpins(&mut self, cx: &mut Context<'_>) {
        if self.hairpins.0.is_empty() {
            return;
        }
        let refused = std::mem::take(&mut self.hairpins.0);
        let (due, later): (BTreeMap<_, _>, _) = refused.into_iter().partition(|(_, at)| *at <= cx.now);
        self.hairpins.0 = later;
        for (dpid, rule) in due.into_keys().filter(|(dpid, rule)| self.wants_hairpin(*dpid, rule)) {
            cx.out.add(dpid, rule);
        }
    }

    fn wants_hairpin(&self, dpid: DatapathId, rule: &Rule) -> bool {
        match rule {
            Rule::Hairpin { label, .. } if label.is_group() => self.labels.groups.has(dpid, rule),
            Rule::Hairpin { label, .. } => self.has_rule(*label, dpid, rule),
            _ => false,
        }
    }

    fn has_rule(&self, label: Label, dpid: DatapathId, rule: &Rule) -> bool {
        let path = self.labels.path(label);
        path.is_some_and(|path| self.label_rules(label, path).any(|it| it == (dpid, *rule)))
    }
}
