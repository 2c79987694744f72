//! A bounded table of connections, in which silent ones make room for new ones.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::Time;

use super::headers::Ports;

/// The greatest number of connections.
const MAX_CONNECTIONS: usize = 4_096;
/// Where there is no room for another, those make room that have been silent for so long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval of searches for them.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// What has a connection, and when it was used last.
pub(super) trait Used {
    fn used(&self) -> Time;
}

/// Connections by their ports.
#[derive(Debug)]
pub(super) struct Table<C> {
    all: BTreeMap<Ports, C>,
    swept: Time,
}

impl<C> Default for Table<C> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), swept: Time::ZERO }
    }
}

impl<C: Used> Table<C> {
    pub(super) fn get(&self, ports: Ports) -> Option<&C> {
        self.all.get(&ports)
    }

    pub(super) fn get_mut(&mut self, ports: Ports) -> Option<&mut C> {
        self.all.get_mut(&ports)
    }

    /// The connection with these ports, or `new` in its place; `None` if there is no room for it.
    pub(super) fn get_or_insert(
        &mut self,
        now: Time,
        ports: Ports,
        new: impl FnOnce() -> C,
    ) -> Option<&mut C> {
        if !self.all.contains_key(&ports) && !self.has_room(now) {
            return None;
        }
        Some(self.all.entry(ports).or_insert_with(new))
    }

    pub(super) fn remove(&mut self, ports: Ports) {
        self.all.remove(&ports);
    }

    fn has_room(&mut self, now: Time) -> bool {
        if self.all.len() >= MAX_CONNECTIONS && now.since(self.swept) >= SWEEP_INTERVAL {
            self.swept = now;
            self.all.retain(|_, connection| now.since(connection.used()) < IDLE_TIMEOUT);
        }
        self.all.len() < MAX_CONNECTIONS
    }
}
