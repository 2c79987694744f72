//! What the brain tells people, on its way from the engine's thread to the one that serves programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use braid_control::Notice;
use braid_types::Time;
use tokio::sync::mpsc;

/// Notices on the way; of more, it is only counted how many there were.
const MAX_ON_THE_WAY: usize = 8_192;

/// A notice and when it was given, on the controller's clock.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) at: Time,
    pub(crate) notice: Notice,
}

/// The engine's end. It never waits.
#[derive(Debug)]
pub(crate) struct Teller {
    way: mpsc::Sender<Told>,
    lost: Arc<AtomicU64>,
}

/// The other end.
#[derive(Debug)]
pub(crate) struct Listener {
    way: mpsc::Receiver<Told>,
    lost: Arc<AtomicU64>,
}

/// Both ends of a new way.
pub(crate) fn way() -> (Teller, Listener) {
    let (sender, receiver) = mpsc::channel(MAX_ON_THE_WAY);
    let lost = Arc::<AtomicU64>::default();
    (Teller { way: sender, lost: lost.clone() }, Listener { way: receiver, lost })
}

impl Teller {
    /// Tells what happened at `at`, unless too much is on the way already.
    pub(crate) fn tell(&self, at: Time, notice: &Notice) {
        match self.way.try_reserve() {
            Ok(room) => room.send(Told { at, notice: notice.clone() }),
            Err(_) => _ = self.lost.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl Listener {
    /// Up to `limit` notices that have come by now.
    ///
    /// It asks instead of being woken, so that a notice costs the engine no system call.
    pub(crate) fn take(&mut self, limit: usize) -> Vec<Told> {
        std::iter::from_fn(|| self.way.try_recv().ok()).take(limit).collect()
    }

    /// Whether nothing comes any more.
    pub(crate) fn is_over(&self) -> bool {
        self.way.is_closed() && self.way.is_empty()
    }

    /// How many were lost since this was last asked.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use braid_types::DatapathId;

    use super::*;

    #[test]
    fn what_nobody_takes_in_is_counted_and_holds_nobody_up() {
        let (teller, mut listener) = way();
        let notice = |dpid| Notice::SwitchLeft { dpid: DatapathId(dpid) };
        (0..MAX_ON_THE_WAY as u64 + 5).for_each(|dpid| teller.tell(Time::ZERO, &notice(dpid)));
        assert_eq!((listener.lost(), listener.lost()), (5, 0));
        let first = listener.take(2);
        assert_eq!(first.iter().map(|told| &told.notice).collect::<Vec<_>>(), [&notice(0), &notice(1)]);
        assert_eq!(listener.take(usize::MAX).len(), MAX_ON_THE_WAY - 2);
        assert!(!listener.is_over());
        drop(listener);
        teller.tell(Time::ZERO, &notice(0));
    }
}
