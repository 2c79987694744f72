//! A copy of the engine's state on the thread that serves API clients: every list of the API is read from here.
//!
//! A request for a list waits for a copy that begins after the request arrived, so its answer includes everything that
//! happened before. All waiting requests share one copy, and copies pause in between: sixty-four readers cost the engine
//! no more than one, and never more than a small part of its time.
//!
//! Of lists that may be long, a page waits for a copy of the items around it alone, which overtakes copies of whole lists.

mod coverage;
mod filling;
mod listed;
mod naming;
mod pace;
mod pages;
mod parts;
mod table;
mod tables;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;

use super::problem::Problem;
use crate::state_copy::{CopyRequest, Lists, PartRequest};
pub(super) use listed::{Cursor, Listed, Tabled};
pub(super) use naming::{HostName, Naming};
use pace::Pace;
pub(super) use pages::page;
use parts::PartCopies;
pub(super) use table::Table;
pub(super) use tables::Tables;

/// Rest after a copy of whole lists, by the time that it took: they have a twentieth of the engine's time.
const REST: u32 = 19;

/// The copy, and those who wait for it to be renewed.
#[derive(Clone, Debug)]
pub(super) struct Replica {
    shared: Arc<Shared>,
    /// The last round that is over; closed when the engine has gone.
    done: watch::Receiver<u64>,
    parts: PartCopies,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    asked: Notify,
}

#[derive(Debug, Default)]
struct State {
    tables: Tables,
    wanted: Lists,
    /// Rounds that have begun.
    begun: u64,
}

/// Renews a replica; it can do so until it is dropped.
pub(super) struct Renewal {
    replica: Replica,
    copies: mpsc::Sender<CopyRequest>,
    done: watch::Sender<u64>,
}

impl Replica {
    /// Empty, and what renews it from those copies; parts it requests itself.
    pub(super) fn new(
        copies: mpsc::Sender<CopyRequest>,
        parts: mpsc::Sender<PartRequest>,
    ) -> (Self, Renewal) {
        let (sender, done) = watch::channel(0);
        let shared = Arc::new(Shared { state: Mutex::default(), asked: Notify::new() });
        let replica = Self { shared, done, parts: PartCopies::new(parts) };
        (replica.clone(), Renewal { replica, copies, done: sender })
    }

    /// Waits until the lists have everything that has happened by now.
    ///
    /// # Errors
    ///
    /// The controller stops.
    pub(super) async fn refresh(&self, lists: Lists) -> Result<(), Problem> {
        let round = {
            let mut state = self.state();
            state.wanted = state.wanted.and(lists);
            state.begun + 1
        };
        self.shared.asked.notify_one();
        let over = self.done.clone().wait_for(|done| *done >= round).await.map(drop);
        over.map_err(|_| Problem::unavailable("the controller is stopping"))
    }

    /// Hands out the lists as they were copied last.
    pub(super) fn read<T>(&self, read: impl FnOnce(&Tables) -> T) -> T {
        read(&self.state().tables)
    }

    /// Notes which addresses an agent's host has.
    pub(super) fn report_host(&self, addresses: &[IpAddr]) {
        self.state().tables.report_host(addresses);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A round begins: its number, and what is to be copied.
    fn begin(&self) -> (u64, Lists) {
        let mut state = self.state();
        state.begun += 1;
        (state.begun, std::mem::take(&mut state.wanted))
    }
}

impl Renewal {
    /// Makes a copy whenever somebody waits for one, until the engine has gone.
    pub(super) async fn run(self) {
        let mut pace = Pace::new(REST, Duration::ZERO);
        loop {
            self.replica.shared.asked.notified().await;
            pace.rest().await;
            let Some(took) = self.renew().await else { return };
            pace.note(took);
        }
    }

    /// One round; how long it has occupied the engine, unless that has gone.
    async fn renew(&self) -> Option<Duration> {
        let (round, lists) = self.replica.begin();
        let asked_at = Instant::now();
        let (answer, copy) = oneshot::channel();
        self.copies.send(CopyRequest { lists, answer }).await.ok()?;
        let copy = copy.await.ok()?;
        let took = copy.took;
        self.replica.state().tables.take(copy, asked_at);
        self.done.send_replace(round);
        Some(took)
    }
}

#[cfg(test)]
mod tests;
