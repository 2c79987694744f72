//! Link bypasses, which switches use while a port is down, before the controller reacts.
//!
//! A label's packets leave a switch through a group that protects the port. While the port is down, they take
//! the link's bypass to the switch at its other end, and continue there by label. A bypass belongs to the
//! link, not to a path, so its cost does not grow with paths or streams.

mod path;
mod review;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_paths::Path;
use braid_topology::{Link, Topology};
use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use smallvec::SmallVec;

use super::labels::Labels;
use crate::barrier::Barrier;
use crate::command::Command;
use crate::context::Context;
use crate::event::SwitchPorts;
use crate::label::Label;
use crate::pipeline::{BypassEntry, Exit, ProtectedPort, can_be_protected};
use crate::writer::RuleWriter;
use path::bypass_path;
use review::protected_ports;
use table::{Bypass, BypassTable, rules};

/// The bypasses, and which ports are protected by them.
///
/// A protected port uses a bypass only after its rules are confirmed. The rules stay for a while after the
/// port stops using them.
#[derive(Debug, Default)]
pub(crate) struct Bypasses {
    /// The switches with enough fast-failover groups.
    capable: BTreeSet<DatapathId>,
    table: BypassTable,
    /// What the barriers in flight confirm: the bypass of a link, and its number.
    barriers: BTreeMap<Barrier, (SwitchPort, Label)>,
    /// Whether links or protected ports have changed since the last comparison.
    stale: bool,
    /// No comparison before this time.
    rest: Time,
}

/// Delay after link changes. Repairs of broken paths go first, since bypasses only serve the next failure.
const BYPASS_DELAY: Duration = Duration::from_millis(100);

impl Bypasses {
    /// How packets that enter by `from` leave through a port of a link.
    pub(super) fn exit(&self, at: SwitchPort, from: PortNo) -> Exit {
        let is_protected = self.capable.contains(&at.dpid) && can_be_protected(at.port, from);
        if is_protected { Exit::Protected { from } } else { Exit::Plain }
    }

    /// Every bypass with its path, those included that no port uses any more.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (Label, &Path)> {
        self.table.paths()
    }

    /// Whether packets of a path arrive although some of its links are down. Each of those links must have
    /// lost its carrier and have a bypass.
    pub(super) fn cover(&self, topology: &Topology, path: &Path) -> bool {
        let is_there = |link: &Link| topology.link_at(link.src) == Some(*link);
        let is_down = |at: SwitchPort| topology.port(at).is_some_and(|port| !port.up);
        let mut gone = path.links().iter().filter(|link| !is_there(link));
        gone.all(|link| (is_down(link.src) || is_down(link.dst)) && self.has_bypass(link.src, is_there))
    }

    /// A switch joins with these protected ports.
    pub(super) fn handle_switch_up(&mut self, cx: &mut Context<'_>, switch: &SwitchPorts) {
        let (dpid, ports) = (switch.dpid, switch.ports.len() as u64 + 1);
        if u64::from(switch.failover_groups) >= ports * ports {
            self.capable.insert(dpid);
        }
        match &switch.installed {
            Some(found) => {
                found.protected_ports.iter().for_each(|protected| cx.out.protections.load(dpid, protected));
            }
            // Groups that cannot be read may conflict with ours.
            None if self.capable.contains(&dpid) => remove_protections(switch, &mut cx.out),
            None => {}
        }
    }

    /// A switch has left.
    pub(super) fn handle_switch_down(&mut self, cx: &mut Context<'_>, dpid: DatapathId) {
        self.capable.remove(&dpid);
        cx.out.protections.handle_switch_down(dpid);
        self.barriers.extract_if(Barrier::all_of(dpid), |_, _| true).for_each(drop);
        // It may have lost its rules for bypasses over it.
        for at in self.table.over(dpid) {
            self.leave(cx, at);
        }
        self.stale = true;
    }

    /// Nothing is to be removed from switches any more.
    pub(super) fn forget_left(&mut self) {
        self.table.forget_leaving();
    }

    /// Links were added or removed.
    pub(super) fn handle_links(&mut self, now: Time) {
        // Flapping links must not postpone the comparison for ever.
        if !std::mem::replace(&mut self.stale, true) {
            self.rest = now + BYPASS_DELAY;
        }
    }

    /// A switch has processed every message before a barrier. After the last one, protected ports may use the
    /// bypass.
    ///
    /// Returns whether the barrier was a bypass's.
    pub(super) fn handle_barrier(&mut self, cx: &mut Context<'_>, barrier: Barrier) -> bool {
        let Some((at, label)) = self.barriers.remove(&barrier) else { return false };
        let Some(bypass) = self.table.get_mut(at).filter(|it| it.label == label) else { return true };
        bypass.unconfirmed.retain(|switch| *switch != barrier.dpid);
        if bypass.is_confirmed() {
            cx.out.set_bypass(at, bypass.entry());
        }
        true
    }

    /// A switch has refused a rule of a bypass. The link has no bypass until links change.
    pub(super) fn handle_refused(&mut self, cx: &mut Context<'_>, label: Label) {
        for at in self.table.matching(|it| it.label == label) {
            self.give_up(cx, at);
        }
    }

    /// Brings the bypasses in line with the links.
    pub(super) fn handle_timeout(&mut self, cx: &mut Context<'_>, labels: &mut Labels) {
        self.expire(cx);
        self.stale |= cx.out.protections.take_new();
        if !cx.out.installed.is_settling() && cx.now >= self.rest && std::mem::take(&mut self.stale) {
            self.follow_links(cx, labels);
        }
    }

    /// Reconciles the bypasses of an earlier controller: keeps those that match the wanted ones.
    pub(super) fn reconcile(&mut self, cx: &mut Context<'_>) {
        for at in protected_ports(cx) {
            let known = cx.out.protections.known_entry(at);
            let wanted = cx.topology.link_at(at).and_then(|link| bypass_path(cx.paths.graph(), &link));
            let (Some(BypassEntry { label, .. }), Some(path)) = (known, wanted) else { continue };
            let bypass = Bypass { label, path, unconfirmed: SmallVec::new(), since: cx.now };
            let rules: Vec<_> = rules(label, &bypass.path).collect();
            let is_there =
                rules.iter().all(|(dpid, rule)| cx.out.installed.rules().get(*dpid, rule) == Some(rule));
            if bypass.entry() == known && is_there {
                for (dpid, rule) in &rules {
                    cx.out.installed.claim(*dpid, rule);
                }
                cx.out.protections.set_entry(at, known);
                self.table.insert(at, bypass);
            }
        }
        self.stale = true;
    }

    fn confirmed(&self, at: SwitchPort) -> Option<&Bypass> {
        self.table.get(at).filter(|it| it.is_confirmed())
    }

    /// Whether a port has a confirmed bypass whose links all pass `is_there`.
    fn has_bypass(&self, at: SwitchPort, is_there: impl Fn(&Link) -> bool) -> bool {
        self.confirmed(at).is_some_and(|it| it.path.links().iter().all(is_there))
    }
}

/// Removes every protected port that the switch could have.
fn remove_protections(switch: &SwitchPorts, out: &mut RuleWriter<'_>) {
    let numbers = || switch.ports.iter().map(|port| port.port);
    for port in numbers() {
        for from in numbers().chain([PortNo(0)]).filter(|from| can_be_protected(port, *from)) {
            let protected = ProtectedPort { port, from, bypass: None };
            out.push(Command::RemoveProtectedPort { dpid: switch.dpid, protected });
        }
    }
}
