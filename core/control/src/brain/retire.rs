//! Labels that nothing uses any more leave the switches, once no packet can be under way with them.

use std::collections::BTreeSet;

use braid_paths::Path;
use braid_types::{DatapathId, Time};
use smallvec::SmallVec;

use super::Brain;
use super::install::Labels;
use crate::command::{Command, Commands};
use crate::label::Label;

/// How far a label is from being removed.
///
/// ```text
///         nothing uses it            for long              the ingress has confirmed what it uses instead
///  Used ──────────────────▶ Unused ───────────▶ Leaving ────────────────────────────────────────────────▶ Left
///    ▲                        │                    ▲                                                       │ grace
///    └─ something uses it ────┘                    └── its path is broken                                  ▼ removed
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Life {
    /// Packets may enter it.
    #[default]
    Used,
    /// None do, since then.
    Unused(Time),
    /// None will any more, as soon as the ingress has confirmed.
    Leaving,
    /// None do, and those under way will have arrived by then.
    Left(Time),
}

impl Brain {
    /// Removes the labels whose time has come, called once a tick.
    pub(super) fn tick_labels(&mut self, now: Time, out: &mut Commands) {
        for label in self.labels.left_by(now) {
            self.remove_label(label, out);
        }
    }

    /// Looks for labels that nothing uses, called now and then.
    pub(super) fn review_labels(&mut self, now: Time, out: &mut Commands) {
        let used = self.used_labels();
        // Traffic that leaves a path is on it until the other one is confirmed.
        let leave = self.settings.install_timeout * 2;
        let linger = self.settings.label_linger.max(leave);
        let mut leaving = BTreeSet::new();
        for (label, life) in self.labels.lives() {
            match life {
                Life::Used if !used.contains(&label) => self.labels.set_life(label, Life::Unused(now)),
                Life::Unused(_) if used.contains(&label) => self.labels.set_life(label, Life::Used),
                Life::Unused(since) if now.since(since) >= linger => _ = leaving.insert(label),
                Life::Unused(since) if now.since(since) >= leave && self.is_broken(label) => {
                    leaving.insert(label);
                }
                _ => {}
            }
        }
        self.retire(now, &leaving, out);
    }

    fn is_broken(&self, label: Label) -> bool {
        self.labels.path(label).is_some_and(|path| !self.is_whole(path))
    }

    fn used_labels(&self) -> BTreeSet<Label> {
        let routes = self.streams.streams().filter_map(|stream| stream.route.as_ref());
        let paths = routes.flat_map(|route| [&route.forward, &route.reverse]);
        let of_streams = paths.filter_map(|path| self.labels.of(path));
        let set_aside = self.set_aside().filter_map(|path| self.labels.of(&path));
        let routed = self.routes.labels().chain(self.labels.waits.labels());
        of_streams.chain(set_aside).chain(routed).chain(self.sprays.labels()).collect()
    }

    /// No packet shall enter the labels' paths from now on; what does is sent elsewhere.
    pub(super) fn retire(&mut self, now: Time, labels: &BTreeSet<Label>, out: &mut Commands) {
        self.release_users(labels, out);
        for label in labels {
            self.close_label(now, *label, out);
        }
    }

    fn close_label(&mut self, now: Time, label: Label, out: &mut Commands) {
        let Some(dpid) = self.labels.path(label).map(Path::ingress) else { return };
        self.labels.close(label);
        if self.topology.switch(dpid).is_none() {
            return self.labels.set_life(label, Life::Left(now + self.settings.grace));
        }
        self.labels.set_life(label, Life::Leaving);
        let token = self.labels.ask(dpid, label);
        out.push(Command::Barrier { dpid, token });
    }

    /// The ingress of a label that leaves has confirmed, or is gone itself.
    pub(super) fn has_left(&mut self, now: Time, label: Label) {
        self.labels.set_life(label, Life::Left(now + self.settings.grace));
    }

    /// The ingresses of some labels that leave will not confirm any more.
    pub(super) fn forget_ingress(&mut self, now: Time, dpid: DatapathId) {
        for label in self.labels.living(|life| life == Life::Leaving) {
            if self.labels.path(label).is_some_and(|path| path.ingress() == dpid) {
                self.has_left(now, label);
            }
        }
    }

    /// Removes a label's rules.
    pub(super) fn remove_label(&mut self, label: Label, out: &mut Commands) {
        let Some(path) = self.labels.path(label).cloned() else { return };
        let mut rules: SmallVec<[_; 8]> = self.label_rules(label, &path).collect();
        rules.retain(|(_, rule)| self.labels.trunks.is_last(rule));
        rules.extend(self.labels.trunks.last_return(label));
        self.labels.remove(label);
        rules.into_iter().for_each(|(dpid, rule)| self.delete(dpid, rule, out));
    }
}

impl Labels {
    fn living(&self, test: impl Fn(Life) -> bool) -> Vec<Label> {
        self.lives().into_iter().filter(|(_, life)| test(*life)).map(|(label, _)| label).collect()
    }
}
