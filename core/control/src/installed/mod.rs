//! The installed state: rules of an earlier controller that are not reconciled or removed yet.

use std::collections::BTreeMap;

use braid_steering::StreamId;
use braid_types::{DatapathId, PortNo, SwitchPort, Time};

use crate::command::Command;
use crate::cookie::{Cookie, Purpose};
use crate::event::{InstalledRules, UnknownRule};
use crate::label::Label;
use crate::pipeline::{Hop, MatchKey, Rule};

/// The rules of both directions of a stream, as far as they are installed: forward, reverse.
pub(crate) type StreamRules = [Option<(DatapathId, Rule)>; 2];

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
    rules: BTreeMap<DatapathId, BTreeMap<MatchKey, Rule>>,
    unknown_rules: BTreeMap<DatapathId, Vec<UnknownRule>>,
    /// The first ports of labels whose paths are not known yet.
    edges: BTreeMap<Label, SwitchPort>,
    /// The rules of streams that are not reconciled yet.
    streams: BTreeMap<StreamId, StreamRules>,
    /// What each switch has contributed to `edges` and `streams`.
    noted: BTreeMap<DatapathId, Noted>,
    phase: Phase,
}

#[derive(Debug, Default)]
struct Noted {
    labels: Vec<Label>,
    streams: Vec<StreamId>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    #[default]
    Settled,
    Settling {
        until: Time,
    },
    Sweeping {
        at: Time,
    },
}

impl InstalledState {
    /// Adds the rules of a switch that joins. By `until` all wanted ones must be reconciled.
    pub(crate) fn add(&mut self, dpid: DatapathId, found: &InstalledRules, until: Time) {
        self.forget(dpid);
        if found.rules.is_empty() && found.unknown_rules.is_empty() {
            return;
        }
        self.phase = Phase::Settling { until };
        self.rules.insert(dpid, found.rules.iter().map(|rule| (rule.match_key(), *rule)).collect());
        self.unknown_rules.insert(dpid, found.unknown_rules.clone());
        for rule in &found.rules {
            self.note(dpid, rule);
        }
        for hop in found.ecmp_groups.iter().flat_map(|group| &group.hops) {
            self.edges.insert(hop.label, SwitchPort::new(dpid, hop.port));
        }
    }

    fn note(&mut self, dpid: DatapathId, rule: &Rule) {
        let noted = self.noted.entry(dpid).or_default();
        if let Some(hop) = first_hop(rule).filter(|hop| !hop.is_over_several_paths()) {
            noted.labels.push(hop.label);
            self.edges.insert(hop.label, SwitchPort::new(dpid, hop.port));
        }
        if let Rule::Stream { id, reverse, .. } = rule {
            noted.streams.push(*id);
            let [forward, back] = self.streams.entry(*id).or_default();
            *(if *reverse { back } else { forward }) = Some((dpid, *rule));
        }
    }

    /// The switch has left.
    pub(crate) fn forget(&mut self, dpid: DatapathId) {
        self.rules.remove(&dpid);
        self.unknown_rules.remove(&dpid);
        let noted = self.noted.remove(&dpid).unwrap_or_default();
        for label in noted.labels {
            if self.edges.get(&label).is_some_and(|at| at.dpid == dpid) {
                self.edges.remove(&label);
            }
        }
        for id in noted.streams {
            let Some(directions) = self.streams.get_mut(&id) else { continue };
            for direction in directions.iter_mut() {
                direction.take_if(|(at, _)| *at == dpid);
            }
            if directions.iter().all(Option::is_none) {
                self.streams.remove(&id);
            }
        }
    }

    /// A rule timed out.
    pub(crate) fn end(&mut self, dpid: DatapathId, cookie: Cookie) {
        let Some(Purpose::Stream { id, reverse }) = cookie.purpose() else { return };
        let direction = self.streams.get_mut(&id).and_then(|both| both.get_mut(usize::from(reverse)));
        if let Some((_, rule)) = direction.and_then(|rule| rule.take_if(|(at, _)| *at == dpid)) {
            self.claim(dpid, &rule);
        }
    }

    /// Whether the installed state is being compared with the network.
    pub(crate) const fn is_settling(&self) -> bool {
        matches!(self.phase, Phase::Settling { .. })
    }

    /// Whether reconciliation must end without the links and hosts not heard yet.
    pub(crate) fn is_late(&self, now: Time) -> bool {
        matches!(self.phase, Phase::Settling { until } if until <= now)
    }

    /// Removes the unclaimed rules at `at`.
    pub(crate) fn sweep_at(&mut self, at: Time) {
        self.phase = Phase::Sweeping { at };
        self.edges.clear();
        self.streams.clear();
    }

    /// Whether the unclaimed rules are due for removal.
    pub(crate) fn is_sweeping(&self, now: Time) -> bool {
        matches!(self.phase, Phase::Sweeping { at } if at <= now)
    }

    /// Whether the command changes anything in its switch. Its rule counts as reconciled afterwards.
    pub(crate) fn needs(&mut self, command: &Command) -> bool {
        match command {
            Command::Reset { dpid } => self.forget(*dpid),
            Command::Add { dpid, rule } => return self.claim(*dpid, rule) != Some(*rule),
            Command::Delete { dpid, rule } => _ = self.claim(*dpid, rule),
            _ => {}
        }
        true
    }

    /// Whether no rules are left.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Takes the installed rule with the match of `rule`.
    pub(crate) fn claim(&mut self, dpid: DatapathId, rule: &Rule) -> Option<Rule> {
        self.rules.get_mut(&dpid)?.remove(&rule.match_key())
    }

    /// The installed rule with the match of `rule`.
    pub(crate) fn get(&self, dpid: DatapathId, rule: &Rule) -> Option<&Rule> {
        self.rules.get(&dpid)?.get(&rule.match_key())
    }

    /// The rules of one switch that pass `test`.
    pub(crate) fn of(&self, dpid: DatapathId, test: impl Fn(&Rule) -> bool) -> Vec<Rule> {
        let rules = self.rules.get(&dpid).into_iter().flat_map(BTreeMap::values);
        rules.filter(|rule| test(rule)).copied().collect()
    }

    /// Whether an installed rule passes `test`.
    pub(crate) fn any(&self, test: impl Fn(&Rule) -> bool) -> bool {
        self.rules.values().flat_map(BTreeMap::values).any(test)
    }

    /// The rules that pass `test`, with their switches.
    pub(crate) fn all(&self, test: impl Fn(&Rule) -> bool) -> Vec<(DatapathId, Rule)> {
        let rules = self.rules.iter().flat_map(|(dpid, rules)| rules.values().map(|rule| (*dpid, *rule)));
        rules.filter(|(_, rule)| test(rule)).collect()
    }

    /// The labels with unknown paths, and their first ports.
    pub(crate) fn edges(&self) -> Vec<(Label, SwitchPort)> {
        self.edges.iter().map(|(label, at)| (*label, *at)).collect()
    }

    /// The path of a label is known.
    pub(crate) fn close_label(&mut self, label: Label) {
        self.edges.remove(&label);
    }

    /// The installed rules of both directions of a stream.
    pub(crate) fn stream(&self, id: StreamId) -> StreamRules {
        self.streams.get(&id).copied().unwrap_or_default()
    }

    /// Whether the rules of a stream, of both directions, lead to paths that may still become known.
    pub(crate) fn awaits_paths(&self, id: StreamId) -> bool {
        self.is_settling() && self.stream(id).iter().all(Option::is_some)
    }

    /// The streams that are not reconciled yet.
    pub(crate) fn streams(&self) -> Vec<StreamId> {
        self.streams.keys().copied().collect()
    }

    /// Marks a stream as reconciled.
    pub(crate) fn close_stream(&mut self, id: StreamId) {
        self.streams.remove(&id);
    }

    /// Takes the rules that cannot be decoded.
    pub(crate) fn take_unknown_rules(&mut self) -> BTreeMap<DatapathId, Vec<UnknownRule>> {
        std::mem::take(&mut self.unknown_rules)
    }

    /// Takes all remaining rules.
    pub(crate) fn finish(&mut self) -> Vec<(DatapathId, Rule)> {
        let rest = self.all(|_| true);
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
