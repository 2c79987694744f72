//! Ways round links whose ports are down, which switches take by themselves before the controller knows.
//!
//! A label's packets leave a switch through a group that guards the port: while the port is down they take the link's
//! detour to the switch at its other end, and go on from there by their label. A detour is the link's, not the path's,
//! so that what it costs does not grow with paths or streams.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use braid_paths::Path;
use braid_topology::{Graph, Link, NodeIndex};
use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Brain;
use crate::command::{Command, Commands};
use crate::event::SwitchPorts;
use crate::label::Label;
use crate::pipeline::{Exit, Guard, Rule, can_be_guarded};

/// The detours and what leads there.
///
/// Packets take a detour only if its rules were confirmed: the guards are told afterwards. Its rules stay for a while
/// when the guards lead elsewhere.
#[derive(Debug, Default)]
pub(super) struct Detours {
    /// The switches with groups enough.
    capable: BTreeSet<DatapathId>,
    /// The guards that switches have, by the port and where packets come in, and where each leads round.
    guards: BTreeMap<(SwitchPort, PortNo), Option<(Label, PortNo)>>,
    /// The detour of each link, by its sending end.
    ways: BTreeMap<SwitchPort, Way>,
    /// Those that no guard leads to any more.
    leaving: Vec<(Time, Label, Path)>,
    barriers: BTreeMap<(DatapathId, u32), (SwitchPort, Label)>,
    /// Whether links or guards have come or gone since all was compared.
    stale: bool,
    /// Until then it is not compared.
    rest: Time,
}

/// When links have come or gone, switches first get what broken paths need: detours are for the next time.
const PATHS_FIRST: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct Way {
    label: Label,
    path: Path,
    unconfirmed: SmallVec<[DatapathId; 4]>,
    since: Time,
}

impl Detours {
    /// Links have come or gone.
    pub(super) fn on_links(&mut self, now: Time) {
        // Those that flap may not put it off for ever.
        if !std::mem::replace(&mut self.stale, true) {
            self.rest = now + PATHS_FIRST;
        }
    }

    /// All is to be compared again.
    fn touch(&mut self) {
        self.stale = true;
    }

    /// How packets that come in by `from` leave through a port of a link.
    pub(super) fn exit(&self, at: SwitchPort, from: PortNo) -> Exit {
        let guarded = self.capable.contains(&at.dpid) && can_be_guarded(at.port, from);
        if guarded { Exit::Guarded { from } } else { Exit::Plain }
    }

    /// The guard that a rule needs, if its switch has not got it yet.
    pub(super) fn guard_before(&mut self, command: &Command) -> Option<Command> {
        let Command::Add { dpid, rule } = command else { return None };
        let (port, from) = rule.guarded()?;
        let at = SwitchPort::new(*dpid, port);
        if self.guards.contains_key(&(at, from)) {
            return None;
        }
        let detour = self.ways.get(&at).filter(|way| way.unconfirmed.is_empty()).and_then(Way::begins);
        self.guards.insert((at, from), detour);
        self.stale = true;
        Some(Command::AddGuard { dpid: *dpid, guard: Guard { port, from, detour } })
    }

    /// The ports that are guarded.
    fn ports(&self) -> BTreeSet<SwitchPort> {
        self.guards.keys().map(|(at, _)| *at).collect()
    }

    /// Whether a guard at `at` leads round, over links that `is_there` knows.
    fn leads_round(&self, at: SwitchPort, is_there: impl Fn(&Link) -> bool) -> bool {
        let way = self.ways.get(&at).filter(|way| way.unconfirmed.is_empty());
        way.is_some_and(|way| way.path.links().iter().all(is_there))
    }

    /// Tells the guards of a port where to lead round.
    fn set_guards(&mut self, at: SwitchPort, detour: Option<(Label, PortNo)>, out: &mut Commands) {
        let of_port = (at, PortNo(0))..=(at, PortNo::ANY);
        for ((_, from), told) in self.guards.range_mut(of_port).filter(|(_, told)| **told != detour) {
            *told = detour;
            let guard = Guard { port: at.port, from: *from, detour };
            out.push(Command::SetGuard { dpid: at.dpid, guard });
        }
    }
}

impl Way {
    /// What guards are told.
    fn begins(&self) -> Option<(Label, PortNo)> {
        Some((self.label, self.path.links().first()?.src.port))
    }
}

impl Brain {
    /// A switch joins, with the guards that it has.
    pub(super) fn take_up_guards(&mut self, switch: &SwitchPorts, out: &mut Commands) {
        let (dpid, ports) = (switch.dpid, switch.ports.len() as u64 + 1);
        if u64::from(switch.failover_groups) >= ports * ports {
            self.detours.capable.insert(dpid);
        }
        match &switch.found {
            Some(found) => self.detours.guards.extend(
                found
                    .guards
                    .iter()
                    .map(|guard| ((SwitchPort::new(dpid, guard.port), guard.from), guard.detour)),
            ),
            // What cannot be read may be in the way of ours.
            None if self.detours.capable.contains(&dpid) => remove_guards(switch, out),
            None => {}
        }
    }

    /// A switch has left.
    pub(super) fn forget_guards(&mut self, now: Time, dpid: DatapathId) {
        self.detours.capable.remove(&dpid);
        self.detours.guards.retain(|(at, _), _| at.dpid != dpid);
        self.detours.barriers.retain(|(at, _), _| *at != dpid);
        // What it had of detours over it may be lost.
        let ways = self.detours.ways.iter().filter(|(_, way)| way.path.switches().any(|it| it == dpid));
        for at in ways.map(|(at, _)| *at).collect::<Vec<_>>() {
            self.leave_detour(now, at);
        }
        self.detours.touch();
    }

    /// Goes on with the detours that an earlier controller has written, as far as they are those that are wanted.
    pub(super) fn adopt_detours(&mut self, now: Time) {
        for at in self.detours.ports() {
            let told =
                self.detours.guards.range((at, PortNo(0))..=(at, PortNo::ANY)).find_map(|(_, told)| *told);
            let wanted = self.topology.link_at(at).and_then(|link| way_round(self.paths.graph(), &link));
            let (Some((label, _)), Some(path)) = (told, wanted) else { continue };
            let way = Way { label, path, unconfirmed: SmallVec::new(), since: now };
            let rules: Vec<_> = rules(label, &way.path).collect();
            let is_there = rules.iter().all(|(dpid, rule)| self.found.get(*dpid, rule) == Some(rule));
            if way.begins() == told && is_there {
                for (dpid, rule) in &rules {
                    self.found.claim(*dpid, rule);
                }
                self.detours.ways.insert(at, way);
            }
        }
        self.detours.touch();
    }

    /// Brings the detours in line with the links, called once a tick.
    pub(super) fn tick_detours(&mut self, now: Time, out: &mut Commands) {
        self.expire_detours(now, out);
        if self.found.is_settling() || now < self.detours.rest || !std::mem::take(&mut self.detours.stale) {
            return;
        }
        for at in self.detours.ports() {
            match self.topology.link_at(at) {
                Some(link) => self.review_detour(now, &link, out),
                // It is in use just now, as long as it leads anywhere.
                None if self
                    .detours
                    .leads_round(at, |link| self.topology.link_at(link.src) == Some(*link)) => {}
                None => self.give_up_detour(now, at, out),
            }
        }
    }

    fn review_detour(&mut self, now: Time, link: &Link, out: &mut Commands) {
        let wanted = way_round(self.paths.graph(), link);
        let at = link.src;
        if self.detours.ways.get(&at).map(|way| &way.path) == wanted.as_ref() {
            // Guards that are new have been told nothing yet.
            let confirmed = self.detours.ways.get(&at).filter(|way| way.unconfirmed.is_empty());
            if let Some(detour) = confirmed.and_then(Way::begins) {
                self.detours.set_guards(at, Some(detour), out);
            }
            return;
        }
        match wanted {
            Some(path) => {
                self.leave_detour(now, at);
                self.write_detour(now, at, path, out);
            }
            None => self.give_up_detour(now, at, out),
        }
    }

    fn write_detour(&mut self, now: Time, at: SwitchPort, path: Path, out: &mut Commands) {
        let label = self.labels.next_label();
        rules(label, &path).for_each(|(dpid, rule)| out.add(dpid, rule));
        let unconfirmed: SmallVec<[DatapathId; 4]> = path.switches().skip(1).collect();
        for dpid in &unconfirmed {
            let token = self.labels.next_token();
            self.detours.barriers.insert((*dpid, token), (at, label));
            out.push(Command::Barrier { dpid: *dpid, token });
        }
        self.detours.ways.insert(at, Way { label, path, unconfirmed, since: now });
    }

    /// A switch has done everything before a barrier: if it was the last one, the guards may lead there.
    pub(super) fn confirm_detour(&mut self, dpid: DatapathId, token: u32, out: &mut Commands) {
        let Some((at, label)) = self.detours.barriers.remove(&(dpid, token)) else { return };
        let Some(way) = self.detours.ways.get_mut(&at).filter(|way| way.label == label) else { return };
        way.unconfirmed.retain(|switch| *switch != dpid);
        if way.unconfirmed.is_empty() {
            let begins = way.begins();
            self.detours.set_guards(at, begins, out);
        }
    }

    /// A switch does not take a rule of a detour: there is none until links change.
    pub(super) fn on_detour_refused(&mut self, now: Time, label: Label, out: &mut Commands) {
        let refused = self.detours.ways.iter().find(|(_, way)| way.label == label).map(|(at, _)| *at);
        if let Some(at) = refused {
            self.give_up_detour(now, at, out);
        }
    }

    fn give_up_detour(&mut self, now: Time, at: SwitchPort, out: &mut Commands) {
        self.detours.set_guards(at, None, out);
        self.leave_detour(now, at);
    }

    /// The detour's rules are removed some time after nothing leads there any more.
    fn leave_detour(&mut self, now: Time, at: SwitchPort) {
        if let Some(way) = self.detours.ways.remove(&at) {
            let linger = self.settings.label_linger.max(self.settings.install_timeout * 2);
            self.detours.leaving.push((now + linger, way.label, way.path));
        }
    }

    fn expire_detours(&mut self, now: Time, out: &mut Commands) {
        let timeout = self.settings.install_timeout;
        let is_late = |way: &Way| !way.unconfirmed.is_empty() && now.since(way.since) > timeout;
        let ways = self.detours.ways.iter().filter(|(_, way)| is_late(way));
        for at in ways.map(|(at, _)| *at).collect::<Vec<_>>() {
            self.give_up_detour(now, at, out);
            self.detours.touch();
        }
        let (gone, left) =
            std::mem::take(&mut self.detours.leaving).into_iter().partition(|(at, ..)| *at <= now);
        self.detours.leaving = left;
        for (_, label, path) in gone {
            rules(label, &path).for_each(|(dpid, rule)| self.delete(dpid, rule, out));
        }
    }

    /// Whether packets of a path get on although links of it are gone: each of those has lost its carrier, so that
    /// switches go round it.
    pub(super) fn is_gone_round(&self, path: &Path) -> bool {
        let is_there = |link: &Link| self.topology.link_at(link.src) == Some(*link);
        let is_down = |at: SwitchPort| self.topology.port(at).is_some_and(|port| !port.up);
        let mut gone = path.links().iter().filter(|link| !is_there(link));
        gone.all(|link| {
            (is_down(link.src) || is_down(link.dst)) && self.detours.leads_round(link.src, is_there)
        })
    }
}

/// Removes every guard that the switch could have.
fn remove_guards(switch: &SwitchPorts, out: &mut Commands) {
    let numbers = || switch.ports.iter().map(|port| port.port);
    for port in numbers() {
        for from in numbers().chain([PortNo(0)]).filter(|from| can_be_guarded(port, *from)) {
            let guard = Guard { port, from, detour: None };
            out.push(Command::RemoveGuard { dpid: switch.dpid, guard });
        }
    }
}

/// The rules of a detour, from its end inwards. Where it begins there are guards.
fn rules(label: Label, path: &Path) -> impl Iterator<Item = (DatapathId, Rule)> {
    let inner = path.links().iter().skip(1).rev();
    let hops = inner.map(move |link| (link.src.dpid, Rule::Detour { label, port: link.src.port }));
    std::iter::once((path.egress(), Rule::DetourEnd { label })).chain(hops)
}

/// The shortest way from one end of a link to the other without its cable; of several, the first in the order of ports.
///
/// So a link that goes changes only the detours over it.
fn way_round(graph: &Graph, link: &Link) -> Option<Path> {
    let (start, goal) = (graph.node(link.src.dpid)?, graph.node(link.dst.dpid)?);
    let is_other =
        |found: &Link| ![found.src, found.dst].iter().any(|end| [link.src, link.dst].contains(end));
    let mut distances: FxHashMap<NodeIndex, u32> = FxHashMap::from_iter([(goal, 0)]);
    let mut queue = VecDeque::from([goal]);
    while let Some(node) = queue.pop_front().filter(|node| *node != start) {
        let next = distances.get(&node)? + 1;
        for (edge, tail) in graph.in_edges(node) {
            if is_other(graph.link(*edge)) && !distances.contains_key(tail) {
                distances.insert(*tail, next);
                queue.push_back(*tail);
            }
        }
    }
    let (mut at, mut links) = (start, Vec::new());
    while at != goal {
        let next = distances.get(&at)?.checked_sub(1)?;
        let closer =
            |edge: &_| is_other(graph.link(*edge)) && distances.get(&graph.head(*edge)) == Some(&next);
        let edge = graph.out_edges(at).find(closer)?;
        links.push(*graph.link(edge));
        at = graph.head(edge);
    }
    Path::over(&links)
}
