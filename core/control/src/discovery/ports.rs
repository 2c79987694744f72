//! Ports that are up, and what was seen at each: a switch, hosts, or nothing yet.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_types::{DatapathId, PortNo, SwitchPort, Time};

use crate::role::Role;
use crate::session::SessionLimits;

/// One port that is up.
#[derive(Debug)]
pub(super) struct PortState {
    pub(super) role: Role,
    pub(super) since: Time,
    /// When the next discovery frame is due.
    next_probe: Time,
    /// Whether that is soon after the one before, as its role or its link is in question.
    pub(super) is_urgent: bool,
    /// Discovery frames that were sent after the newest one that arrived elsewhere.
    pub(super) unheard_probes: u32,
    /// When the last discovery frame of the other end arrived.
    pub(super) last_heard: Time,
    /// When this port sent the newest of its discovery frames that arrived elsewhere.
    pub(super) sent_and_heard: Option<Time>,
    /// What was seen at the port, so that hosts do not pass for a switch or a switch for hosts.
    pub(super) shown: Seen,
}

/// What has been seen at a port since it was last down for long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Seen {
    /// A host.
    pub(super) host: bool,
    /// Another switch.
    pub(super) link: bool,
}

/// Ports of a block: so many neighbouring numbers.
const BLOCK: u32 = 8;

/// The number of down ports of a switch that are remembered: as many as it may have.
const MAX_DOWN: usize = SessionLimits::DEFAULT.ports;

/// The ports that are up, and what was seen at ports that went down recently.
#[derive(Debug, Default)]
pub(super) struct Ports {
    up: BTreeMap<SwitchPort, PortState>,
    /// When discovery frames are due. An entry counts if it is the time that its port has.
    due: BTreeSet<(Time, SwitchPort)>,
    /// The number of ports of each switch.
    counts: BTreeMap<DatapathId, usize>,
    down: BTreeMap<DatapathId, BTreeMap<PortNo, (Time, Seen)>>,
}

impl Ports {
    /// Adds a port that is up. What was seen less than `hold` ago still counts.
    pub(super) fn insert(&mut self, at: SwitchPort, now: Time, hold: Duration) {
        let shown = self.down.get_mut(&at.dpid).and_then(|down| down.remove(&at.port));
        let shown = shown.filter(|(since, _)| now.since(*since) < hold).map(|(_, shown)| shown);
        let state = PortState {
            role: Role::Pending,
            since: now,
            next_probe: now,
            is_urgent: true,
            unheard_probes: 0,
            last_heard: now,
            sent_and_heard: None,
            shown: shown.unwrap_or_default(),
        };
        if let Some(before) = self.up.insert(at, state) {
            self.due.remove(&(before.next_probe, at));
        } else {
            *self.counts.entry(at.dpid).or_default() += 1;
        }
        self.due.insert((now, at));
    }

    /// The number of ports that are up.
    pub(super) fn len(&self) -> usize {
        self.up.len()
    }

    /// The numbers of ports of the switches that have any.
    pub(super) fn counts(&self) -> impl Iterator<Item = usize> {
        self.counts.values().copied()
    }

    /// The number of ports of a switch that are up.
    pub(super) fn count(&self, dpid: DatapathId) -> usize {
        self.counts.get(&dpid).copied().unwrap_or_default()
    }

    /// The next discovery frame of a port is due at this time.
    pub(super) fn schedule(&mut self, at: SwitchPort, due: Time) {
        if let Some(state) = self.up.get_mut(&at) {
            self.due.remove(&(state.next_probe, at));
            state.next_probe = due;
            self.due.insert((due, at));
        }
    }

    /// Takes a port whose discovery frame is due, the longest waiting first. [`Self::schedule`] it again.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<SwitchPort> {
        while let Some((_, at)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            let Some((due, _)) = self.due.pop_first() else { break };
            if self.up.get(&at).is_some_and(|state| state.next_probe == due) {
                return Some(at);
            }
        }
        None
    }

    /// The other ports of the block of `at` whose discovery frames are due by `until`, without urgent ones: these were
    /// probed a moment ago.
    pub(super) fn due_beside(&self, at: SwitchPort, until: Time) -> impl Iterator<Item = SwitchPort> {
        let first = first_of_block(at);
        let last = SwitchPort::new(at.dpid, PortNo(first.port.0.saturating_add(BLOCK - 1)));
        let others = self.up.range(first..=last).filter(move |(port, _)| **port != at);
        others.filter(move |(_, state)| !state.is_urgent && state.next_probe <= until).map(|(port, _)| *port)
    }

    /// Removes a port that is down or removed.
    pub(super) fn remove(&mut self, at: SwitchPort, now: Time) -> Option<PortState> {
        let state = self.up.remove(&at)?;
        if let Some(count) = self.counts.get_mut(&at.dpid) {
            *count -= 1;
        }
        self.due.remove(&(state.next_probe, at));
        if state.shown != Seen::default() {
            let down = self.down.entry(at.dpid).or_default();
            if down.len() >= MAX_DOWN {
                down.pop_first();
            }
            down.insert(at.port, (now, state.shown));
        }
        Some(state)
    }

    /// Forgets ports that have been down for `hold`. Called once a tick.
    pub(super) fn tick(&mut self, now: Time, hold: Duration) {
        self.down.retain(|_, down| {
            down.retain(|_, (since, _)| now.since(*since) < hold);
            !down.is_empty()
        });
    }

    pub(super) fn remove_switch(&mut self, dpid: DatapathId) {
        let gone: Vec<_> = self.of(dpid).map(|(at, state)| (state.next_probe, at)).collect();
        for due in gone {
            self.due.remove(&due);
            self.up.remove(&due.1);
        }
        self.counts.remove(&dpid);
    }

    /// Forgets the ports of a switch that restarts: all of them were down.
    pub(super) fn forget_switch(&mut self, dpid: DatapathId) {
        self.down.remove(&dpid);
    }

    /// Records that a host was seen at a port.
    pub(super) fn mark_host_seen(&mut self, at: SwitchPort) {
        if let Some(state) = self.up.get_mut(&at) {
            state.shown.host = true;
        }
    }

    /// Whether a host was seen at a port.
    pub(super) fn has_shown_host(&self, at: SwitchPort) -> bool {
        self.up.get(&at).is_some_and(|state| state.shown.host)
    }

    pub(super) fn role(&self, at: SwitchPort) -> Option<Role> {
        self.up.get(&at).map(|state| state.role)
    }

    pub(super) fn get(&self, at: SwitchPort) -> Option<&PortState> {
        self.up.get(&at)
    }

    pub(super) fn get_mut(&mut self, at: SwitchPort) -> Option<&mut PortState> {
        self.up.get_mut(&at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SwitchPort, &PortState)> {
        self.up.iter().map(|(at, state)| (*at, state))
    }

    /// The ports of one switch.
    pub(super) fn of(&self, dpid: DatapathId) -> impl Iterator<Item = (SwitchPort, &PortState)> {
        let (first, last) = (PortNo(0), PortNo::ANY);
        self.up
            .range(SwitchPort { dpid, port: first }..=SwitchPort { dpid, port: last })
            .map(|(at, state)| (*at, state))
    }
}

/// The first port of the port's block, whether it exists or not. Ports have numbers from 1.
pub(super) fn first_of_block(at: SwitchPort) -> SwitchPort {
    SwitchPort::new(at.dpid, PortNo(at.port.0.saturating_sub(1) / BLOCK * BLOCK + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: Duration = Duration::from_secs(5);

    fn at(dpid: u64, port: usize) -> SwitchPort {
        SwitchPort::new(DatapathId(dpid), PortNo(port as u32))
    }

    /// The port comes up, shows a host, and goes down.
    fn flap(ports: &mut Ports, at: SwitchPort, now: Time) {
        ports.insert(at, now, HOLD);
        ports.mark_host_seen(at);
        ports.remove(at, now);
    }

    fn remembers(ports: &mut Ports, at: SwitchPort, now: Time) -> bool {
        ports.insert(at, now, HOLD);
        ports.has_shown_host(at)
    }

    #[test]
    fn what_a_port_showed_is_forgotten_when_it_was_down_for_long() {
        let (mut ports, after) = (Ports::default(), |seconds| Time::ZERO + Duration::from_secs(seconds));
        (1..=3).for_each(|number| flap(&mut ports, at(1, number), Time::ZERO));
        assert!(remembers(&mut ports, at(1, 1), after(4)));
        assert!(!remembers(&mut ports, at(1, 2), after(5)), "whether a tick has come or not");
        ports.tick(after(5), HOLD);
        assert!(ports.down.is_empty());
    }

    #[test]
    fn a_switch_whose_ports_come_and_go_without_end_makes_only_its_own_forgotten() {
        let mut ports = Ports::default();
        flap(&mut ports, at(1, 1), Time::ZERO);
        (1..=2 * MAX_DOWN).for_each(|number| flap(&mut ports, at(2, number), Time::ZERO));
        assert_eq!(ports.down.values().map(BTreeMap::len).collect::<Vec<_>>(), [1, MAX_DOWN]);
        assert!(remembers(&mut ports, at(1, 1), Time::ZERO));
        assert!(remembers(&mut ports, at(2, 2 * MAX_DOWN), Time::ZERO));
    }
}
