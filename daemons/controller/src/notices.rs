//! The channel of the brain's notices from the engine's thread to the HTTP thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use braid_control::Notice;
use braid_types::Time;
use tokio::sync::mpsc;

use crate::names::Names;

/// Notices that the channel holds; further ones are counted and dropped.
const MAX_QUEUED_NOTICES: usize = 8_192;

/// A notice and its time on the controller's clock.
#[derive(Clone, Debug)]
pub(crate) struct TimedNotice {
    pub(crate) at: Time,
    pub(crate) notice: Notice,
    /// The names at that time.
    pub(crate) names: Names,
}

/// The engine's end of the channel. Sending never blocks.
#[derive(Debug)]
pub(crate) struct NoticeSender {
    channel: mpsc::Sender<TimedNotice>,
    lost: Arc<AtomicU64>,
}

/// The HTTP thread's end of the channel.
#[derive(Debug)]
pub(crate) struct NoticeReceiver {
    channel: mpsc::Receiver<TimedNotice>,
    lost: Arc<AtomicU64>,
}

/// Both ends of a new channel.
pub(crate) fn channel() -> (NoticeSender, NoticeReceiver) {
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_NOTICES);
    let lost = Arc::<AtomicU64>::default();
    (NoticeSender { channel: sender, lost: lost.clone() }, NoticeReceiver { channel: receiver, lost })
}

impl NoticeSender {
    /// Sends a notice of time `at`; counts it as lost if the channel is full.
    pub(crate) fn send(&self, at: Time, notice: &Notice, names: &Names) {
        match self.channel.try_reserve() {
            Ok(room) => room.send(TimedNotice { at, notice: notice.clone(), names: names.clone() }),
            Err(_) => _ = self.lost.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl NoticeReceiver {
    /// Up to `limit` notices that have arrived.
    ///
    /// The receiver polls instead of being woken, so that a notice costs the engine no system call.
    pub(crate) fn take(&mut self, limit: usize) -> Vec<TimedNotice> {
        std::iter::from_fn(|| self.channel.try_recv().ok()).take(limit).collect()
    }

    /// Whether the sender is gone and everything has been received.
    pub(crate) fn is_over(&self) -> bool {
        self.channel.is_closed() && self.channel.is_empty()
    }

    /// The number of notices lost since the last call.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use braid_types::DatapathId;

    use super::*;

    #[test]
    fn a_full_channel_counts_lost_notices_and_blocks_nobody() {
        let (sender, mut receiver) = channel();
        let notice = |dpid| Notice::SwitchLeft { dpid: DatapathId(dpid) };
        let send = |dpid| sender.send(Time::ZERO, &notice(dpid), &Names::default());
        (0..MAX_QUEUED_NOTICES as u64 + 5).for_each(send);
        assert_eq!((receiver.lost(), receiver.lost()), (5, 0));
        let first = receiver.take(2);
        assert_eq!(first.iter().map(|it| &it.notice).collect::<Vec<_>>(), [&notice(0), &notice(1)]);
        assert_eq!(receiver.take(usize::MAX).len(), MAX_QUEUED_NOTICES - 2);
        assert!(!receiver.is_over());
        drop(receiver);
        send(0);
    }
}
