//! Facts from the engine's thread to the one that publishes them.

use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use braid_types::Time;

use super::publication::{Publication, Update};
use crate::cluster::peers::spawn;
use crate::engine::Shared;

/// Updates that wait for the publisher's thread.
const MAX_WAITING: usize = 4;
/// Changes taken from the brain at one time: well below a millisecond.
const MAX_CHANGES: usize = 256;
/// Pause between two takes; a change that a crash loses is at most so old.
const INTERVAL: Duration = Duration::from_millis(20);
/// The same while there are more changes than that.
const BUSY_INTERVAL: Duration = Duration::from_millis(2);
/// A leader learns its network in this time. Before, a standby knows more from the leader before.
const START_TIME: Duration = Duration::from_secs(3);

/// Takes changes from the brain while this member leads.
#[derive(Debug)]
pub(in crate::cluster) struct Feed {
    updates: SyncSender<Update>,
    publication: Publication,
    state: State,
    epoch: u64,
    /// Whether the publisher has everything that was known at the start.
    is_whole: bool,
    /// What the publisher had no room for.
    unsent: Option<Update>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Follows,
    /// Leads, and publishes from then on.
    Leads {
        from: Time,
    },
    Publishes {
        next: Time,
    },
}

impl Feed {
    pub(in crate::cluster) fn new(publication: Publication) -> Self {
        let (updates, queue) = sync_channel(MAX_WAITING);
        let kept = publication.clone();
        spawn("cluster-facts", move || kept.keep(&queue));
        Self { updates, publication, state: State::Follows, epoch: 0, is_whole: false, unsent: None }
    }

    /// This member leads, perhaps in one more term.
    pub(in crate::cluster) fn lead(&mut self, now: Time) {
        if self.state != State::Follows {
            return;
        }
        self.state = State::Leads { from: now + START_TIME };
        (self.epoch, self.is_whole) = (self.epoch + 1, false);
    }

    pub(in crate::cluster) fn follow(&mut self, engine: &Shared) {
        self.publication.set_leads(false);
        engine.borrow_mut().brain_mut().publish_facts(false);
        (self.state, self.unsent) = (State::Follows, None);
    }

    /// Passes on what is due; when that is next.
    pub(in crate::cluster) fn turn(&mut self, engine: &Shared) -> Option<Time> {
        let now = engine.borrow().now();
        match self.state {
            State::Follows => return None,
            State::Leads { from } if now < from => return Some(from),
            State::Leads { .. } => {
                engine.borrow_mut().brain_mut().publish_facts(true);
                self.publication.set_leads(true);
            }
            State::Publishes { next } if now < next => return Some(next),
            State::Publishes { .. } => {}
        }
        let has_more = self.pass_on(engine, now);
        let next = now + if has_more { BUSY_INTERVAL } else { INTERVAL };
        self.state = State::Publishes { next };
        Some(next)
    }

    /// Passes on some changes; whether there may be more.
    fn pass_on(&mut self, engine: &Shared, now: Time) -> bool {
        let Some(update) = self.unsent.take().or_else(|| self.take(engine, now)) else { return false };
        let has_more = !update.is_whole;
        let is_whole = self.is_whole || update.is_whole;
        match self.updates.try_send(update) {
            Ok(()) => self.is_whole = is_whole,
            Err(TrySendError::Full(update)) => self.unsent = Some(update),
            Err(TrySendError::Disconnected(_)) => {}
        }
        has_more
    }

    fn take(&self, engine: &Shared, now: Time) -> Option<Update> {
        let changes = engine.borrow_mut().brain_mut().take_facts(now, MAX_CHANGES);
        // The brain had no more than these.
        let is_whole = changes.len() < MAX_CHANGES;
        let is_news = !changes.is_empty() || !self.is_whole;
        is_news.then(|| Update { epoch: self.epoch, changes, taken: Instant::now(), is_whole })
    }
}
