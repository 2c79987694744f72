//! The policy that all members share: in the store before it holds.

use std::sync::mpsc;
use std::time::Duration;

use braid_steering::Policies;
use braid_types::Time;
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

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

/// What the store says of the policy.
pub(super) enum PolicyNews {
    /// It holds from now on: the store has it.
    Kept {
        text: String,
        /// Who loaded it, if that was here.
        answer: Option<oneshot::Sender<Loaded>>,
    },
    /// It cannot be read.
    Corrupt { why: String },
}

/// Writes desired policies, and reads what other members have written, until nobody wants anything any more.
pub(super) fn keep(mut etcd: Etcd, wanted: &mpsc::Receiver<Wanted>, news: &Sender<PolicyNews>) {
    let mut known = Known::default();
    loop {
        let changed = known.read(&mut etcd).unwrap_or_default();
        if changed.is_some_and(|changed| news.blocking_send(changed).is_err()) {
            return;
        }
        match wanted.recv_timeout(INTERVAL) {
            Ok(Wanted { text, answer }) => match etcd.put(KEY, &text) {
                Ok(()) => {
                    known.text = Some(text.clone());
                    if news.blocking_send(PolicyNews::Kept { text, answer: Some(answer) }).is_err() {
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
    /// The policy in the store, if it is another one than before.
    fn read(&mut self, etcd: &mut Etcd) -> Result<Option<PolicyNews>, EtcdError> {
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
        Ok(Some(news(text)))
    }
}

/// A policy that was read. An empty one is none: the API takes none, and bytes that are no text read as empty.
fn news(text: String) -> PolicyNews {
    if text.trim().is_empty() || Policies::parse(&text).is_err() {
        let why = "the policy in the cluster's store cannot be read, and the one before stays in use: load one with \
                   `braid policy load`";
        return PolicyNews::Corrupt { why: why.to_owned() };
    }
    PolicyNews::Kept { text, answer: None }
}
