//! Labels and streams of an earlier controller whose paths are not known yet.

use std::collections::BTreeMap;

use braid_steering::StreamId;
use braid_types::{DatapathId, SwitchPort};

use super::first_hop;
use crate::event::InstalledRules;
use crate::label::Label;
use crate::pipeline::Rule;

/// The rules of both directions of a stream, as far as they are installed: forward, reverse.
type StreamRules = [Option<(DatapathId, Rule)>; 2];

/// What rules refer to and nobody knows yet: paths by their labels, and streams.
#[derive(Debug, Default)]
pub(crate) struct Unresolved {
    /// The first ports of labels whose paths are not known yet.
    labels: BTreeMap<Label, SwitchPort>,
    /// The rules of streams that are not reconciled yet.
    streams: BTreeMap<StreamId, StreamRules>,
    /// What each switch has contributed to both.
    noted: BTreeMap<DatapathId, Noted>,
}

#[derive(Debug, Default)]
struct Noted {
    labels: Vec<Label>,
    streams: Vec<StreamId>,
}

impl Unresolved {
    /// The labels with unknown paths, and their first ports.
    pub(crate) fn labels(&self) -> Vec<(Label, SwitchPort)> {
        self.labels.iter().map(|(label, at)| (*label, *at)).collect()
    }

    /// The path of a label is known.
    pub(crate) fn close_label(&mut self, label: Label) {
        self.labels.remove(&label);
    }

    /// The streams that are not reconciled yet.
    pub(crate) fn streams(&self) -> Vec<StreamId> {
        self.streams.keys().copied().collect()
    }

    /// The installed rules of both directions of a stream.
    pub(crate) fn stream(&self, id: StreamId) -> StreamRules {
        self.streams.get(&id).copied().unwrap_or_default()
    }

    /// Whether the rules of a stream, of both directions, lead to paths that may still become known.
    pub(crate) fn awaits_paths(&self, id: StreamId) -> bool {
        self.stream(id).iter().all(Option::is_some)
    }

    /// Marks a stream as reconciled.
    pub(crate) fn close_stream(&mut self, id: StreamId) {
        self.streams.remove(&id);
    }

    /// Adds what the rules and groups of a switch refer to.
    pub(super) fn add(&mut self, dpid: DatapathId, found: &InstalledRules) {
        for rule in &found.rules {
            self.note(dpid, rule);
        }
        for hop in found.ecmp_groups.iter().flat_map(|group| &group.hops) {
            self.labels.insert(hop.label, SwitchPort::new(dpid, hop.port));
        }
    }

    fn note(&mut self, dpid: DatapathId, rule: &Rule) {
        let noted = self.noted.entry(dpid).or_default();
        if let Some(hop) = first_hop(rule).filter(|hop| !hop.is_over_several_paths()) {
            noted.labels.push(hop.label);
            self.labels.insert(hop.label, SwitchPort::new(dpid, hop.port));
        }
        if let Rule::Stream { id, reverse, .. } = rule {
            noted.streams.push(*id);
            let [forward, back] = self.streams.entry(*id).or_default();
            *(if *reverse { back } else { forward }) = Some((dpid, *rule));
        }
    }

    /// Forgets what the rules of a switch refer to.
    pub(super) fn forget(&mut self, dpid: DatapathId) {
        let noted = self.noted.remove(&dpid).unwrap_or_default();
        for label in noted.labels {
            if self.labels.get(&label).is_some_and(|at| at.dpid == dpid) {
                self.labels.remove(&label);
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

    /// Takes the rule of one direction of a stream, if it is in this switch.
    pub(super) fn take_rule(&mut self, dpid: DatapathId, id: StreamId, reverse: bool) -> Option<Rule> {
        let direction = self.streams.get_mut(&id)?.get_mut(usize::from(reverse))?;
        direction.take_if(|(at, _)| *at == dpid).map(|(_, rule)| rule)
    }

    /// Gives up the paths and streams that are still unknown.
    pub(super) fn give_up(&mut self) {
        self.labels.clear();
        self.streams.clear();
    }
}
