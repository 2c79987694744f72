//! Labels that nothing uses any more leave the switches, once no packet can be under way with them.

use std::collections::BTreeSet;

use braid_paths::Path;
use braid_types::{DatapathId, Time};

use super::{Fabric, is_whole};
use crate::command::Command;
use crate::context::Context;
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

impl Fabric {
    /// Looks for labels that no stream leases, that `pinned` does not have and for which no transaction waits; called now
    /// and then.
    pub(crate) fn review(&mut self, cx: &Context<'_>, mut pinned: BTreeSet<Label>) {
        pinned.extend(self.pending.labels());
        for label in self.labels.take_idle() {
            match pinned.contains(&label) {
                true => _ = self.labels.idle.insert(label),
                false => self.labels.set_life(label, Life::Unused(cx.now)),
            }
        }
        // Traffic that leaves a path is on it until the other one is confirmed.
        let leave = cx.settings.install_timeout * 2;
        let linger = cx.settings.label_linger.max(leave);
        let mut leaving = BTreeSet::new();
        for (since, label) in self.labels.unused() {
            let unused_for = cx.now.since(since);
            if pinned.contains(&label) {
                self.labels.set_life(label, Life::Used);
                self.labels.idle.insert(label);
            } else if unused_for >= linger || unused_for >= leave && self.is_broken(cx, label) {
                leaving.insert(label);
            }
        }
        self.withdraw(leaving, false);
    }

    fn is_broken(&self, cx: &Context<'_>, label: Label) -> bool {
        self.labels.path(label).is_some_and(|path| !is_whole(cx.topology, path))
    }

    /// No packet shall enter the label's path from now on.
    pub(super) fn close(&mut self, cx: &mut Context<'_>, label: Label) {
        let Some(dpid) = self.labels.path(label).map(Path::ingress) else { return };
        self.drop_pending(label);
        self.labels.close(label);
        if cx.topology.switch(dpid).is_none() {
            return self.has_left(cx, label);
        }
        self.labels.set_life(label, Life::Leaving);
        let token = self.labels.ask(dpid, label);
        cx.out.push(Command::Barrier { dpid, token });
    }

    /// The ingress of a label that leaves has confirmed, or is gone itself.
    pub(super) fn has_left(&mut self, cx: &Context<'_>, label: Label) {
        self.labels.set_life(label, Life::Left(cx.now + cx.settings.grace));
    }

    /// The ingresses of some labels that leave will not confirm any more.
    pub(super) fn forget_ingress(&mut self, cx: &Context<'_>, dpid: DatapathId) {
        for label in self.labels.leaving() {
            if self.labels.path(label).is_some_and(|path| path.ingress() == dpid) {
                self.has_left(cx, label);
            }
        }
    }

    /// Removes the labels whose time has come.
    pub(super) fn remove_left_labels(&mut self, cx: &mut Context<'_>) {
        for label in self.labels.left_by(cx.now) {
            self.remove(cx, label);
        }
    }
}
