//! Labels that nothing uses any more leave the switches, once no packet can be under way with them.

use std::collections::BTreeSet;

use braid_paths::Path;
use braid_types::{DatapathId, Time};

use super::labels::Labels;
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
    /// Looks for labels that neither `used` has nor a transaction waits for, called now and then.
    pub(crate) fn review(&mut self, cx: &Context<'_>, mut used: BTreeSet<Label>) {
        used.extend(self.pending.labels());
        // Traffic that leaves a path is on it until the other one is confirmed.
        let leave = cx.settings.install_timeout * 2;
        let linger = cx.settings.label_linger.max(leave);
        let mut leaving = BTreeSet::new();
        for (label, life) in self.labels.lives() {
            match life {
                Life::Used if !used.contains(&label) => self.labels.set_life(label, Life::Unused(cx.now)),
                Life::Unused(_) if used.contains(&label) => self.labels.set_life(label, Life::Used),
                Life::Unused(since) if cx.now.since(since) >= linger => _ = leaving.insert(label),
                Life::Unused(since) if cx.now.since(since) >= leave && self.is_broken(cx, label) => {
                    leaving.insert(label);
                }
                _ => {}
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
        for label in self.labels.living(|life| life == Life::Leaving) {
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

impl Labels {
    fn living(&self, test: impl Fn(Life) -> bool) -> Vec<Label> {
        self.lives().into_iter().filter(|(_, life)| test(*life)).map(|(label, _)| label).collect()
    }
}
