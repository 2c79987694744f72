//! The rules of switches that are not reconciled or removed yet.

use std::collections::BTreeMap;

use braid_types::DatapathId;

use crate::pipeline::{MatchKey, Rule};

/// Installed rules that nobody has claimed, by switch and match.
#[derive(Debug, Default)]
pub(crate) struct UnclaimedRules(BTreeMap<DatapathId, BTreeMap<MatchKey, Rule>>);

impl UnclaimedRules {
    /// The installed rule with the match of `rule`.
    pub(crate) fn get(&self, dpid: DatapathId, rule: &Rule) -> Option<&Rule> {
        self.0.get(&dpid)?.get(&rule.match_key())
    }

    /// The rules of one switch that pass `test`.
    pub(crate) fn of(&self, dpid: DatapathId, test: impl Fn(&Rule) -> bool) -> Vec<Rule> {
        let rules = self.0.get(&dpid).into_iter().flat_map(BTreeMap::values);
        rules.filter(|rule| test(rule)).copied().collect()
    }

    /// Whether a rule passes `test`.
    pub(crate) fn any(&self, test: impl Fn(&Rule) -> bool) -> bool {
        self.0.values().flat_map(BTreeMap::values).any(test)
    }

    /// The rules that pass `test`, with their switches.
    pub(crate) fn all(&self, test: impl Fn(&Rule) -> bool) -> Vec<(DatapathId, Rule)> {
        let rules = self.0.iter().flat_map(|(dpid, rules)| rules.values().map(|rule| (*dpid, *rule)));
        rules.filter(|(_, rule)| test(rule)).collect()
    }

    /// Whether no switch has rules to be compared.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the rules of a switch.
    pub(super) fn insert(&mut self, dpid: DatapathId, rules: &[Rule]) {
        self.0.insert(dpid, rules.iter().map(|rule| (rule.match_key(), *rule)).collect());
    }

    /// Forgets the rules of a switch.
    pub(super) fn forget(&mut self, dpid: DatapathId) {
        self.0.remove(&dpid);
    }

    /// Takes the rule with the match of `rule`.
    pub(super) fn take(&mut self, dpid: DatapathId, rule: &Rule) -> Option<Rule> {
        self.0.get_mut(&dpid)?.remove(&rule.match_key())
    }
}
