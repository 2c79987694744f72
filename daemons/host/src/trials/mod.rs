//! Trials of the subflows over which this host sends: those that drag are suspended.
//!
//! [`braid_subflows`] decides; [`ConnectionTrials`] brings it the kernel's counters. Backup flags do the rest: a suspended
//! subflow stays open, and carries data again at once if the others fail.

mod endpoints;
mod notice;
mod readings;
mod suspension;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use braid_api::SubflowEnds;
use braid_subflows::{Change, Settings, Trials};
use braid_types::Time;

use crate::diag::Diag;
use crate::netlink::NetlinkError;
use crate::pm::Token;

pub use endpoints::{EndpointError, SuspendedEndpoints};
pub use notice::{Notice, Observer};
pub use suspension::Suspension;

/// How often counters are read while a connection has several subflows, and while none has.
const BUSY_INTERVAL: Duration = Duration::from_millis(100);
const IDLE_INTERVAL: Duration = Duration::from_millis(250);
/// Reading takes at most this part of the time, however many sockets the host has.
const MAX_PART: u32 = 20;

/// A subflow that is to be suspended or resumed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// Its connection.
    pub token: Token,
    /// What is to be done.
    pub change: Change<SubflowEnds>,
}

/// The trials of all connections of a network namespace.
#[derive(Debug)]
pub struct ConnectionTrials {
    diag: Diag,
    started: Instant,
    due: Instant,
    known: BTreeMap<Token, Trials<SubflowEnds>>,
}

impl ConnectionTrials {
    /// For the connections of the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// The kernel does not tell of its sockets.
    pub fn open() -> Result<Self, NetlinkError> {
        let now = Instant::now();
        Ok(Self { diag: Diag::open()?, started: now, due: now, known: BTreeMap::new() })
    }

    /// When to look next.
    #[must_use]
    pub const fn due(&self) -> Instant {
        self.due
    }

    /// Reads the counters if it is time, and orders what follows from them.
    ///
    /// # Errors
    ///
    /// The kernel does not tell of its sockets. It is asked again as usual.
    pub fn look(&mut self) -> Result<Vec<Order>, NetlinkError> {
        let now = Instant::now();
        if now < self.due {
            return Ok(Vec::new());
        }
        self.due = now + IDLE_INTERVAL;
        let connections = self.diag.connections()?;
        let subflows = if connections.is_empty() { Vec::new() } else { self.diag.subflows()? };
        let readings = readings::of(&connections, &subflows, |token, ends| {
            self.known.get(&token).is_some_and(|it| it.is_suspended(ends))
        });
        let closed = self.known.extract_if(.., |token, _| !readings.contains_key(token));
        let mut orders: Vec<_> = closed.flat_map(|(token, it)| resumed(token, &it)).collect();
        for (token, reading) in &readings {
            if reading.subflows.len() < 2 && !self.known.contains_key(token) {
                continue;
            }
            let trials = self.known.entry(*token).or_insert_with(|| Trials::new(Settings::default()));
            let change = trials.observe(time(self.started, now), reading);
            orders.extend(change.map(|change| Order { token: *token, change }));
        }
        let pause = if self.known.is_empty() { IDLE_INTERVAL } else { BUSY_INTERVAL };
        self.due = now + pause.max(now.elapsed().saturating_mul(MAX_PART));
        Ok(orders)
    }

    /// The kernel has refused an order.
    pub fn handle_refusal(&mut self, order: Order) {
        if let Some(trials) = self.known.get_mut(&order.token) {
            trials.handle_refusal(order.change);
        }
    }

    /// What has become of a subflow, once for each trial.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.known.iter_mut().find_map(|(token, it)| Some(Notice::new(*token, &it.poll_verdict()?)))
    }

    /// The suspended subflows.
    pub fn suspended(&self) -> impl Iterator<Item = (Token, SubflowEnds)> {
        self.known.iter().flat_map(|(token, it)| it.suspended().map(|ends| (*token, ends)))
    }
}

/// The flags of an endpoint outlive a connection.
fn resumed(token: Token, trials: &Trials<SubflowEnds>) -> Vec<Order> {
    trials.suspended().map(|ends| Order { token, change: Change::Resume(ends) }).collect()
}

fn time(started: Instant, now: Instant) -> Time {
    Time::ZERO + now.saturating_duration_since(started)
}
