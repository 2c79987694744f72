//! One session: the keys of both directions, counters, and the replay window.

use std::time::Duration;

use braid_types::Time;

use crate::noise::{Ciphers, Suite};
use crate::replay::ReplayWindow;
use crate::wire::{self, Sealed};

/// The dialling end begins a new session when the current one is this old.
pub(crate) const REKEY_AFTER: Duration = Duration::from_secs(120);
/// No session is used when it is older.
const EXPIRES_AFTER: Duration = Duration::from_secs(180);
/// No nonce is used twice. Keys expire long before.
const MAX_DATAGRAMS: u64 = 1 << 32;

pub(crate) struct Session {
    /// The name by which datagrams to this end call it.
    pub(crate) local: u32,
    remote: u32,
    ciphers: Ciphers,
    counter: u64,
    window: ReplayWindow,
    pub(crate) since: Time,
}

/// An authentic datagram's content.
pub(crate) struct Opened {
    pub(crate) content: Vec<u8>,
    /// Whether it was sent after all that came before.
    pub(crate) is_newest: bool,
}

impl Session {
    pub(crate) fn new(now: Time, local: u32, remote: u32, ciphers: Ciphers) -> Self {
        Self { local, remote, ciphers, counter: 0, window: ReplayWindow::default(), since: now }
    }

    /// The sealed datagram, in the memory of `bytes`.
    pub(crate) fn seal(&mut self, content: &[u8], mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        let counter = self.counter;
        self.counter = counter.checked_add(1).filter(|next| *next < MAX_DATAGRAMS)?;
        let sealed = wire::put_data(self.remote, counter, content.len(), &mut bytes);
        self.ciphers.seal(counter, content, sealed).then_some(bytes)
    }

    /// The content of an authentic datagram that is new, in the memory of `buffer`.
    pub(crate) fn open(&mut self, sealed: Sealed<'_>, mut buffer: Vec<u8>) -> Option<Opened> {
        let Sealed { counter, content, .. } = sealed;
        let is_authentic = self.window.is_new(counter) && self.ciphers.open(counter, content, &mut buffer);
        is_authentic.then(|| Opened { content: buffer, is_newest: self.window.mark(counter) })
    }

    pub(crate) const fn suite(&self) -> Suite {
        self.ciphers.suite
    }

    pub(crate) fn is_usable(&self, now: Time) -> bool {
        now.since(self.since) < EXPIRES_AFTER && self.counter < MAX_DATAGRAMS.saturating_sub(1)
    }

    pub(crate) fn is_due_for_rekey(&self, now: Time) -> bool {
        now.since(self.since) >= REKEY_AFTER || self.counter > MAX_DATAGRAMS / 2
    }
}
