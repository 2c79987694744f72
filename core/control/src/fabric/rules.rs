//! The rules of labels, their installation and removal.

use std::collections::BTreeSet;

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SwitchPort};
use smallvec::SmallVec;

use super::groups::middle;
use super::{Fabric, FabricEvent};
use crate::context::Context;
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Exit, Hop, Rule};

impl Fabric {
    /// The first hop of packets that enter a label's path.
    pub(super) fn entry(&self, label: Label, path: &Path) -> Option<Hop> {
        let at = path.links().first()?.src;
        Some(Hop { label, port: at.port, exit: self.bypasses.exit(at, PortNo(0)) })
    }

    /// Gives a path a label and installs it; `None` if there are too many.
    pub(super) fn install(&mut self, cx: &mut Context<'_>, path: &Path) -> Option<Label> {
        if self.labels.len() >= cx.settings.max_labels {
            cx.out.notice(Notice::Full { what: "labels" });
            return None;
        }
        let label = self.labels.register(cx.now, path, cx.tokens);
        self.write(cx, label, path);
        for barrier in self.labels.unconfirmed(label) {
            cx.out.barrier(*barrier);
        }
        Some(label)
    }

    /// Writes the rules of a new label, except those that its group has already.
    pub(super) fn write(&mut self, cx: &mut Context<'_>, label: Label, path: &Path) {
        let rules: SmallVec<[_; 8]> = self.label_rules(label, path).collect();
        for (dpid, rule) in rules {
            if self.labels.groups.is_first(&rule) {
                cx.out.add(dpid, rule);
            }
        }
    }

    /// Removes a label's rules.
    pub(super) fn remove(&mut self, cx: &mut Context<'_>, label: Label) {
        let Some(path) = self.labels.path(label).cloned() else { return };
        let mut rules: SmallVec<[_; 8]> = self.label_rules(label, &path).collect();
        rules.retain(|(_, rule)| self.labels.groups.is_last(rule));
        rules.extend(self.labels.groups.last_hairpin(label));
        self.drop_pending(label);
        self.labels.remove(label);
        rules.into_iter().for_each(|(dpid, rule)| cx.delete(dpid, rule));
    }

    /// Removes a label that a switch has refused or not confirmed. Its path is suspended for some time.
    pub(super) fn fail(&mut self, cx: &mut Context<'_>, label: Label) {
        let Some(path) = self.labels.path(label).cloned() else { return };
        self.remove(cx, label);
        cx.out.notice(Notice::InstallFailed { path: path.switches().collect() });
        cx.paths.suspend(path, cx.now + cx.settings.path_suspend_time);
    }

    /// Withdraws labels with broken paths. Paths that switches bypass are reported as bypassed instead.
    pub(super) fn leave_broken_labels(&mut self, cx: &Context<'_>) {
        let broken = self.labels.broken(cx.topology);
        let is_bypassed = |label: &Label| {
            self.labels.path(*label).is_some_and(|path| self.bypasses.cover(cx.topology, path))
        };
        let (bypassed, useless): (BTreeSet<_>, BTreeSet<_>) = broken.into_iter().partition(is_bypassed);
        self.withdraw(useless, false);
        if !bypassed.is_empty() {
            let paths = self.labels.paths(&bypassed);
            self.events.push_back(FabricEvent::Bypassed { labels: bypassed, paths });
        }
    }

    /// The rules of a label, from the egress inwards. Those of the middle switch are its group's.
    pub(super) fn label_rules<'a>(
        &'a self,
        label: Label,
        path: &'a Path,
    ) -> impl Iterator<Item = (DatapathId, Rule)> + use<'a> {
        let group = label.group().zip(middle(path).map(|(_, link)| *link));
        let pairs = path.links().iter().zip(path.links().iter().skip(1)).rev();
        let inner = pairs.flat_map(move |(from, to)| match group {
            Some((group, link)) if link == *to => self.transit_rules(group, from, to),
            _ => self.transit_rules(label, from, to),
        });
        std::iter::once((path.egress(), Rule::Egress { label })).chain(inner)
    }

    /// The rules of a label or group at the switch between two links of a path.
    fn transit_rules(&self, label: Label, from: &Link, to: &Link) -> SmallVec<[(DatapathId, Rule); 3]> {
        let SwitchPort { dpid, port } = to.src;
        let mut rules = SmallVec::new();
        // While the previous link is bypassed, packets may come from the next switch.
        if self.bypasses.exit(from.src, PortNo(0)) != Exit::Plain {
            rules.push((dpid, Rule::Hairpin { label, port }));
        }
        let exit = self.bypasses.exit(to.src, from.dst.port);
        if label.is_group() && exit != Exit::Plain {
            // For packets that arrive from any other port, on a bypass.
            let exit = self.bypasses.exit(to.src, PortNo(0));
            rules.push((dpid, Rule::Transit(Hop { label, port, exit })));
        }
        rules.push((dpid, Rule::Transit(Hop { label, port, exit })));
        rules
    }
}
