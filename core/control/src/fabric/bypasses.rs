//! Link bypasses, which switches use while a port is down, before the controller reacts.
//!
//! A label's packets leave a switch through a group that protects the port. While the port is down, they take
//! the link's bypass to the switch at its other end, and continue there by label. A bypass belongs to the
//! link, not to a path, so its cost does not grow with paths or streams.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_paths::Path;
use braid_topology::{Link, Topology};
use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use smallvec::SmallVec;

use super::bypass_path::bypass_path;
use super::groups::LAST_PORT;
use super::labels::Labels;
use crate::barrier::Barrier;
use crate::command::Command;
use crate::context::Context;
use crate::event::SwitchPorts;
use crate::label::Label;
use crate::pipeline::{BypassEntry, Exit, ProtectedPort, Rule, can_be_protected};
use crate::writer::RuleWriter;

/// The bypasses, and the protected ports that use them.
///
/// A protected port uses a bypass only after its rules are confirmed. The rules stay for a while after the
/// port stops using them.
#[derive(Debug, Default)]
pub(super) struct Bypasses {
    /// The switches with enough fast-failover groups.
    capable: BTreeSet<DatapathId>,
    /// The bypass of each link, by its sending end.
    bypasses: BTreeMap<SwitchPort, Bypass>,
    /// The bypasses over each switch, by their links' sending ends.
    over: BTreeSet<(DatapathId, SwitchPort)>,
    /// Bypasses that no port uses any more, and when each is removed.
    leaving: Vec<(Time, Label, Path)>,
    barriers: BTreeMap<Barrier, (SwitchPort, Label)>,
    /// Whether links or protected ports have changed since the last comparison.
    stale: bool,
    /// No comparison before this time.
    rest: Time,
}

/// Delay after link changes. Repairs of broken paths go first, since bypasses only serve the next failure.
const BYPASS_DELAY: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct Bypass {
    label: Label,
    path: Path,
    unconfirmed: SmallVec<[DatapathId; 4]>,
    since: Time,
}

impl Bypasses {
    /// How packets that enter by `from` leave through a port of a link.
    pub(super) fn exit(&self, at: SwitchPort, from: PortNo) -> Exit {
        let is_protected = self.capable.contains(&at.dpid) && can_be_protected(at.port, from);
        if is_protected { Exit::Protected { from } } else { Exit::Plain }
    }

    /// Every bypass with its path, those included that no port uses any more.
    pub(super) fn paths(&self) -> impl Iterator<Item = (Label, &Path)> {
        let leaving = self.leaving.iter().map(|(_, label, path)| (*label, path));
        self.bypasses.values().map(|bypass| (bypass.label, &bypass.path)).chain(leaving)
    }

    /// Whether packets of a path arrive although some of its links are down. Each of those links must have
    /// lost its carrier and have a bypass.
    pub(super) fn cover(&self, topology: &Topology, path: &Path) -> bool {
        let is_there = |link: &Link| topology.link_at(link.src) == Some(*link);
        let is_down = |at: SwitchPort| topology.port(at).is_some_and(|port| !port.up);
        let mut gone = path.links().iter().filter(|link| !is_there(link));
        gone.all(|link| (is_down(link.src) || is_down(link.dst)) && self.bypass(link.src, is_there))
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
        let (first, last) = (SwitchPort::new(DatapathId(0), PortNo(0)), LAST_PORT);
        let over_it = self.over.range((dpid, first)..=(dpid, last));
        for at in over_it.map(|(_, at)| *at).collect::<Vec<_>>() {
            self.leave(cx, at);
        }
        self.stale = true;
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
        let Some(bypass) = self.bypasses.get_mut(&at).filter(|it| it.label == label) else { return true };
        bypass.unconfirmed.retain(|switch| *switch != barrier.dpid);
        if bypass.unconfirmed.is_empty() {
            cx.out.set_bypass(at, bypass.entry());
        }
        true
    }

    /// A switch has refused a rule of a bypass. The link has no bypass until links change.
    pub(super) fn handle_refused(&mut self, cx: &mut Context<'_>, label: Label) {
        let refused = self.bypasses.iter().find(|(_, it)| it.label == label).map(|(at, _)| *at);
        if let Some(at) = refused {
            self.give_up(cx, at);
        }
    }

    /// Brings the bypasses in line with the links.
    pub(super) fn handle_timeout(&mut self, cx: &mut Context<'_>, labels: &mut Labels) {
        self.expire(cx);
        self.stale |= cx.out.protections.take_new();
        if cx.out.installed.is_settling() || cx.now < self.rest || !std::mem::take(&mut self.stale) {
            return;
        }
        for at in ports(cx) {
            let is_there = |link: &Link| cx.topology.link_at(link.src) == Some(*link);
            match cx.topology.link_at(at) {
                Some(link) => self.review(cx, labels, &link),
                // It is in use now, as long as it works.
                None if self.bypass(at, is_there) => {}
                None => self.give_up(cx, at),
            }
        }
    }

    /// Reconciles the bypasses of an earlier controller: keeps those that match the wanted ones.
    pub(super) fn reconcile(&mut self, cx: &mut Context<'_>) {
        for at in ports(cx) {
            let known = cx.out.protections.known_entry(at);
            let wanted = cx.topology.link_at(at).and_then(|link| bypass_path(cx.paths.graph(), &link));
            let (Some(BypassEntry { label, .. }), Some(path)) = (known, wanted) else { continue };
            let bypass = Bypass { label, path, unconfirmed: SmallVec::new(), since: cx.now };
            let rules: Vec<_> = rules(label, &bypass.path).collect();
            let is_there = rules.iter().all(|(dpid, rule)| cx.out.installed.get(*dpid, rule) == Some(rule));
            if bypass.entry() == known && is_there {
                for (dpid, rule) in &rules {
                    cx.out.installed.claim(*dpid, rule);
                }
                cx.out.protections.set_entry(at, known);
                self.insert(at, bypass);
            }
        }
        self.stale = true;
    }

    fn confirmed(&self, at: SwitchPort) -> Option<&Bypass> {
        self.bypasses.get(&at).filter(|it| it.unconfirmed.is_empty())
    }

    /// Whether a port has a confirmed bypass whose links all pass `is_there`.
    fn bypass(&self, at: SwitchPort, is_there: impl Fn(&Link) -> bool) -> bool {
        self.confirmed(at).is_some_and(|it| it.path.links().iter().all(is_there))
    }

    fn review(&mut self, cx: &mut Context<'_>, labels: &mut Labels, link: &Link) {
        let wanted = bypass_path(cx.paths.graph(), link);
        let at = link.src;
        if self.bypasses.get(&at).map(|it| &it.path) == wanted.as_ref() {
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
        self.insert(at, Bypass { label, path, unconfirmed, since: cx.now });
    }

    fn insert(&mut self, at: SwitchPort, bypass: Bypass) {
        self.over.extend(bypass.path.switches().map(|dpid| (dpid, at)));
        self.bypasses.insert(at, bypass);
    }

    fn give_up(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        cx.out.set_bypass(at, None);
        self.leave(cx, at);
    }

    /// Stops using a bypass; its rules are removed later.
    fn leave(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        cx.out.protections.set_entry(at, None);
        if let Some(bypass) = self.bypasses.remove(&at) {
            bypass.path.switches().for_each(|dpid| _ = self.over.remove(&(dpid, at)));
            let linger = cx.settings.label_linger.max(cx.settings.install_timeout * 2);
            self.leaving.push((cx.now + linger, bypass.label, bypass.path));
        }
    }

    fn expire(&mut self, cx: &mut Context<'_>) {
        let (now, timeout) = (cx.now, cx.settings.install_timeout);
        let is_late = |it: &Bypass| !it.unconfirmed.is_empty() && cx.listened(it.since) > timeout;
        let late = self.bypasses.iter().filter(|(_, it)| is_late(it));
        for at in late.map(|(at, _)| *at).collect::<Vec<_>>() {
            self.give_up(cx, at);
            self.stale = true;
        }
        let (gone, left) = std::mem::take(&mut self.leaving).into_iter().partition(|(at, ..)| *at <= now);
        self.leaving = left;
        for (_, label, path) in gone {
            rules(label, &path).for_each(|(dpid, rule)| cx.delete(dpid, rule));
        }
    }
}

impl Bypass {
    /// How protected ports lead to the bypass.
    fn entry(&self) -> Option<BypassEntry> {
        Some(BypassEntry { label: self.label, port: self.path.links().first()?.src.port })
    }
}

/// The protected ports.
fn ports(cx: &Context<'_>) -> BTreeSet<SwitchPort> {
    cx.out.protections.ports().collect()
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

/// The rules of a bypass, from its end inwards. Its start has protected ports instead.
fn rules(label: Label, path: &Path) -> impl Iterator<Item = (DatapathId, Rule)> {
    let inner = path.links().iter().skip(1).rev();
    let hops = inner.map(move |link| (link.src.dpid, Rule::Bypass { label, port: link.src.port }));
    std::iter::once((path.egress(), Rule::BypassEnd { label })).chain(hops)
}
