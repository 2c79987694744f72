//! What every member keeps in the store: its record, and the key of discovery frames. A store that was wiped gets both back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use braid_cluster::{MemberId, RunId, TermStamp};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;
use tracing::info;

use super::etcd::{Etcd, EtcdError};
use super::peers::{self, Local};

const KEY: &str = "lldp-key";
/// The interval in which the store is compared with what should be there.
const INTERVAL: Duration = Duration::from_secs(2);
/// The same while the store does not answer: at first, and at most.
const MIN_RETRY: Duration = Duration::from_millis(250);
const MAX_RETRY: Duration = Duration::from_secs(2);

/// A member's record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// Where it listens for other members.
    pub(super) address: String,
    run: RunId,
    /// Where its API is reached; `None` if that is on its own machine only, or an older version wrote this.
    #[serde(default)]
    pub(super) api: Option<String>,
    /// Whether it tells facts while it leads; an older version does not.
    #[serde(default)]
    pub(super) tells_facts: bool,
    /// Whether it serves switches through standbys while it leads; an older version does not.
    #[serde(default)]
    pub(super) takes_fronts: bool,
}

/// What this member is told by the one that keeps its record.
#[derive(Debug)]
pub(super) enum Registered {
    /// The cluster as the store has it.
    Renewed(Registration),
    /// Another member makes this one impossible.
    Conflict {
        why: String,
        /// Whether this member had a place in the cluster before.
        was_member: bool,
    },
}

/// The cluster as the store has it.
#[derive(Debug)]
pub(super) struct Registration {
    pub(super) key: [u8; 32],
    pub(super) others: Vec<(MemberId, Record)>,
    /// What could not be read, and what to do about it.
    pub(super) corrupt: Option<String>,
}

/// What other threads know of the registration, and it of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    /// Whether the member has its place, without which it must not be elected.
    pub(super) is_registered: Arc<AtomicBool>,
    /// Whether it leads: the leader's key of discovery frames is that of all.
    pub(super) leads: Arc<AtomicBool>,
}

/// The record of one member, and its key of discovery frames.
#[derive(Debug)]
pub(super) struct Registry {
    pub(super) etcd: Etcd,
    pub(super) local: Local,
    pub(super) record: Record,
    pub(super) key: [u8; 32],
    pub(super) shared: Shared,
}

/// A reason for which a member is not in the store.
#[derive(Debug, thiserror::Error)]
pub(super) enum RegistryError {
    #[error(transparent)]
    Store(#[from] EtcdError),
    #[error("{0}")]
    Conflict(String),
}

impl Record {
    pub(super) const fn new(address: String, run: RunId, api: Option<String>) -> Self {
        Self { address, run, api, tells_facts: true, takes_fronts: true }
    }
}

impl Registry {
    /// Compares the store with what should be there, and puts back what is missing.
    pub(super) fn renew(&mut self) -> Result<Registration, RegistryError> {
        let mut others = Vec::new();
        let mut own = None;
        let mut unreadable = self.etcd.check_election()?;
        for (name, value) in self.etcd.members()? {
            let Ok(record) = serde_json::from_str::<Record>(&value) else {
                // The own one is written again.
                if name != self.local.hello.member.as_str() {
                    unreadable.get_or_insert(format!("members/{name}"));
                }
                continue;
            };
            let is_own = name == self.local.hello.member.as_str();
            if is_own { own = Some(record) } else { others.push((name, record)) }
        }
        let others: Vec<_> = others.into_iter().map(|(name, it)| (MemberId::new(name), it)).collect();
        self.check_names(&others)?;
        self.renew_record(own)?;
        self.renew_key()?;
        self.shared.is_registered.store(true, Ordering::Relaxed);
        let corrupt = unreadable.map(|key| {
            format!(
                "the key {key} in the cluster's store cannot be read: remove it, and members write it again"
            )
        });
        Ok(Registration { key: self.key, others, corrupt })
    }

    /// No other name may give the same terms.
    fn check_names(&self, others: &[(MemberId, Record)]) -> Result<(), RegistryError> {
        let stamp = |member| TermStamp::new(&self.local.hello.cluster, member);
        let own = stamp(&self.local.hello.member);
        let same = others.iter().find(|(member, _)| stamp(member).is_of_same_member(own));
        same.map_or(Ok(()), |(other, _)| {
            let own = &self.local.hello.member;
            let why = format!("members {own} and {other} would have the same terms: rename one of them");
            Err(RegistryError::Conflict(why))
        })
    }

    /// The record is this run's, unless another process with the name is alive.
    fn renew_record(&mut self, found: Option<Record>) -> Result<(), RegistryError> {
        if found.as_ref() == Some(&self.record) {
            return Ok(());
        }
        // At this run's own address nobody else listens.
        let other = found.filter(|it| it.run != self.record.run && it.address != self.record.address);
        if let Some(Record { address, .. }) = other
            && peers::identify(&self.local, &address).is_some_and(|it| self.local.hello.is_twin(&it))
        {
            let member = &self.local.hello.member;
            let why = format!(
                "another process is member {member}, at {address}: stop it, or give this one its own \
                 --cluster-member"
            );
            return Err(RegistryError::Conflict(why));
        }
        let record = serde_json::to_string(&self.record).unwrap_or_default();
        Ok(self.etcd.put(&format!("members/{}", self.local.hello.member), &record)?)
    }

    /// The leader's key goes before the one in the store, which a member may have made that has just started.
    fn renew_key(&mut self) -> Result<(), RegistryError> {
        let own = hex::encode(self.key);
        let stored = self.etcd.create_or_read(KEY, &own)?;
        if stored == own {
            return Ok(());
        }
        let mut key = [0; 32];
        if self.shared.leads.load(Ordering::Relaxed) || hex::decode_to_slice(&stored, &mut key).is_err() {
            return Ok(self.etcd.put(KEY, &own)?);
        }
        self.key = key;
        Ok(())
    }

    /// Renews for ever; ends once nobody listens, or if this member has no place.
    pub(super) fn keep(mut self, told: &Sender<Registered>) {
        let mut retry = MIN_RETRY;
        loop {
            let was_member = self.shared.is_registered.load(Ordering::Relaxed);
            let (told_now, wait) = match self.renew() {
                Ok(registration) => (Some(Registered::Renewed(registration)), INTERVAL),
                Err(RegistryError::Conflict(why)) => {
                    (Some(Registered::Conflict { why, was_member }), INTERVAL)
                }
                Err(RegistryError::Store(_)) => (None, retry),
            };
            retry = if told_now.is_some() { MIN_RETRY } else { (retry * 2).min(MAX_RETRY) };
            if !was_member && self.shared.is_registered.load(Ordering::Relaxed) {
                info!("this controller has its place in the cluster");
            }
            if told_now.is_some_and(|it| told.blocking_send(it).is_err()) {
                return;
            }
            thread::sleep(wait);
        }
    }
}
