//! Connections whose packets come rewritten, and the headers that they get.

use braid_types::Time;

use super::REUSE_TIMEOUT;
use super::headers::{Headers, Ports};
use super::notice::{Notice, Offered};
use super::table::{Table, Used};

/// The connections that the other end has offered.
#[derive(Debug, Default)]
pub(super) struct AcceptedConnections(Table<Accepted>);

#[derive(Debug)]
struct Accepted {
    number: u32,
    headers: Headers,
    /// When a packet arrived, or was offered, last.
    used: Time,
    arrived: u32,
}

impl Used for Accepted {
    fn used(&self) -> Time {
        self.used
    }
}

impl AcceptedConnections {
    /// A packet has arrived; the headers that it gets, if its connection is known.
    pub(super) fn arrived(&mut self, now: Time, ports: Ports) -> Option<Headers> {
        let known = self.0.get_mut(ports)?;
        known.arrived = known.arrived.wrapping_add(1);
        known.used = now;
        Some(known.headers)
    }

    /// A connection is offered; the acceptance, if there is room for it and its ports are free.
    pub(super) fn accept(&mut self, now: Time, offered: &Offered) -> Option<Notice> {
        let Offered { ports, number, sent, headers } = *offered;
        let new = || Accepted { number, headers, used: now, arrived: 0 };
        let known = self.0.get_or_insert(now, ports, new)?;
        if known.headers != headers && now.since(known.used) < REUSE_TIMEOUT {
            return None;
        }
        if (known.number, known.headers) != (number, headers) {
            *known = new();
        }
        known.used = now;
        Some(Notice::Acceptance { ports, number, sent, arrived: known.arrived })
    }
}
