//! What is at each port: another switch, hosts, or nothing known yet.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{DatapathId, PortNo, SwitchPort, Time};

use crate::role::Role;

/// One port that is up.
#[derive(Debug)]
pub(crate) struct PortState {
    pub(crate) role: Role,
    pub(crate) since: Time,
    /// When the next discovery frame leaves.
    pub(crate) next_probe: Time,
    /// When the last discovery frame of the other end came in.
    pub(crate) last_heard: Time,
    /// When the newest discovery frame of this port was sent that came in elsewhere.
    pub(crate) sent_and_heard: Option<Time>,
    /// What the port has shown, so that it is not taken for the other.
    pub(crate) shown: Shown,
}

/// What has been seen at a port since it was last down for long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shown {
    /// A host.
    pub(crate) host: bool,
    /// Another switch.
    pub(crate) link: bool,
}

/// The ports that are up, and what those showed that went down a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    up: BTreeMap<SwitchPort, PortState>,
    down: BTreeMap<SwitchPort, (Time, Shown)>,
}

impl Ports {
    /// The port is up, and what it showed less than `hold` ago counts still.
    pub(crate) fn insert(&mut self, at: SwitchPort, now: Time, hold: Duration) {
        self.down.retain(|_, (since, _)| now.since(*since) < hold);
        let shown = self.down.remove(&at).map(|(_, shown)| shown).unwrap_or_default();
        let state = PortState {
            role: Role::Pending,
            since: now,
            next_probe: now,
            last_heard: now,
            sent_and_heard: None,
            shown,
        };
        self.up.insert(at, state);
    }

    /// The port is down or gone.
    pub(crate) fn remove(&mut self, at: SwitchPort, now: Time) -> Option<PortState> {
        let state = self.up.remove(&at)?;
        if state.shown != Shown::default() {
            self.down.insert(at, (now, state.shown));
        }
        Some(state)
    }

    pub(crate) fn remove_switch(&mut self, dpid: DatapathId) {
        self.up.retain(|at, _| at.dpid != dpid);
    }

    /// The switch starts anew: its ports were all down.
    pub(crate) fn forget_switch(&mut self, dpid: DatapathId) {
        self.down.retain(|at, _| at.dpid != dpid);
    }

    /// A host was seen there.
    pub(crate) fn show_host(&mut self, at: SwitchPort) {
        if let Some(state) = self.up.get_mut(&at) {
            state.shown.host = true;
        }
    }

    /// Whether a host was seen there.
    pub(crate) fn has_shown_host(&self, at: SwitchPort) -> bool {
        self.up.get(&at).is_some_and(|state| state.shown.host)
    }

    pub(crate) fn role(&self, at: SwitchPort) -> Option<Role> {
        self.up.get(&at).map(|state| state.role)
    }

    pub(crate) fn get(&self, at: SwitchPort) -> Option<&PortState> {
        self.up.get(&at)
    }

    pub(crate) fn get_mut(&mut self, at: SwitchPort) -> Option<&mut PortState> {
        self.up.get_mut(&at)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (SwitchPort, &PortState)> {
        self.up.iter().map(|(at, state)| (*at, state))
    }

    /// The ports of one switch.
    pub(crate) fn of(&self, dpid: DatapathId) -> impl Iterator<Item = (SwitchPort, &PortState)> {
        let (first, last) = (PortNo(0), PortNo::ANY);
        self.up
            .range(SwitchPort { dpid, port: first }..=SwitchPort { dpid, port: last })
            .map(|(at, state)| (*at, state))
    }

    /// The ports where hosts may be.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = SwitchPort> {
        self.iter().filter(|(_, state)| state.role == Role::Host).map(|(at, _)| at)
    }
}
