//! Connections whose packets come rewritten, and the headers that they get.

use std::collections::BTreeMap;

use braid_types::Time;

use super::headers::{Headers, Ports};
use super::notice::{Notice, Offered};
use super::{IDLE_TIMEOUT, MAX_CONNECTIONS, REUSE_TIMEOUT, SWEEP_INTERVAL};

/// The connections that the other end has offered.
#[derive(Debug, Default)]
pub(super) struct AcceptedConnections {
    all: BTreeMap<Ports, Accepted>,
    swept: Time,
}

#[derive(Debug)]
struct Accepted {
    number: u32,
    headers: Headers,
    /// When a packet arrived, or was offered, last.
    used: Time,
    arrived: u32,
}

impl AcceptedConnections {
    /// A packet has arrived; the headers that it gets, if its connection is known.
    pub(super) fn arrived(&mut self, now: Time, ports: Ports) -> Option<Headers> {
        let known = self.all.get_mut(&ports)?;
        known.arrived = known.arrived.wrapping_add(1);
        known.used = now;
        Some(known.headers)
    }

    /// A connection is offered; the acceptance, if there is room for it and its ports are free.
    pub(super) fn accept(&mut self, now: Time, offered: &Offered) -> Option<Notice> {
        let Offered { ports, number, sent, headers } = *offered;
        if !self.all.contains_key(&ports) && !self.has_room(now) {
            return None;
        }
        let new = || Accepted { number, headers, used: now, arrived: 0 };
        let known = self.all.entry(ports).or_insert_with(new);
        if known.headers != headers && now.since(known.used) < REUSE_TIMEOUT {
            return None;
        }
        if (known.number, known.headers) != (number, headers) {
            *known = new();
        }
        known.used = now;
        Some(Notice::Acceptance { ports, number, sent, arrived: known.arrived })
    }

    fn has_room(&mut self, now: Time) -> bool {
        if self.all.len() >= MAX_CONNECTIONS && now.since(self.swept) >= SWEEP_INTERVAL {
            self.swept = now;
            self.all.retain(|_, known| now.since(known.used) < IDLE_TIMEOUT);
        }
        self.all.len() < MAX_CONNECTIONS
    }
}
