//! Retirement of unused labels: they leave the switches once no packet in flight can carry them.

use std::collections::BTreeSet;

use braid_paths::Path;
use braid_types::{DatapathId, Time};

use super::{Fabric, is_whole};
use crate::context::Context;
use crate::label::Label;

/// The stages of a label's removal.
///
/// ```text
///         nothing uses it            for long              the ingress has confirmed what it uses instead
///  Used ──────────────────▶ Unused ───────────▶ Leaving ────────────────────────────────────────────────▶ Left
///    ▲                        │                    ▲                                                       │ grace
///    └─ something uses it ────┘                    └── its path is broken                                  ▼ removed
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum LabelState {
    /// Packets may enter it.
    #[default]
    Used,
    /// It has been unused since then.
    Unused(Time),
    /// It has no users; packets may enter until the ingress has confirmed.
    Leaving,
    /// No packet enters it, and those in flight will have arrived by then.
    Left(Time),
}

impl Fabric {
    /// Withdraws labels that nothing has leased or needed for long. Called periodically.
    pub(super) fn review(&mut self, cx: &Context<'_>) {
        for label in self.labels.take_idle() {
            match self.is_needed(label) {
                true => _ = self.labels.idle.insert(label),
                false => self.labels.set_life(label, LabelState::Unused(cx.now)),
            }
        }
        // Traffic stays on a path until its replacement is confirmed.
        let leave = cx.settings.install_timeout * 2;
        let linger = cx.settings.label_linger.max(leave);
        let mut leaving = BTreeSet::new();
        for (since, label) in self.labels.unused() {
            let unused_for = cx.now.since(since);
            if self.is_needed(label) {
                self.labels.set_life(label, LabelState::Used);
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

    /// Stops packets from entering the label's path.
    pub(super) fn close(&mut self, cx: &mut Context<'_>, label: Label) {
        let Some(dpid) = self.labels.path(label).map(Path::ingress) else { return };
        self.drop_pending(label);
        self.labels.close(label);
        if cx.topology.switch(dpid).is_none() {
            return self.has_left(cx, label);
        }
        self.labels.set_life(label, LabelState::Leaving);
        let barrier = cx.tokens.draw(dpid);
        self.labels.ask(barrier, label);
        cx.out.barrier(barrier);
    }

    /// The ingress of a leaving label has confirmed, or has itself left.
    pub(super) fn has_left(&mut self, cx: &Context<'_>, label: Label) {
        self.labels.set_life(label, LabelState::Left(cx.now + cx.settings.barrier_grace));
    }

    /// The ingress of these leaving labels cannot confirm any more.
    pub(super) fn forget_ingress(&mut self, cx: &Context<'_>, dpid: DatapathId) {
        for label in self.labels.leaving(dpid) {
            self.has_left(cx, label);
        }
    }

    /// Forgets the labels and bypasses that are to be removed from switches later.
    pub(super) fn forget_left(&mut self, cx: &mut Context<'_>) {
        for label in self.labels.drained(cx.now + cx.settings.barrier_grace) {
            self.remove(cx, label);
        }
        self.bypasses.forget_left();
    }

    /// Removes the labels that are due.
    pub(super) fn remove_left_labels(&mut self, cx: &mut Context<'_>) {
        for label in self.labels.drained(cx.now) {
            self.remove(cx, label);
        }
    }
}
