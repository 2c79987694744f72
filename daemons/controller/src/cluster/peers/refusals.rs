//! Connections that were none with a member, as alarms: few at a time, so that they delay no message.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::Sender;
use tracing::warn;

use super::Incoming;

/// Alarms are told in intervals of at least this; the refusals between them are counted.
const INTERVAL: Duration = Duration::from_secs(1);

/// Tells the engine's thread of connections that were refused.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct Refusals(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    incoming: Sender<Incoming>,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    untold: u64,
    told_at: Option<Instant>,
}

impl Refusals {
    pub(in crate::cluster) fn new(incoming: Sender<Incoming>) -> Self {
        Self(Arc::new(Shared { incoming, counted: Mutex::default() }))
    }

    /// The other end of a connection, at this address, is no member.
    pub(super) fn note(&self, peer: IpAddr, why: String) {
        let mut counted = self.0.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.untold += 1;
        if counted.told_at.is_some_and(|at| at.elapsed() < INTERVAL) {
            return;
        }
        warn!(%peer, why, count = counted.untold, "a connection between members was refused");
        // Whoever has no room now is told with the next one.
        let refused = Incoming::Refused { peer, why, count: counted.untold };
        if self.0.incoming.try_send(refused).is_ok() {
            *counted = Counted { untold: 0, told_at: Some(Instant::now()) };
        }
    }
}
