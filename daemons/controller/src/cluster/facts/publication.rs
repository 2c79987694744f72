//! All facts that this leader has told, and the standbys that are told further ones. Kept on a thread of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use braid_cluster::MemberId;
use braid_control::{FactChange, FactKey};
use tracing::{debug, info};

/// Updates that wait for a standby. One that has more is dropped, and begins again.
const MAX_WAITING: usize = 64;
/// How soon standbys are dropped after this member has ceased to lead.
const INTERVAL: Duration = Duration::from_millis(200);

/// Changes that were taken from the brain at one time.
#[derive(Debug)]
pub(super) struct Update {
    /// Which leadership of this process it belongs to.
    pub(super) epoch: u64,
    pub(super) changes: Vec<FactChange>,
    pub(super) taken: Instant,
    /// Whether everything that was known at the start has been told.
    pub(super) is_whole: bool,
}

/// Changes as JSON, the same for all standbys.
#[derive(Clone, Debug)]
pub(super) struct Encoded {
    pub(super) changes: Arc<[Arc<str>]>,
    pub(super) taken: Instant,
}

/// How far one standby is.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Progress(Mutex<State>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Whether it has the snapshot.
    is_whole: bool,
    /// When the oldest change was taken that it has not confirmed.
    behind_since: Option<Instant>,
}

/// What the threads that serve standbys share.
#[derive(Clone, Debug, Default)]
pub(in crate::cluster) struct Publication(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Whether there are facts to tell: written by the engine's thread.
    leads: AtomicBool,
    /// The number of facts.
    facts: AtomicU64,
    published: Mutex<Published>,
    /// The standbys that follow; held for moments only, as the API asks for it.
    progress: Mutex<BTreeMap<MemberId, Arc<Progress>>>,
}

#[derive(Debug, Default)]
struct Published {
    epoch: u64,
    is_whole: bool,
    facts: BTreeMap<FactKey, Arc<str>>,
    followers: BTreeMap<MemberId, Follower>,
}

#[derive(Debug)]
struct Follower {
    queue: SyncSender<Encoded>,
    progress: Arc<Progress>,
}

/// What a standby is told: first all facts, then what comes from the queue.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) snapshot: Vec<Arc<str>>,
    pub(super) queue: Receiver<Encoded>,
    pub(super) progress: Arc<Progress>,
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes are on their way that were taken then.
    pub(super) fn note_sent(&self, taken: Instant) {
        self.lock().behind_since = Some(taken);
    }

    /// They are confirmed.
    pub(super) fn note_applied(&self, more: bool) {
        let mut state = self.lock();
        state.is_whole |= !more;
        state.behind_since = None;
    }

    /// How long the oldest change waits that it has not confirmed; `None` while it has not everything that was known when it
    /// began.
    pub(in crate::cluster) fn lag(&self) -> Option<Duration> {
        let State { is_whole, behind_since } = *self.lock();
        is_whole.then(|| behind_since.map(|since| since.elapsed()).unwrap_or_default())
    }
}

impl Publication {
    /// Keeps the facts as long as updates may come.
    pub(super) fn keep(&self, updates: &Receiver<Update>) {
        loop {
            match updates.recv_timeout(INTERVAL) {
                Ok(update) => self.published().take(update),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let mut published = self.published();
            if !self.leads() {
                published.end();
            }
            self.0.facts.store(published.facts.len() as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn set_leads(&self, leads: bool) {
        self.0.leads.store(leads, Ordering::Relaxed);
    }

    fn leads(&self) -> bool {
        self.0.leads.load(Ordering::Relaxed)
    }

    /// The number of facts that are told.
    pub(in crate::cluster) fn facts(&self) -> u64 {
        self.0.facts.load(Ordering::Relaxed)
    }

    /// Why a standby cannot follow this member now, if it cannot.
    pub(in crate::cluster) fn refusal(&self) -> Option<String> {
        let is_ready = self.leads() && self.published().is_whole;
        (!is_ready).then(|| "it does not lead, or has led for moments only".to_owned())
    }

    /// Tells a standby everything from now on, in the place of its earlier connection.
    pub(super) fn subscribe(&self, member: &MemberId) -> Subscription {
        let (sender, queue) = sync_channel(MAX_WAITING);
        let progress = Arc::new(Progress::default());
        progress.note_sent(Instant::now());
        let follower = Follower { queue: sender, progress: progress.clone() };
        let mut published = self.published();
        published.followers.insert(member.clone(), follower);
        let snapshot = published.facts.values().cloned().collect();
        drop(published);
        self.progress().insert(member.clone(), progress.clone());
        Subscription { snapshot, queue, progress }
    }

    /// The connection of a standby has ended.
    pub(super) fn unsubscribe(&self, member: &MemberId, ended: &Arc<Progress>) {
        let is_ended = |progress: &Arc<Progress>| Arc::ptr_eq(progress, ended);
        let mut published = self.published();
        if published.followers.get(member).is_some_and(|it| is_ended(&it.progress)) {
            published.followers.remove(member);
        }
        drop(published);
        let mut progress = self.progress();
        if progress.get(member).is_some_and(is_ended) {
            progress.remove(member);
        }
    }

    /// How far the standbys are that follow.
    pub(in crate::cluster) fn progress(&self) -> MutexGuard<'_, BTreeMap<MemberId, Arc<Progress>>> {
        self.0.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn published(&self) -> MutexGuard<'_, Published> {
        self.0.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Published {
    fn take(&mut self, update: Update) {
        if update.epoch != self.epoch {
            self.end();
            self.epoch = update.epoch;
        }
        let changes: Arc<[_]> = update.changes.into_iter().filter_map(|change| self.apply(change)).collect();
        if update.is_whole && !std::mem::replace(&mut self.is_whole, true) {
            info!(facts = self.facts.len(), "standbys may follow this leader");
        }
        if !changes.is_empty() {
            self.tell(&Encoded { changes, taken: update.taken });
        }
    }

    /// Keeps a change; the change as JSON.
    fn apply(&mut self, change: FactChange) -> Option<Arc<str>> {
        let text: Arc<str> = serde_json::to_string(&change).ok()?.into();
        match change {
            FactChange::Known(fact) => _ = self.facts.insert(fact.key(), text.clone()),
            FactChange::Gone(key) => _ = self.facts.remove(&key),
        }
        Some(text)
    }

    fn tell(&mut self, encoded: &Encoded) {
        self.followers.retain(|member, follower| match follower.queue.try_send(encoded.clone()) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                info!(%member, "a standby is too slow, and begins again");
                false
            }
            Err(TrySendError::Disconnected(_)) => {
                debug!(%member, "a standby follows no more");
                false
            }
        });
    }

    /// Another member leads: nothing is told any more.
    fn end(&mut self) {
        (self.facts, self.followers, self.is_whole) = (BTreeMap::new(), BTreeMap::new(), false);
    }
}
