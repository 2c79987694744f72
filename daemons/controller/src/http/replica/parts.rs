//! Copies of parts of lists, for pages: one at a time, and none that somebody else has just made.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard, mpsc};
use tokio::time::Instant;

use super::pace::Pace;
use super::{Replica, Tabled};
use crate::http::problem::Problem;
use crate::state_copy::{Copied, List, Lists, PartRequest, request_part};

/// Rest after a part, by the time that it took: parts have a tenth of the engine's time.
pub(super) const REST: u32 = 9;
/// Rests that parts may owe, so that somebody who reads a few pages waits for none.
const CREDIT: Duration = Duration::from_millis(200);

/// Where parts are asked for, and how often.
#[derive(Clone, Debug)]
pub(super) struct PartCopies {
    requests: mpsc::Sender<PartRequest>,
    pace: Arc<Mutex<Pace>>,
}

impl PartCopies {
    pub(super) fn new(requests: mpsc::Sender<PartRequest>) -> Self {
        Self { requests, pace: Arc::new(Mutex::new(Pace::new(REST, CREDIT))) }
    }
}

impl Replica {
    /// Copies what follows this key, unless that was done since then.
    ///
    /// # Errors
    ///
    /// The controller stops.
    pub(super) async fn renew_part<T>(&self, after: Option<T::Key>, since: Instant) -> Result<(), Problem>
    where
        T: Tabled + Copied + Send + 'static,
    {
        let pace = self.parts.pace.clone().lock_owned().await;
        if self.read(|tables| T::table(tables).is_covered(&after, since)) {
            return Ok(());
        }
        // It goes on if the client goes away, so that the time it takes is always noted.
        let copied = tokio::spawn(self.clone().copy_part::<T>(after, pace)).await;
        copied.ok().flatten().ok_or_else(|| Problem::unavailable("the controller is stopping"))
    }

    /// As [`renew_part`](Self::renew_part). Where the name of one host depends on others, all are copied.
    pub(super) async fn renew_hosts<T>(&self, after: Option<T::Key>, since: Instant) -> Result<(), Problem>
    where
        T: Tabled + Copied + Send + 'static,
    {
        if self.read(|tables| tables.naming.needs_hosts()) {
            return self.refresh(Lists::of(&[List::Hosts])).await;
        }
        self.renew_part::<T>(after, since).await
    }

    /// Copies a part, unless the engine has gone.
    async fn copy_part<T>(self, after: Option<T::Key>, mut pace: OwnedMutexGuard<Pace>) -> Option<()>
    where
        T: Tabled + Copied + Send + 'static,
    {
        pace.rest().await;
        let (asked_at, (request, answer)) = (Instant::now(), request_part::<T>(after.clone()));
        self.parts.requests.send(request).await.ok()?;
        let part = answer.await.ok()?;
        pace.note(part.took);
        self.state().tables.take_part(after, part, asked_at);
        Some(())
    }
}
