//! The comparison of bypasses with the links: each protected link has the bypass that is best now.

use std::collections::BTreeSet;

use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, SwitchPort};
use smallvec::SmallVec;

use super::Bypasses;
use super::path::bypass_path;
use super::table::{Bypass, rules};
use crate::context::Context;
use crate::fabric::labels::Labels;

impl Bypasses {
    /// Compares the bypass of each protected port with its link.
    pub(super) fn follow_links(&mut self, cx: &mut Context<'_>, labels: &mut Labels) {
        for at in protected_ports(cx) {
            let is_there = |link: &Link| cx.topology.link_at(link.src) == Some(*link);
            match cx.topology.link_at(at) {
                Some(link) => self.review(cx, labels, &link),
                // It is in use now, as long as it works.
                None if self.has_bypass(at, is_there) => {}
                None => self.give_up(cx, at),
            }
        }
    }

    fn review(&mut self, cx: &mut Context<'_>, labels: &mut Labels, link: &Link) {
        let wanted = bypass_path(cx.paths.graph(), link);
        let at = link.src;
        if self.table.get(at).map(|it| &it.path) == wanted.as_ref() {
            // New protected ports do not have the bypass yet.
            if let Some(entry) = self.confirmed(at).and_then(Bypass::entry) {
                cx.out.set_bypass(at, Some(entry));
            }
            return;
        }
        match wanted {
            Some(path) => {
                self.leave(cx, at);
                self.write(cx, labels, at, path);
            }
            None => self.give_up(cx, at),
        }
    }

    fn write(&mut self, cx: &mut Context<'_>, labels: &mut Labels, at: SwitchPort, path: Path) {
        let label = labels.next_label();
        rules(label, &path).for_each(|(dpid, rule)| cx.out.add(dpid, rule));
        let unconfirmed: SmallVec<[DatapathId; 4]> = path.switches().skip(1).collect();
        for dpid in &unconfirmed {
            let barrier = cx.tokens.draw(*dpid);
            self.barriers.insert(barrier, (at, label));
            cx.out.barrier(barrier);
        }
        self.table.insert(at, Bypass { label, path, unconfirmed, since: cx.now });
    }

    /// Takes the bypass out of a link's protected ports.
    pub(super) fn give_up(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        cx.out.set_bypass(at, None);
        self.leave(cx, at);
    }

    /// Stops using a bypass; its rules are removed later.
    pub(super) fn leave(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        cx.out.protections.set_entry(at, None);
        let linger = cx.settings.label_linger.max(cx.settings.install_timeout * 2);
        self.table.retire(at, cx.now + linger);
    }

    /// Gives up bypasses that are not confirmed in time, and removes the unused ones that are due.
    pub(super) fn expire(&mut self, cx: &mut Context<'_>) {
        let timeout = cx.settings.install_timeout;
        for at in self.table.matching(|it| !it.is_confirmed() && cx.listened(it.since) > timeout) {
            self.give_up(cx, at);
            self.stale = true;
        }
        for (_, label, path) in self.table.take_due(cx.now) {
            rules(label, &path).for_each(|(dpid, rule)| cx.delete(dpid, rule));
        }
    }
}

/// The ports that switches protect.
pub(super) fn protected_ports(cx: &Context<'_>) -> BTreeSet<SwitchPort> {
    cx.out.protections.ports().collect()
}
