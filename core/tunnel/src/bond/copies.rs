//! Copies of one packet that come by two paths: the first counts.

use braid_spray::Numbered;

use crate::replay::ReplayWindow;

/// The copies of which one has come; those of one start of the sender.
#[derive(Debug, Default)]
pub(super) struct Copies {
    key: u32,
    seen: ReplayWindow,
}

impl Copies {
    /// Whether no copy with this number has come before.
    pub(super) fn is_first(&mut self, Numbered { key, number }: Numbered) -> bool {
        if key != self.key {
            *self = Self { key, seen: ReplayWindow::default() };
        }
        let is_first = self.seen.is_new(u64::from(number));
        if is_first {
            self.seen.mark(u64::from(number));
        }
        is_first
    }
}
