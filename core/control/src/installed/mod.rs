//! The installed state: rules of an earlier controller that are not reconciled or removed yet.

mod rules;
mod unresolved;

use std::collections::BTreeMap;

use braid_steering::StreamId;
use braid_types::{DatapathId, PortNo, Time};

use crate::command::Command;
use crate::cookie::{Cookie, Purpose};
use crate::event::{InstalledRules, UnknownRule};
use crate::label::Label;
use crate::pipeline::{Hop, Rule};
use rules::UnclaimedRules;
use unresolved::Unresolved;

/// The installed rules that are not reconciled yet.
///
/// ```text
///            a switch joins with rules           all links heard, or too late             replacements are in
///  Settled ─────────────────────────▶ Settling ───────────────────────────▶ Sweeping ──────────────────────▶ Settled
///                                        ▲ └─ another one ─▶ ┘                 │ another one
///                                        └─────────────────────────────────────┘
/// ```
///
/// Every command passes [`needs`](Self::needs). Adding an installed rule reconciles it, and nothing is written.
/// So the rest of the core states its rules as if switches were empty.
#[derive(Debug, Default)]
pub(crate) struct InstalledState {
    rules: UnclaimedRules,
    unknown_rules: BTreeMap<DatapathId, Vec<UnknownRule>>,
    unresolved: Unresolved,
    phase: Phase,
}

/// How far the comparison of installed rules with the network is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Phase {
    /// There is nothing to compare.
    #[default]
    Settled,
    /// Links and hosts are being heard; it ends at `until` without those that are not.
    Settling { until: Time },
    /// Replacements are being installed; the unclaimed rules are removed at `at`.
    Sweeping { at: Time },
}

impl InstalledState {
    /// Adds the rules of a switch that joins. By `until` all wanted ones must be reconciled.
    pub(crate) fn add(&mut self, dpid: DatapathId, found: &InstalledRules, until: Time) {
        self.forget(dpid);
        if found.rules.is_empty() && found.unknown_rules.is_empty() {
            return;
        }
        self.phase = Phase::Settling { until };
        self.rules.insert(dpid, &found.rules);
        self.unknown_rules.insert(dpid, found.unknown_rules.clone());
        self.unresolved.add(dpid, found);
    }

    /// The switch has left.
    pub(crate) fn forget(&mut self, dpid: DatapathId) {
        self.rules.forget(dpid);
        self.unknown_rules.remove(&dpid);
        self.unresolved.forget(dpid);
    }

    /// A rule timed out.
    pub(crate) fn end(&mut self, dpid: DatapathId, cookie: Cookie) {
        let Some(Purpose::Stream { id, reverse }) = cookie.purpose() else { return };
        if let Some(rule) = self.unresolved.take_rule(dpid, id, reverse) {
            self.claim(dpid, &rule);
        }
    }

    /// How far the comparison is.
    pub(crate) const fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether the installed state is being compared with the network.
    pub(crate) const fn is_settling(&self) -> bool {
        matches!(self.phase, Phase::Settling { .. })
    }

    /// Whether the command changes anything in its switch. Its rule counts as reconciled afterwards.
    pub(crate) fn needs(&mut self, command: &Command) -> bool {
        self.rules.is_empty() || self.is_changed_by(command)
    }

    fn is_changed_by(&mut self, command: &Command) -> bool {
        match command {
            Command::Reset { dpid } => self.forget(*dpid),
            Command::Add { dpid, rule } => return self.claim(*dpid, rule) != Some(*rule),
            Command::Delete { dpid, rule } => _ = self.claim(*dpid, rule),
            _ => {}
        }
        true
    }

    /// The rules that nobody has claimed.
    pub(crate) const fn rules(&self) -> &UnclaimedRules {
        &self.rules
    }

    /// Takes the installed rule with the match of `rule`.
    pub(crate) fn claim(&mut self, dpid: DatapathId, rule: &Rule) -> Option<Rule> {
        self.rules.take(dpid, rule)
    }

    /// Labels and streams in the rules whose paths are not known yet.
    pub(crate) const fn unresolved(&self) -> &Unresolved {
        &self.unresolved
    }

    /// The same, to mark what has become known.
    pub(crate) const fn unresolved_mut(&mut self) -> &mut Unresolved {
        &mut self.unresolved
    }

    /// Ends the comparison: gives up what is unresolved, and has the unclaimed rules removed at `at`. Returns the rules that
    /// cannot be decoded.
    pub(crate) fn sweep_at(&mut self, at: Time) -> BTreeMap<DatapathId, Vec<UnknownRule>> {
        self.phase = Phase::Sweeping { at };
        self.unresolved.give_up();
        std::mem::take(&mut self.unknown_rules)
    }

    /// Takes all remaining rules.
    pub(crate) fn finish(&mut self) -> Vec<(DatapathId, Rule)> {
        let rest = self.rules.all(|_| true);
        *self = Self::default();
        rest
    }
}

/// The first hop of a rule that sends packets into a labelled path.
pub(crate) const fn first_hop(rule: &Rule) -> Option<Hop> {
    match rule {
        Rule::Stream { hop, .. } | Rule::Route { hop, .. } => Some(*hop),
        _ => None,
    }
}

/// The label in a rule.
pub(crate) fn label_of(rule: &Rule) -> Option<Label> {
    match rule {
        Rule::Transit(Hop { label, .. }) | Rule::Egress { label } => Some(*label),
        Rule::Hairpin { label, .. } | Rule::Bypass { label, .. } | Rule::BypassEnd { label } => Some(*label),
        rule => first_hop(rule).filter(|hop| !hop.is_over_several_paths()).map(|hop| hop.label),
    }
}

/// The highest labels in the rules, within label groups and outside, and the highest stream number.
pub(crate) fn highest(rules: &[Rule]) -> ([Option<Label>; 2], StreamId) {
    let stream = |rule: &Rule| match rule {
        Rule::Stream { id, .. } => Some(*id),
        _ => None,
    };
    let labels = [true, false].map(|in_group| {
        rules.iter().filter_map(label_of).filter(|label| label.group().is_some() == in_group).max()
    });
    (labels, rules.iter().filter_map(stream).max().unwrap_or(StreamId(0)))
}

/// The port whose role a rule implies, if it implies one.
pub(crate) const fn port_of(rule: &Rule) -> Option<PortNo> {
    match rule {
        Rule::FromLink { port } | Rule::FromHost { port } => Some(*port),
        _ => None,
    }
}
