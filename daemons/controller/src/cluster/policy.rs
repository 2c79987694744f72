//! The policy that all members share: in the store before it holds.

use std::sync::mpsc;
use std::time::Duration;

use braid_steering::Policies;
use braid_types::Time;
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;
use tracing::warn;

use super::etcd::{Etcd, EtcdError};

/// The key of the policy.
const KEY: &str = "policy";
/// The interval in which it is read.
const INTERVAL: Duration = Duration::from_secs(2);

/// When a policy that was loaded holds, or why it is not kept.
pub(crate) type Loaded = Result<Time, String>;

/// A policy that was loaded at this member.
pub(super) struct Wanted {
    pub(super) text: String,
    pub(super) answer: oneshot::Sender<Loaded>,
}

/// A policy that holds from now on: the store has it.
pub(super) struct Kept {
    pub(super) text: String,
    /// Who loaded it, if that was here.
    pub(super) answer: Option<oneshot::Sender<Loaded>>,
}

/// Writes what is wanted, and reads what other members have written, until nobody wants anything any more.
pub(super) fn keep(mut etcd: Etcd, wanted: &mpsc::Receiver<Wanted>, kept: &Sender<Kept>) {
    let mut known = Known::default();
    loop {
        let changed = known.read(&mut etcd).unwrap_or_default();
        if changed.is_some_and(|text| kept.blocking_send(Kept { text, answer: None }).is_err()) {
            return;
        }
        match wanted.recv_timeout(INTERVAL) {
            Ok(Wanted { text, answer }) => match etcd.put(KEY, &text) {
                Ok(()) => {
                    known.text = Some(text.clone());
                    if kept.blocking_send(Kept { text, answer: Some(answer) }).is_err() {
                        return;
                    }
                }
                Err(why) => drop(answer.send(Err(format!("the cluster's store does not keep it: {why}")))),
            },
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The policy as it was in the store last.
#[derive(Default)]
struct Known {
    text: Option<String>,
}

impl Known {
    /// The policy in the store, if it is another one than before and has no mistakes.
    fn read(&mut self, etcd: &mut Etcd) -> Result<Option<String>, EtcdError> {
        let text = match (etcd.read(KEY)?, &self.text) {
            (Some(text), _) => text,
            // The store was wiped.
            (None, Some(text)) => etcd.create_or_read(KEY, text)?,
            (None, None) => return Ok(None),
        };
        if self.text.as_ref() == Some(&text) {
            return Ok(None);
        }
        self.text = Some(text.clone());
        if Policies::parse(&text).is_err() {
            warn!("the policy in the cluster's store has mistakes: the one before stays in use");
            return Ok(None);
        }
        Ok(Some(text))
    }
}
