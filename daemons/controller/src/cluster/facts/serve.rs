//! A leader's connection with one standby that follows it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use braid_cluster::MemberId;
use tracing::info;

use super::publication::{Encoded, Progress, Publication, Subscription};
use super::wire::{Applied, Header, batch, batches};
use crate::cluster::peers::Lines;

/// A standby that takes a batch, or confirms it, no sooner than this is dropped.
const APPLIED_TIMEOUT: Duration = Duration::from_secs(5);
/// A standby hears something in this interval, so that both ends know that the other one is there.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);

/// Sends everything that is known, then what changes, until the connection or the leadership ends.
pub(in crate::cluster) fn serve(
    publication: &Publication,
    member: &MemberId,
    lines: Lines,
) -> io::Result<()> {
    let Subscription { snapshot, queue, progress } = publication.subscribe(member);
    info!(%member, facts = snapshot.len(), "a standby follows");
    let mut feed = StandbyFeed { lines, progress: progress.clone(), number: 0 };
    let sent = feed.begin(&snapshot);
    drop(snapshot);
    let ended = sent.and_then(|()| {
        loop {
            match queue.recv_timeout(KEEPALIVE_INTERVAL) {
                Ok(Encoded { changes, taken }) => feed.send_all(&changes, taken)?,
                Err(RecvTimeoutError::Timeout) => feed.send(&[], false)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    });
    publication.unsubscribe(member, &progress);
    ended
}

/// The connection to a standby, and the number of the last batch.
struct StandbyFeed {
    lines: Lines,
    progress: Arc<Progress>,
    number: u64,
}

impl StandbyFeed {
    /// Sends the snapshot, and that it is complete.
    fn begin(&mut self, snapshot: &[Arc<str>]) -> io::Result<()> {
        self.lines.write(&Header::OWN, APPLIED_TIMEOUT)?;
        let began = Instant::now();
        for part in batches(snapshot) {
            self.progress.note_sent(began);
            self.send(part, true)?;
        }
        self.send(&[], false)
    }

    fn send_all(&mut self, changes: &[Arc<str>], taken: Instant) -> io::Result<()> {
        for part in batches(changes) {
            self.progress.note_sent(taken);
            self.send(part, false)?;
        }
        Ok(())
    }

    /// Sends a batch and waits until it is confirmed.
    fn send(&mut self, changes: &[Arc<str>], more: bool) -> io::Result<()> {
        self.number += 1;
        self.lines.write_text(batch(self.number, more, changes), APPLIED_TIMEOUT)?;
        let answer: Applied = serde_json::from_value(self.lines.next(APPLIED_TIMEOUT)?)?;
        if answer.applied != self.number {
            return Err(io::Error::other("another batch was confirmed"));
        }
        self.progress.note_applied(more);
        Ok(())
    }
}
